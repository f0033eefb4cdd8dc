"""What the assistant asked: question word, subject, verb and the gap an answer fills.

Pure and shallow: an auxiliary, the subject behind it, the verb behind that. Enough for the
questions an assistant asks a person about the person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.tag_questions import plain_question
from bmo.gate.third_person import is_base_verb, third_person_lexicon
from bmo.language import past_lemma, third_person
from bmo.language.inflection import past_tense

INDEFINITE = frozenset("a an any some other another anything anyone anybody something".split())
"""Words that open what a question asks to be named ("do you have any pets")."""
LIKING = frozenset(
    "love like hate adore enjoy loathe despise dislike dread detest stand prefer".split()
)
"""Verbs of "(i) love it", the answer to "do you like ..."."""

_QUESTION = re.compile(r"[^.!?]*\?")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NAMED_SUBJECT = re.compile(
    r"\b(?:[Dd]o|[Dd]oes|[Dd]id|[Ii]s|[Ww]as|[Hh]as|[Ww]ill|[Cc]an|[Ww]ould|[Cc]ould|[Hh]ow's) "
    r"([A-Z][a-zé'-]+)\b(?!'s| [A-Z]| and\b)"
)
_SOMEBODY_ELSE = re.compile(r"\b(?:your|he|she|him|his|her|they|them)\b")
_YOURS = re.compile(r"\byour (\w+)")
_WH = frozenset(
    ("what which where when who whom whose how why what's who's where's when's").split()
)
_AUX = frozenset(("do does did are is have has can could were was would will should").split())
_CONTRACTED = {
    "what's": ("what", "is"),
    "who's": ("who", "is"),
    "where's": ("where", "is"),
    "when's": ("when", "is"),
    "how's": ("how", "is"),
}
_NEGATED = {
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "didn't": ("did", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "aren't": ("are", "not"),
    "isn't": ("is", "not"),
    "haven't": ("have", "not"),
    "hasn't": ("has", "not"),
    "wasn't": ("was", "not"),
    "weren't": ("were", "not"),
    "you're": ("you", "are"),
    "you've": ("you", "have"),
    "you'd": ("you", "would"),
}
_SECOND = {
    "you": "they",
    "your": "their",
    "yours": "theirs",
    "yourself": "themselves",
    "you're": "they are",
    "you've": "they have",
    "you'd": "they would",
    "i": "the assistant",
    "me": "the assistant",
    "my": "the assistant's",
    "i'm": "the assistant is",
}
_TAILS = (
    "by the way",
    "if i may ask",
    "if you do not mind",
    "as well",
    "then",
    "now",
    "instead",
    "too",
    "either",
    "though",
    "again",
    "yet",
    "these days",
    "at the moment",
    "or not",
)
_PREPOSITIONS = frozenset(
    (
        "to for with in on at about into from of by near under over around off up through "
        "after before during towards"
    ).split()
)
_KEPT_ADVERBS = frozenset("usually normally often generally typically currently rather".split())
_DROPPED_ADVERBS = frozenset(
    "still ever actually really also already both all two guys folks always happen".split()
)
_OPENERS = frozenset("so and oh ah okay ok well right then wait".split())
_ASKS_FOR_YES = ("right", "correct", "yes", "no", "is that right", "am i right", "do not you")
_TAKE_CLAUSES = frozenset(("as since after before until like just").split())
_PRONOUNS = frozenset(("he", "she", "it", "they"))
_POINTING = frozenset(("that", "this", "those", "these", "there", "up", "wrong", "new"))
_ANYONE = frozenset(("anyone anybody someone somebody").split())
_DETERMINERS = frozenset(("your", "the", "his", "her", "their", "its"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, taken apart.

    Attributes:
        word: Question word ("what", "how"), "" for a question for yes or no.
        noun: Words between question word and auxiliary ("many kids", "old", "city").
        aux: "do", "are", "is", "have", ...
        subject: Who it is about as a label ("wife", "cat Pepper"); "" is the user.
        plural: Whether the subject is more than one.
        negated: Whether the verb is ("anything you don't eat").
        adverbs: Adverbs that stay with the verb.
        verb: Verb or adjective behind the subject; "" when there is none (a copula alone).
        tail: Words behind the verb.
        called: "called" or "named" of "what is the dog called".
        anything: "Is there anything you ...": the answer is the verb's object.
        statement: It is a statement that asks to be confirmed.
    """

    word: str
    noun: tuple[str, ...]
    aux: str
    subject: str
    plural: bool = False
    negated: bool = False
    adverbs: tuple[str, ...] = ()
    verb: str = ""
    tail: tuple[str, ...] = ()
    called: str = ""
    anything: bool = False
    statement: bool = False


