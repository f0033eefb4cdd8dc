"""Whether the user's words carry what a model says they do: names, numbers, times, denial, doubt.

A list of words is no grammar: it only tells what was said from what was not.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

from bmo.gate.tables import given_names, kin_words
from bmo.language import LANGUAGES, words
from bmo.ledger.values import content_words, stem

CARRIED = 0.6
"""Share of a memory's words of meaning that must have been said."""

WORDS_BEFORE, WORDS_AFTER = 4, 1
"""Words around a quote that are read with it, up to a border of clauses."""

Stance = Literal["polarity", "time", "doubt"]
"""What a memory may turn round: denial, that something was so, that it is hoped or doubted."""

_BORDER = re.compile(r"[.!?;,:]|\b(?:and|but|so|because|und|aber|weil|et|mais|y|pero|porque)\b")
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

    Of another language than English only names, numbers and relations can be compared.
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


def keeps_times(statement: str, said: Said) -> bool:
    """Whether a memory names no day, month or time that the user did not name."""
    heard = {time for word in words(said.words) for time in _times().get(word, ())}
    plain = statement.replace("years old", "old")
    if " May" not in plain:
        plain = re.sub(r"\bmay\b", "", plain, flags=re.IGNORECASE)  # no month
    named = [_times().get(word) for word in words(plain)]
    return all(not heard.isdisjoint(times) for times in named if times)


def stance_of(statement: str, text: str, span: tuple[int, int]) -> Stance | None:
    """In what a memory turns round what the quoted words say, or None.

    "I gave up meat" may become "Does not eat meat"; "I don't eat meat" may not become "Eats meat".
    What was so once stays past, what is hoped or doubted stays so. A few words around the quote
    count too: a quote that leaves out "used to" or "don't" is no better for it.
    """
    quote = f"{_before(text[: span[0]])} {text[span[0] : span[1]]} {_after(text[span[1] :])}"
    stated, quoted = set(words(statement)), words(quote)
    heard = set(quoted)
    while quoted and quoted[0] in _list("answers"):
        quoted = quoted[1:]  # "no i live in leeds" denies nothing, "no meetings" does
    if _denies(stated) not in (_denies(heard), _denies(quoted)):
        plain = heard if _denies(stated) else stated
        if plain.isdisjoint(_list("deny_by_meaning")) and plain.isdisjoint(_list("past")):
            return "polarity"
    if not heard.isdisjoint(_list("past")) and not _is_past(stated):
        return "time"
    if not stated.isdisjoint(_list("past")) and not _is_past(heard):
        return "time"
    doubted = not heard.isdisjoint(_list("doubt"))
    kept = not stated.isdisjoint(_list("doubt") | _list("doubted"))
    return "doubt" if doubted and not kept else None


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
    low = word.casefold()
    if not word[:1].isupper() or low in _PRONOUNS or low in _times():
        return False
    return position > 0 or low in given_names()  # a memory begins with a capital


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


def _denies(said: Iterable[str]) -> bool:
    return any(word in _list("deny") or word.endswith("n't") for word in said)


def _is_past(said: Iterable[str]) -> bool:
    """Whether one of some words says that something was so: "used to", "lived", "not"."""
    lists = (_list(name) for name in ("past", "past_verbs", "deny", "deny_by_meaning"))
    looked = frozenset().union(*lists)
    return any(word in looked or word.endswith(("ed", "n't")) for word in said)


def _before(text: str) -> str:
    """The last few words before a quote, from the last border on."""
    return " ".join(_BORDER.split(text)[-1].split()[-WORDS_BEFORE:])


def _after(text: str) -> str:
    """The first few words behind a quote, up to the first border."""
    return " ".join(_BORDER.split(text)[0].split()[:WORDS_AFTER])


@cache
def _kin(language: str) -> Mapping[str, str]:
    """What people call a relation -> its English name."""
    return {called.replace("-", " "): relation for called, relation in kin_words(language).items()}


@cache
def _list(name: str) -> frozenset[str]:
    """A list of ``data/grounding.toml``."""
    return frozenset(_table()[name])


@cache
def _numbers() -> Mapping[str, str]:
    return {word: digits for digits, said in _table()["numbers"].items() for word in said.split()}


@cache
def _times() -> Mapping[str, frozenset[str]]:
    """A word that names a time -> the times it may mean ("morgen" is two)."""
    table = {time: frozenset(said.split()) for time, said in _table()["times"].items()}
    every = frozenset().union(*table.values())
    return {word: frozenset(t for t, said in table.items() if word in said) for word in every}


@cache
def _frame() -> frozenset[str]:
    return frozenset(map(stem, _table()["frame"]))


@cache
def _table() -> Mapping[str, Any]:
    source = resources.files(__package__) / "data" / "grounding.toml"
    return tomllib.loads(source.read_text("utf-8"))
