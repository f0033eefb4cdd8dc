"""What is so no longer because it is otherwise now, told in another frame of the same kind.

"Takes the 111 to campus nowadays" of who rode the 46 to campus, "Opens at nine these days" of what
opened at eight: the same thing done, the same object, another number or day. What differs in more
than that stands beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from bmo.ledger.change_tables import change_tables
from bmo.ledger.values import stem, stems
from bmo.turn import Fact, StoredFact

_WORD = re.compile(r"[^\W_]+(?:[:.]\d+)?")
_TO = re.compile(r"\b(?:to|into) (?:the |a |an |their |my )?([^\W\d_]+)")
_MOST_APART = 4
"""Words of content that only one of the two says; more, and they tell two things."""

_BEING = frozenset({"is", "has", "does", "used", "was", "likes", "wants"})
"""First words that say too little of what is done."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """A statement: what is done, with what number or day, and with what."""

    verb: str
    values: frozenset[tuple[str, str]]
    about: frozenset[str]
    to: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Words:
    numbers: frozenset[str]
    days: frozenset[str]
    passing: frozenset[str]
    alike: dict[str, str]
    travel: str


@lru_cache(maxsize=1)
def words_of_now() -> _Words:
    """The words of the change, read from the package on first use."""
    raw = change_tables()["otherwise"]
    return _Words(
        numbers=frozenset(raw["numbers"].split()),
        days=frozenset(raw["days"].split()),
        passing=frozenset(stem(word) for word in raw["passing"].split()),
        alike={
            stem(word): stem(group.split()[0]) for group in raw["alike"] for word in group.split()
        },
        travel=stem(raw["alike"][0].split()[0]),
    )


def otherwise_now(fact: Fact, at: datetime, live: Sequence[StoredFact]) -> list[StoredFact]:
    """The one memory that says what ``fact`` says, with another value; none where that is unclear.

    Args:
        fact: What is so now; the turn said that something has changed.
        at: When it was said.
        live: Live memories that it may touch.
    """
    if fact.polarity == "negative" or ";" in fact.text or '"' in fact.text:
        return []
    new = _frame_of(fact.text)
    if new is None:
        return []
    found = [
        row
        for row in live
        if row.valid_from < at
        and row.polarity == "positive"
        and row.subject == fact.subject
        and ";" not in row.text
        and '"' not in row.text
        and _is_otherwise(new, _frame_of(row.text))
    ]
    return found if len(found) == 1 else []


def _is_otherwise(new: _Frame, old: _Frame | None) -> bool:
    if old is None or new.verb != old.verb:
        return False
    if len(new.about ^ old.about) > _MOST_APART:
        return False
    if new.verb == words_of_now().travel and new.to & old.to:
        return bool(new.values != old.values or new.about != old.about)
    kinds = {kind for kind, _ in new.values} & {kind for kind, _ in old.values}
    other = any(
        {value for k, value in new.values if k == kind}.isdisjoint(
            value for k, value in old.values if k == kind
        )
        for kind in kinds
    )
    return other and (bool(new.about & old.about) or new.about == old.about)


@lru_cache(maxsize=1024)
def _frame_of(text: str) -> _Frame | None:
    tables = words_of_now()
    said = _WORD.findall(text.lower())
    if len(said) < 2 or said[0] in _BEING:
        return None
    values = set()
    for word in said[1:]:
        if word in tables.numbers or word[0].isdigit():
            values.add(("number", word))
        elif word.removesuffix("s") in tables.days:
            values.add(("day", word.removesuffix("s")))
    verb = stem(said[0])
    gone = {value for _, value in values} | {f"{value}s" for _, value in values}
    rest = [word for word in said[1:] if word not in gone]
    about = stems([" ".join(rest)]) - tables.passing
    to = frozenset(stem(word) for word in _TO.findall(text.lower()))
    return _Frame(tables.alike.get(verb, verb), frozenset(values), frozenset(about), to)
