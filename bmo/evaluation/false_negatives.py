"""``bmo stats --false-negatives``: turns the gate skipped and perhaps should not have.

A skipped turn is suspect when the turn after it is a correction, or when it is near in meaning to
one of the same user that was kept. Small talk and what was meant for memory itself are no suspects;
nor is a question of memory, which is near to what was kept because it asks for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bmo.index import Embedder
    from bmo.ledger import Ledger, LoggedTurn

COMPARED = 2000
"""Newest turns of a user that are compared, at most."""

_NO_SUSPECTS = frozenset({"greeting", "confirmation", "command", "forget", "sensitive"})


@dataclass(frozen=True, slots=True)
class Suspect:
    """A skipped turn.

    Attributes:
        turn: The turn, as it was logged.
        why: "corrected later" or "near a kept turn".
        similarity: Cosine of the nearest kept turn, 0 without one.
        near: That turn's words, or the words of the correction.
    """

    turn: LoggedTurn
    why: str
    similarity: float
    near: str


def false_negatives(
    ledger: Ledger, embedder: Embedder, *, since: datetime, user_id: str | None, limit: int
) -> list[Suspect]:
    """Skipped turns, the most suspect first: those corrected later, then by nearness.

    Args:
        ledger: Where the turns are.
        embedder: Tells how near two turns are.
        since: Only turns said from then on.
        user_id: Whose; None is everybody's, each compared with his own.
        limit: Suspects at most.
    """
    found: list[Suspect] = []
    for owner in [user_id] if user_id is not None else ledger.users():
        newest = ledger.turns(owner, since=since, newest_first=True, limit=COMPARED)
        said = [turn for turn in newest[::-1] if turn.text.strip()]
        outcomes = ledger.outcomes(owner, [turn.id for turn in said])
        asked = {turn_id for turn_id, outcome in outcomes.items() if outcome.recalled}
        found += _of_user(said, asked, embedder)
    found.sort(key=lambda one: (one.why != "corrected later", -one.similarity, one.turn.id))
    return found[:limit]


def _of_user(
    turns: Sequence[LoggedTurn], asked: Collection[str], embedder: Embedder
) -> list[Suspect]:
    corrected = {
        before.id: after.text
        for before, after in pairwise(turns)
        if before.session_id == after.session_id and "correction" in after.signals
    }
    skipped = [
        turn
        for turn in turns
        if turn.verdict == "discard"
        and _NO_SUSPECTS.isdisjoint(turn.signals)
        and (turn.id in corrected or turn.id not in asked)
    ]
    kept = [turn for turn in turns if turn.verdict == "allow"]
    if not skipped:
        return []
    vectors = embedder.embed([turn.text for turn in (*skipped, *kept)])
    cosines = vectors[: len(skipped)] @ vectors[len(skipped) :].T
    suspects = []
    for turn, row in zip(skipped, cosines, strict=True):
        best = int(row.argmax()) if kept else -1
        similarity = float(row[best]) if kept else 0.0
        if turn.id in corrected:
            suspects.append(Suspect(turn, "corrected later", similarity, corrected[turn.id]))
        elif kept:
            suspects.append(Suspect(turn, "near a kept turn", similarity, kept[best].text))
    return suspects
