"""Who held a position before: "Reports to Ingrid" and "Has a boss named Ingrid" are one thing.

Pure, from ``[reports]`` in ``data/changes.toml``. A new holder ends what says that another holds
the position, however that was told; two that are told without any word of a change both stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from bmo.ledger.change_tables import change_tables
from bmo.ledger.subjects import name_of, relation_of, states_name, within
from bmo.ledger.values import content_words, tells_of_change
from bmo.turn import Fact, StoredFact


@dataclass(frozen=True, slots=True)
class _Reports:
    relation: str
    words: frozenset[str]
    text: re.Pattern[str]
    former: frozenset[str]


@lru_cache(maxsize=1)
def _reports() -> _Reports:
    raw = change_tables()["reports"]
    led = "|".join(re.escape(lead) for lead in raw["leads"])
    return _Reports(
        relation=raw["relation"],
        words=content_words(raw["words"]),
        former=frozenset(raw["former"]),
        text=re.compile(rf"(?:^|\")(?i:{led}) ([A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)?)\"?$"),
    )


def superior_of(text: str) -> str:
    """To whom a memory says that the user reports ("Reports to Ingrid": "ingrid"), or ""."""
    found = _reports().text.search(text)
    return found[1].casefold() if found else ""


def words_of_reporting(relation: str) -> frozenset[str]:
    """Words by which memories are found that tell who holds a relation; none for most of them."""
    return _reports().words if relation == _reports().relation else frozenset()


def where_position(fact: Fact) -> tuple[tuple[str, ...], frozenset[str]]:
    """Relations and words where memories stand of who held the position that a fact fills."""
    table = _reports()
    if relation_of(fact.subject) == table.relation and states_name(fact):
        return (table.relation,), table.words
    if fact.subject == "user" and superior_of(fact.text):
        return (table.relation,), table.words
    return (), frozenset()


def fills_anew(words: str, span: tuple[int, int] | None) -> bool:
    """Whether the words that name somebody say themselves that something has changed.

    "My boss is Devraj now" does; "now that ingrid has gone home, my old boss kofi called" does not.

    Args:
        words: What was said.
        span: Where in it the name is told.
    """
    if span is None:
        return False
    behind = re.match(r"[^.,;:!?]*", words[span[1] :])
    said = f"{words[span[0] : span[1]]}{behind[0] if behind else ''}"
    return tells_of_change(said) and _reports().former.isdisjoint(re.findall(r"\w+", said.lower()))


def reports_in(rows: Sequence[StoredFact], relation: str) -> list[StoredFact]:
    """The memories that tell to whom the user reports, where that is this relation."""
    if relation != _reports().relation:
        return []
    return [row for row in rows if row.subject == "user" and superior_of(row.text)]


def held_before(fact: Fact, at: datetime, live: Sequence[StoredFact]) -> list[StoredFact]:
    """What says that another holds the position that a fact fills from now on.

    Args:
        fact: "Has a boss named Devraj", "Reports to Devraj".
        at: When it was said; what was said in the same turn stays.
        live: Live facts, those of ``where_position`` among them.
    """
    relations, _ = where_position(fact)
    if not relations:
        return []
    holder = (name_of(fact.subject) or superior_of(fact.text)).split()[0]
    theirs = [row for row in live if within(row.subject, relations) and name_of(row.subject)]
    told = [row for row in theirs if _owner(row.subject) != holder]
    told += [r for r in reports_in(live, relations[0]) if superior_of(r.text).split()[0] != holder]
    return [row for row in told if row.valid_from < at]


def _owner(subject: str) -> str:
    """The first name of whoever holds the position ("user.boss:ana lee.son": "ana")."""
    name = subject.removeprefix(f"{_reports().relation}:").partition(".")[0]
    return name.split()[0] if name else ""
