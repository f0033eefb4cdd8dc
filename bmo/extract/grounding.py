"""Whether the user's words carry what a model says they do: names, numbers, denial, the rest.

A list of words is no grammar: it only tells what was said from what was not.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from bmo.gate.tables import given_names, read_table
from bmo.language import LANGUAGES, words
from bmo.ledger.values import content_words, stem

CARRIED = 0.6
"""Share of a memory's words of meaning that must have been said."""

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PRONOUNS = frozenset({"i", "i'm", "i've", "i'd", "i'll"})
_NO_MEANING = frozenset("yes yeah no ok okay right sure".split())


@dataclass(frozen=True, slots=True)
class Said:
    """The words that a memory may be made of.

    Attributes:
        words: The user's in this turn.
        asked: The assistant's before them: for understanding; no name, number or relation.
        earlier: The user's in earlier turns of the visit: for who is meant.
        subjects: Lower-case name -> subject of people the ledger knows.
    """

    words: str
    asked: str = ""
    earlier: str = ""
    subjects: Mapping[str, str] | None = None


def is_grounded(statement: str, said: Said, *, english: bool = True) -> bool:
    """Whether a memory says no more than the user's words do.

    Args:
        statement: A model's text, English.
        said: What was said.
        english: Whether the user spoke English: else only names, numbers and relations can be
            compared.
    """
    own, before = _forms(said.words), _forms(said.earlier)
    people = said.subjects or {}
    named = own | before | {part for name in people for part in name.casefold().split()}
    spoken_relations = _relations(f"{said.words} {said.earlier}") | {
        part for subject in people.values() for part in subject.partition(":")[0].split(".")[1:]
    }
    if not _relations(statement, "en") <= spoken_relations:
        return False
    for position, token in enumerate(_TOKEN.findall(statement)):
        word = token.replace("’", "'").removesuffix("'s")
        low = word.casefold()
        number = _number(low)
        if number:
            if number not in own:
                return False
        elif _is_name(word, position) and {low, stem(low)}.isdisjoint(named):
            return False
    if not english:
        return True
    meant = {_number(word) or stem(word) for word in content_words([statement])}
    heard = own | _forms(said.asked)
    given = (named - own) | set(" ".join(_kin("en")).split())  # looked at above
    told = meant - _frame() - {stem(word) for word in given}
    if not told:
        return not meant.isdisjoint(heard)
    return len(told & heard) / len(told) >= CARRIED


def keeps_polarity(statement: str, quote: str) -> bool:
    """Whether a memory denies where the quoted words deny, and affirms where they affirm.

    "I gave up meat" may become "Does not eat meat"; "I don't eat meat" may not become "Eats
    meat", nor "I eat meat" become "Does not eat meat".
    """
    stated, quoted = _denies(statement), _denies(quote)
    if stated == quoted:
        return True
    plain = quote if stated else statement
    return not _list("deny_by_meaning").isdisjoint(_TOKEN.findall(plain.casefold()))


def has_meaning(quote: str) -> bool:
    """Whether a quote has a word of meaning in it ("yes" and "it is" have none)."""
    return bool(content_words([quote]) - _NO_MEANING)


def _forms(text: str) -> frozenset[str]:
    """The words of a text as they are compared: as said, by stem, numbers as digits."""
    plain = [word.removesuffix("'s") for word in words(text.replace("-", " "))]
    content = content_words([text])
    numbers = {number for word in plain if (number := _number(word))}
    return frozenset({*plain, *map(stem, plain), *content, *map(stem, content), *numbers})


def _is_name(word: str, position: int) -> bool:
    if not word[:1].isupper() or word.casefold() in _PRONOUNS:
        return False
    return position > 0 or word.casefold() in given_names()  # a memory begins with a capital


def _number(word: str) -> str:
    """A number in digits, "" for another word."""
    return word if any(c.isdigit() for c in word) else _numbers().get(word, "")


def _relations(text: str, *languages: str) -> set[str]:
    """The relations a text speaks of, by their English name ("my missus" -> "wife")."""
    flat = f" {' '.join(words(text.replace('-', ' ')))} ".replace("'s ", " ")
    return {
        relation
        for language in languages or LANGUAGES
        for called, relation in _kin(language).items()
        if f" {called} " in flat
    }


def _denies(text: str) -> bool:
    said = words(text)
    return any(word in _list("deny") or word.endswith("n't") for word in said)


@cache
def _kin(language: str) -> Mapping[str, str]:
    """What people call a relation -> its English name."""
    table = read_table("kin.toml")[language]
    return {called.replace("-", " "): name for name, every in table.items() for called in every}


@cache
def _list(name: str) -> frozenset[str]:
    """A list of ``data/grounding.toml``."""
    return frozenset(_table()[name])


@cache
def _numbers() -> Mapping[str, str]:
    return {word: digits for digits, said in _table()["numbers"].items() for word in said.split()}


@cache
def _frame() -> frozenset[str]:
    return frozenset(map(stem, _table()["frame"]))


@cache
def _table() -> Mapping[str, Any]:
    source = resources.files(__package__) / "data" / "grounding.toml"
    return tomllib.loads(source.read_text("utf-8"))
