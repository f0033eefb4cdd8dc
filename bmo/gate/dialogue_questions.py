"""The assistant's questions: which are known, and the clause an answer to each stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from bmo.gate.asked_question import asked_together
from bmo.gate.pack_tables import read_table
from bmo.gate.tag_questions import Denied, plain_question
from bmo.language import LanguageCode, words
from bmo.language.lexicon import Phrases, phrase_table

_SENTENCE = re.compile(r"[^.!?\n]*\?")


@dataclass(frozen=True, slots=True)
class QuestionRule:
    """A question and the clause its answer stands for.

    Attributes:
        pattern: What finds it in its words.
        clause: The clause, with the answer at ``{A}``.
        each: "LANG" where every language named is an answer.
        choice: Of a choice only the first word of ``{x}`` counts.
        counted: It asks how many ``{x}`` the user has.
        answers: Whole answers that stand for a clause of their own ("just me").
    """

    pattern: re.Pattern[str]
    clause: str
    each: str
    choice: bool
    counted: bool
    answers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DialogueLexicon:
    """``dialogue.toml`` of a language.

    Attributes:
        questions: The assistant's questions that are known.
        yes: Words that say yes.
        no: Words that say no.
        strip: Words taken off the front of an answer.
        non_answers: First words of an answer that settles nothing ("no idea").
        non_answers_alone: Whole answers that settle nothing ("nowhere").
        non_values: The same to a question that asks what, which or where.
        non_names: The same to a question for a name ("nobody").
    """

    questions: tuple[QuestionRule, ...]
    yes: Phrases
    no: Phrases
    strip: Phrases
    non_answers: Phrases
    non_answers_alone: frozenset[str]
    non_values: frozenset[str]
    non_names: frozenset[str]


@cache
def dialogue_lexicon(language: LanguageCode) -> DialogueLexicon:
    """The questions and answers of ``language``; empty where the pack has none."""
    raw = read_table(language, "dialogue.toml")
    return DialogueLexicon(
        tuple(
            QuestionRule(
                re.compile(item["pattern"]),
                item["clause"],
                item.get("each", ""),
                item.get("first_word_of_choice", False),
                item.get("counted", False),
                item.get("answers", {}),
            )
            for item in raw.get("question", [])
        ),
        phrase_table(raw.get("yes", [])),
        phrase_table(raw.get("no", [])),
        phrase_table(raw.get("strip", [])),
        phrase_table(raw.get("non_answers", [])),
        frozenset(raw.get("non_answers_alone", [])),
        frozenset(raw.get("non_values", [])),
        frozenset(raw.get("non_names", [])),
    )


def questions(assistant_before: str, language: LanguageCode) -> tuple[tuple[str, ...], ...]:
    """The assistant's questions in normal form, last first."""
    return _read_questions(assistant_before, language)[0]


def denied(assistant_before: str, language: LanguageCode) -> Denied:
    """What the assistant's last question denies its content with ("you don't drive, do you?")."""
    return _read_questions(assistant_before, language)[1]


@lru_cache(maxsize=256)
def _read_questions(
    assistant_before: str, language: LanguageCode
) -> tuple[tuple[tuple[str, ...], ...], Denied]:
    found = []
    denial: Denied = ""
    for sentence in _SENTENCE.findall(assistant_before[-600:]):
        norm = words(sentence, language).norm
        while norm and norm[0] in ("and", "so", "but", "oh", "well", "okay", "now", "then", "also"):
            norm = norm[1:]
        while len(norm) > 2 and norm[-1] in ("then", "now", "already", "too", "instead"):
            norm = norm[:-1]
        for tail in (
            ("by", "the", "way"),
            ("if", "i", "may", "ask"),
            ("in", "the", "end"),
            ("as", "well"),
            ("at", "all"),
            ("or", "not"),
            ("or", "what"),
            ("there",),
        ):
            if tuple(norm[-len(tail) :]) == tail and len(norm) > len(tail) + 2:
                norm = norm[: -len(tail)]
        norm = _written_out(norm, assistant_before)
        if norm:
            plain = plain_question(norm) if language == "en" else None
            norm, denial = plain if plain is not None else (norm, "")
            found += [tuple(part) for part in reversed(asked_together(norm))]
    return tuple(reversed(found)), denial


_ATTRIBUTES = re.compile(r"\b(name|job|birthday|age|address|favourite \w+)s?\b")
_LONGEST_NOUN = 4


def _written_out(norm: list[str], assistant_before: str) -> list[str]:
    """A question without its verb or its noun as a whole one.

    "And your name?" asks what the user's name is, "a lovely name, and what is yours?" too, "any
    kids?" whether there are some.
    """
    if norm[:1] == ["your"] and 1 < len(norm) <= _LONGEST_NOUN:
        return ["what", "is", *norm]
    if norm[:1] == ["any"] and len(norm) <= _LONGEST_NOUN:
        return ["do", "you", "have", *norm]
    if norm in (["what", "is", "yours"], ["yours"], ["and", "yours"]):
        nouns = _ATTRIBUTES.findall(assistant_before.lower())
        return ["what", "is", "your", nouns[-1]] if nouns else norm
    return norm
