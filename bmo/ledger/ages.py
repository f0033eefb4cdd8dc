"""Whose age a memory tells, and which memories a new age outgrows: pure, from ``[ages]``.

"Callum is fifteen now" ends "Callum's fourteen" wherever that stands. Only a memory that tells the
age of one person by name and nothing else is one; of two of a name nothing ends.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from bmo.language.times import NUMBER_WORDS
from bmo.ledger.change_tables import change_tables
from bmo.ledger.subjects import name_of
from bmo.turn import Fact, StoredFact

_QUOTED = re.compile(r'^Said in [^"]*?: "(.+)"$')
_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 14
_OLDEST = 120


class Age(NamedTuple):
    """How old somebody is ("callum", 15), or is to be."""

    name: str
    years: int
    to_come: bool


@dataclass(frozen=True, slots=True)
class _Words:
    numbers: Mapping[str, int]
    passing: frozenset[str]
    to_come: frozenset[str]
    having: frozenset[str]
    years: frozenset[str]


@lru_cache(maxsize=1)
def _words() -> _Words:
    raw = change_tables()["ages"]
    numbers = {word: number for word, number in NUMBER_WORDS.items() if word not in ("oh", "o")}
    for line in raw["numbers"]:
        numbers |= {word: number for number, word in enumerate(line.split(), start=1)}
    return _Words(
        numbers=numbers,
        passing=frozenset(raw["passing"].split()),
        to_come=frozenset(raw["to_come"].split()),
        having=frozenset(raw["having"].split()),
        years=frozenset(raw["years"].split()),
    )


@lru_cache(maxsize=1024)
def age_in(text: str, subject: str = "user") -> Age | None:
    """The age that a memory tells, and nothing else beside it.

    Args:
        text: "Callum's fourteen", "Son Callum is 14 (fourteen) years old", 'Said in German: "..."'.
        subject: Whom the memory is about, as it is stored.
    """
    quoted = _QUOTED.match(text)
    said = _WORD.findall(quoted[1] if quoted else text)
    table = _words()
    years: set[int] = set()
    names: list[str] = []
    for word in said[:_MOST_WORDS]:
        low = word.lower()
        if low.isdecimal() or low in table.numbers:
            years.add(int(low) if low.isdecimal() else table.numbers[low])
        elif low not in table.passing and low not in table.years and low not in table.to_come:
            names.append(low)
    heard = {word.lower() for word in said}
    own = name_of(subject)
    labels = subject.partition(":")[0].replace("_", " ").replace(".", " ").split()
    names = [name for name in names if name not in labels]
    if len(said) > _MOST_WORDS or len(years) != 1 or len(names) != 1 or own not in ("", names[0]):
        return None
    if not said[0][:1].isupper() or (said[0].lower() != names[0] and not (own or quoted)):
        return None
    if not table.having.isdisjoint(heard) and table.years.isdisjoint(heard):
        return None  # "Zoé a deux ..." counts what she has
    number = years.pop()
    to_come = not table.to_come.isdisjoint(heard)
    return Age(names[0], number, to_come) if 0 < number <= _OLDEST else None


def new_age(fact: Fact) -> Age | None:
    """The age that a new fact tells, beside whatever else it tells behind a semicolon."""
    if fact.slot not in (None, "age") or fact.polarity == "negative":
        return None
    return age_in(fact.text.partition(";")[0], fact.subject)


def outgrown(
    fact: Fact, at: datetime, live: Sequence[StoredFact], *, change: bool
) -> list[StoredFact]:
    """The memories that tell another age of the one whose age a fact tells.

    Args:
        fact: What is newly stated.
        at: When it was said; what was said in the same turn stays.
        live: Live facts, those that have the name among them.
        change: The turn says that something is different from before: only then, or as a
            correction, may somebody be younger than before.
    """
    new = new_age(fact)
    if new is None or new.to_come:
        return []
    named = {row.subject for row in live if name_of(row.subject) == new.name}
    named |= {fact.subject} if name_of(fact.subject) else set()
    if len(named) > 1:
        return []
    found = []
    for row in live:
        if row.slot not in (None, "age") or row.valid_from >= at or row.polarity == "negative":
            continue
        old = age_in(row.text, row.subject)
        if old is None or old.name != new.name:
            continue
        older = new.years > old.years or (old.to_come and new.years == old.years)
        if older or (new.years < old.years and (change or fact.op == "correct")):
            found.append(row)
    return found