def last_question(assistant_before: str) -> list[str]:
    """Words of the assistant's last question, lower case, from its question word on; or []."""
    found = _QUESTION.findall(assistant_before.replace("’", "'"))
    if not found:
        return []
    words: list[str] = []
    for word in _WORD.findall(found[-1].lower()):
        words.extend(_CONTRACTED.get(word, (word,)))
    asked = _YOURS.search(assistant_before.lower())
    if words[-3:] == ["what", "is", "it"] and asked:
        return ["what", "is", "your", asked[1]]  # "I don't know your name yet. What is it?"
    words = asked_together(words)[0]
    plain = plain_question([part for word in words for part in _NEGATED.get(word, (word,))])
    first = next((word for word in words if word not in _OPENERS), "")
    if plain is not None and (plain.denied or first[:3] != "you" or words[-1] in _TURNED_TO):
        return _without_tail(plain.words)
    for place, word in enumerate(words):
        if word in _WH or (word in _AUX and place + 1 < len(words)):
            return _without_tail(words[place:])
    return _without_tail(words)


def asked_together(words: list[str]) -> list[list[str]]:
    """The two questions of "do you have kids, and how old are they": the first is answered first.

    Args:
        words: The words of a sentence that asks.
    """
    for place in range(_LEAST_ASKED, len(words) - _LEAST_ASKED):
        if words[place] == "and" and words[place + 1] in _OPENS_ANOTHER:
            return [words[:place], words[place + 1 :]]
    return [words]


_TURNED_TO = _PRONOUNS | {"you"}
_LEAST_ASKED = 3
_OPENS_ANOTHER = frozenset("what what's which who who's where when how do does did are is".split())


@lru_cache(maxsize=256)
def asked_subject(assistant_before: str) -> str:
    """The name that is the subject of the last question: Clar of "Does Clar still come?", or "".

    Args:
        assistant_before: The assistant's words, with the capitals of names.
    """
    found = _QUESTION.findall(assistant_before)
    named = _NAMED_SUBJECT.search(found[-1]) if found else None
    if named is None or _SOMEBODY_ELSE.search(found[-1]):
        return ""
    return named[1]


def in_third_person(words: Sequence[str]) -> str:
    """The assistant's words in the third person: "your" is the user's."""
    said = [_SECOND.get(word, word) for word in words]
    for place, word in enumerate(words):
        if word == "you" and place and (place + 1 == len(words) or takes_object(words[place - 1])):
            said[place] = "them"  # "who looks after you"
    return " ".join(said)


def takes_object(word: str) -> bool:
    """Whether a "you" behind a word is its object ("with you", "who taught you")."""
    if word in _AUX or word in _WH or word in _TAKE_CLAUSES or word in _NEGATED:
        return False
    lemma = word.removesuffix("s")
    return is_preposition(word) or is_base_verb(lemma) or bool(past_lemma(word))


def who_does(question: Sequence[str]) -> list[str]:
    """What the one asked for does: verb and what follows; [] when the question asks no such thing.

    "who taught you to cook" gives "taught you to cook", "which of them does the rota" "does the
    rota", "does anyone help you" "help you".

    Args:
        question: Its words as ``last_question`` gives them.
    """
    words = list(question)
    if words[:1] in (["does"], ["did"]) and len(words) > 2 and words[1] in _ANYONE:
        at = _behind_place(words)
        verb = third_person(words[at]) if words[0] == "does" else past_tense(words[at])
        return [verb, *words[at + 1 :]]
    if len(words) > 3 and words[0] == "which" and words[1:2] in (["of"], ["one"]):
        words = ["who", *words[3 if words[1] == "of" else 2 :]]
    if len(words) < 3 or words[0] != "who":
        return []
    verb, behind = words[1], words[2]
    if verb in ("is", "was"):
        return words[1:] if is_preposition(behind) else []
    if verb in ("does", "has"):
        return words[1:] if behind in ("the", "all", "your") and not _has_base(words[3:]) else []
    if verb in _AUX or not (verb.endswith("s") or past_lemma(verb)):
        return []
    return words[1:]


def _behind_place(words: Sequence[str]) -> int:
    """Index of the verb of "does anyone (in your family) have"."""
    if words[2] not in ("in", "at", "else"):
        return 2
    return next((i for i in range(3, len(words)) if is_base_verb(words[i])), 2)


def _has_base(words: Sequence[str]) -> bool:
    return any(is_base_verb(word) for word in words)


def is_preposition(word: str) -> bool:
    """Whether a word may stand before a gap or a place."""
    return word in _PREPOSITIONS or word in third_person_lexicon().prepositions


