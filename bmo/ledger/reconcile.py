"""What a new memory does to the live ones: pure planning, no database, no language.

It confirms what says the same, ends what it names by id, supersedes the other value of a slot that
holds one and the opposite of its own value, or stands beside the others. Two values of one slot
that cannot be ordered in time are a conflict, and both stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bmo.ledger.records import EndReason
from bmo.ledger.values import denies, text_key, value_key
from bmo.quotation import answered
from bmo.turn import Fact, Polarity, StoredFact

MERGE_COSINE = 0.95
"""Above this, with the same names and numbers, two texts say the same."""

OPPOSITE_SLOTS: Final[Mapping[str, str]] = {"dislikes": "likes", "hates": "loves"}
"""Slot -> the slot whose values it denies."""


@dataclass(frozen=True, slots=True)
class End:
    """A live memory ends; ``why`` says how."""

    fact: StoredFact
    why: EndReason


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done for one new memory.

    Attributes:
        confirm: The live memory that already says it; nothing is added then.
        ends: Live memories that end, each once; what says it from now on takes their place.
        conflicts: Live memories that the new one contradicts without order in time.
        ended_by: A newer live memory that took the new one's place before it was recorded.
    """

    confirm: StoredFact | None = None
    ends: tuple[End, ...] = ()
    conflicts: tuple[StoredFact, ...] = ()
    ended_by: StoredFact | None = None


def plan_fact(
    fact: Fact,
    *,
    user_id: str,
    at: datetime,
    live: Sequence[StoredFact],
    near: Mapping[str, float],
    turn_id: str | None = None,
    dated: bool = True,
) -> Plan:
    """Decides what a new memory does.

    Args:
        fact: The new memory (``op`` assert).
        user_id: Whose it is; rows of others are left alone.
        at: When it was said. What was said later is never ended by it.
        live: Live memories it may touch (see ``touched``).
        near: Fact id -> cosine similarity to the new text.
        turn_id: The turn it comes from: what the same turn said before is merged into it.
        dated: False when nobody knows when it was said (an import): it orders with nothing.
    """
    live = [row for row in live if row.user_id == user_id and row.valid_until is None]
    confirm = _same(fact, live) or _near_duplicate(fact, live, near)
    fills = confirm is None or confirm.slot == fact.slot
    ends: dict[str, End] = {}
    conflicts: list[StoredFact] = []
    newer: list[StoredFact] = []
    for row in live:
        if row is confirm or row.id == fact.id:
            continue
        contrary, other = _is_opposite(fact, row), fills and _is_other_value(fact, row)
        if row.id in fact.ends and row.valid_from <= at:
            same_turn = turn_id is not None and row.turn_id == turn_id
            ends[row.id] = End(row, "merged" if same_turn else "superseded")
        elif not contrary and not other:
            continue
        elif not dated or (other and row.valid_from == at):
            conflicts.append(row)
        elif row.valid_from > at:
            newer.append(row)
        else:
            ends[row.id] = End(row, "contradicted" if contrary else "superseded")
    if confirm is not None:
        return Plan(confirm=confirm, ends=tuple(ends.values()))
    return Plan(
        ends=tuple(ends.values()),
        conflicts=() if newer else tuple(conflicts),
        ended_by=min(newer, key=lambda row: (row.valid_from, row.id), default=None),
    )


def statement_key(fact: Fact | StoredFact) -> tuple[str, ...]:
    """What a memory states, to be compared: subject, slot, value or words, polarity."""
    what = value_key(fact.value) if fact.slot is not None and fact.value else text_key(fact.text)
    return (fact.subject, fact.slot or "", what, fact.polarity)


def slot_family(slot: str | None, polarity: Polarity) -> tuple[str, bool]:
    """A slot and whether it is affirmed: who dislikes something does not like it."""
    affirmed = polarity == "positive"
    family = OPPOSITE_SLOTS.get(slot or "", slot or "")
    return family, affirmed == (family == (slot or ""))


def slots_of_family(slot: str) -> tuple[str, ...]:
    """A slot and those that deny it, or that it denies."""
    family = OPPOSITE_SLOTS.get(slot, slot)
    return (family, *(other for other, denied in OPPOSITE_SLOTS.items() if denied == family))


def conflict_key(row: StoredFact) -> tuple[str, str, str]:
    """What two memories that contradict each other share.

    Returns:
        Subject, slot, and of a slot that holds many values the value that the one affirms and the
        other denies.
    """
    family, _ = slot_family(row.slot, row.polarity)
    return (row.subject, family, "" if row.cardinality == "one" else value_key(row.value))


def _same(fact: Fact, live: Sequence[StoredFact]) -> StoredFact | None:
    """The oldest live memory that says the very same."""
    key, words = statement_key(fact), text_key(fact.text)
    same = [
        row
        for row in live
        if statement_key(row) == key
        or (row.subject, text_key(row.text), row.polarity) == (fact.subject, words, fact.polarity)
    ]
    same = [row for row in same if _answers_the_same(fact, row)]
    return min(same, key=lambda row: (row.valid_from, row.id), default=None)


def _near_duplicate(
    fact: Fact, live: Sequence[StoredFact], near: Mapping[str, float]
) -> StoredFact | None:
    """The nearest live memory that says the same in other words."""
    found = [
        row
        for row in live
        if near.get(row.id, 0.0) > MERGE_COSINE
        and row.id not in fact.ends
        and (row.subject, row.polarity) == (fact.subject, fact.polarity)
        and (fact.slot is None or row.slot is None or row.slot == fact.slot)
        and _names(fact) == _names(row)
        and denies(fact.text) == denies(row.text)
        and _answers_the_same(fact, row)
    ]
    return max(found, key=lambda row: (near[row.id], row.id), default=None)


def _answers_the_same(fact: Fact, row: StoredFact) -> bool:
    """False for words that need their question where two were asked: "the second one"."""
    one, other = text_key(answered(fact)), text_key(answered(row))
    return fact.slot is not None or not one or not other or one == other


def _is_other_value(fact: Fact, row: StoredFact) -> bool:
    """Whether both fill a slot that holds one value, with different ones."""
    return (
        fact.slot is not None
        and fact.cardinality == "one"
        and fact.polarity == row.polarity == "positive"
        and (row.subject, row.slot) == (fact.subject, fact.slot)
        and statement_key(row) != statement_key(fact)
    )


def _is_opposite(fact: Fact, row: StoredFact) -> bool:
    """Whether a row says of the same value that it is not so."""
    if fact.slot is None or row.slot is None or row.subject != fact.subject:
        return False
    slot, affirmed = slot_family(fact.slot, fact.polarity)
    other_slot, other_affirmed = slot_family(row.slot, row.polarity)
    said = value_key(fact.value)
    return (
        bool(said)
        and (slot, said) == (other_slot, value_key(row.value))
        and affirmed != other_affirmed
    )


def _names(memory: Fact | StoredFact) -> frozenset[str]:
    """Names and numbers in which two texts that say the same must agree."""
    numbers = {word for word in text_key(memory.text).split() if any(c.isdigit() for c in word)}
    return frozenset({value_key(entity) for entity in memory.entities} | numbers)
