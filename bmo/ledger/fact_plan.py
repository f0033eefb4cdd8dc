"""What is to be done for one new fact, as reconciliation plans it and recording does it."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.ledger.records import EndReason
from bmo.turn import StoredFact


@dataclass(frozen=True, slots=True)
class End:
    """A live fact ends."""

    fact: StoredFact
    why: EndReason
    by_new: bool = True
    """Whether the new fact takes its place (``superseded_by``)."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A live fact goes on under another subject, in other words."""

    fact: StoredFact
    subject: str
    value: str
    text: str
    correction: bool
    """True: the old words were wrong and end; False: the row changes in place."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done for one new fact.

    Attributes:
        confirm: The live fact that already says it; nothing is added then.
        ends: Live facts that end.
        rewrites: Live facts that change their subject.
        conflicts: Live facts the new one contradicts without order in time.
        ended_by: A newer live fact that took the new one's place before it was recorded.
        past: The new fact is stored as already ended.
        only_ends: The new fact is not stored: a goal that is given up is no goal.
    """

    confirm: StoredFact | None = None
    ends: tuple[End, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    conflicts: tuple[StoredFact, ...] = ()
    ended_by: StoredFact | None = None
    past: bool = False
    only_ends: bool = False