def read_question(question: Sequence[str], other: str = "") -> Asked | None:
    """Takes a question apart; None when it is none of the kinds known here.

    Args:
        question: Its words as ``last_question`` gives them.
        other: Who "he", "she" or "it" is ("cat Pepper"), or "".
    """
    words: list[str] = []
    for word in question:
        words.extend(_NEGATED.get(word, (word,)))
    while len(words) > 2 and words[0] in _OPENERS:
        words = words[1:]
    anything = _anything(words)
    if anything is not None:
        return anything
    if words[:1] == ["you"]:
        return _statement(words)
    word = ""
    noun: tuple[str, ...] = ()
    if words and words[0] in _WH:
        at = next((i for i in range(1, len(words)) if words[i] in _AUX), 0)
        if not at:
            return None
        word, noun, words = words[0], tuple(words[1:at]), words[at:]
    if len(words) < 2 or words[0] not in _AUX:
        return None
    aux, words = words[0], words[1:]
    negated = words[0] == "not"
    if negated:
        words = words[1:]
    return _with_subject(word, noun, aux, negated, words, other)


def _with_subject(
    word: str, noun: tuple[str, ...], aux: str, negated: bool, words: list[str], other: str
) -> Asked | None:
    copula = aux in ("is", "are", "was", "were")
    taken = _subject(words, copula and bool(word), other)
    if taken is None:
        return None
    subject, plural, rest = taken
    if rest[:1] == ["not"]:
        negated, rest = True, rest[1:]
    adverbs: list[str] = []
    while rest and (rest[0] in _KEPT_ADVERBS or rest[0] in _DROPPED_ADVERBS):
        if rest[0] in _KEPT_ADVERBS:
            adverbs.append(rest[0])
        rest = rest[1:]
    if rest[:1] == ["got"] and aux in ("have", "has"):
        aux, rest = "do", ["have", *rest[1:]]
    called = rest[0] if rest and rest[0] in ("called", "named") and word == "what" else ""
    if called:
        rest = []
    if not rest and not copula:
        return None
    return Asked(
        word,
        noun,
        aux,
        subject,
        plural=plural,
        negated=negated,
        adverbs=tuple(adverbs),
        verb=rest[0] if rest else "",
        tail=tuple(rest[1:]),
        called=called,
    )


def _subject(words: list[str], whole: bool, other: str) -> tuple[str, bool, list[str]] | None:
    """Label, whether plural, and the words behind the subject; None when unknown.

    Args:
        words: From the subject on.
        whole: Everything up to "called" is the subject ("what is your son's name").
        other: Who a pronoun means.
    """
    if not words:
        return None
    first = words[0]
    if first == "you" or words[:3] == ["i", "call", "you"]:
        return "", False, words[1:]
    if first in _PRONOUNS:
        return (other, first == "they", words[1:]) if other else None
    if first in _DETERMINERS and len(words) > 1:
        owned = first in ("your", "the")
        end = len(words)
        for place in range(2, len(words)):
            # "what does your wife do": a base verb ends the subject, "called" does so too.
            if words[place] in ("called", "named") or (not whole and is_base_verb(words[place])):
                end = place
                break
        if not owned:
            return None
        label = in_third_person(words[1:end])
        plural = words[end - 1].endswith("s") and not words[end - 1].endswith(("ss", "'s", "us"))
        return label, plural, words[end:]
    if whole and len(words) == 1 and words[0].isalpha() and first not in _POINTING:
        return first.title(), False, []
    return None


def _anything(words: list[str]) -> Asked | None:
    """The verb behind "you", its object asked for: "is there anything you don't eat"."""
    if words[:2] not in (["is", "there"], ["are", "there"]) or "you" not in words[2:]:
        return None
    at = words.index("you")
    rest = words[at + 1 :]
    if words[2] not in INDEFINITE or not rest:
        return None
    aux = "do"
    if rest[0] in _AUX and len(rest) > 1:
        aux, rest = rest[0], rest[1:]
    negated = rest[0] == "not"
    rest = rest[1:] if negated else rest
    if not rest:
        return None
    return Asked(
        "", (), aux, "", negated=negated, verb=rest[0], tail=tuple(rest[1:]), anything=True
    )


def _statement(words: list[str]) -> Asked | None:
    """A statement that asks to be confirmed: "you live in Leeds, right"."""
    text = " ".join(words[1:])
    for tag in _ASKS_FOR_YES:
        text = text.removesuffix(f" {tag}")
    rest = text.split()
    aux = "do"
    if rest and rest[0] in _AUX and len(rest) > 1:
        aux, rest = rest[0], rest[1:]
    if not rest:
        return None
    return Asked("", (), aux, "", verb=rest[0], tail=tuple(rest[1:]), statement=True)


def _without_tail(words: list[str]) -> list[str]:
    text = " ".join(words)
    for tail in _TAILS:
        text = text.removesuffix(f" {tail}")
    return text.split()
