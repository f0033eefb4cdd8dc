"""Which waiting turns go to a model together, and in which order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bmo.settings import GatekeeperMode, ModelSees

if TYPE_CHECKING:
    from bmo.ledger import Aim, WaitingTurn

ALONE_AFTER = 2
"""Failures after which a turn goes alone, so that one bad turn does not hold up its neighbours."""

BEFORE, AFTER = 4, 2
"""Neighbours of the visit that are shown with each turn: context, never a source."""

AIMS: dict[GatekeeperMode, tuple[Aim, ...]] = {
    "hybrid": ("held", "polish"),
    "llm": ("held", "polish", "every"),
}
"""What a model is asked by itself, by mode; in other modes nothing."""

SEEN: dict[ModelSees, tuple[Aim, ...]] = {
    "memories": ("polish",),
    "words": ("held", "polish", "every"),
}
"""What a model may be asked at all, by BMO_MODEL_SEES."""


def next_batch(waiting: Sequence[WaitingTurn], most: int) -> list[WaitingTurn]:
    """The most promising turn and those of its visit that wait too, oldest first."""
    ranked = sorted(
        waiting, key=lambda one: (*rank_of(one.aim, one.promise), one.turn.at, one.turn.id)
    )
    if not ranked:
        return []
    best = ranked[0]
    if best.attempts >= ALONE_AFTER:
        return [best]
    beside = [
        one
        for one in ranked
        if one.turn.session_id == best.turn.session_id and one.attempts < ALONE_AFTER
    ]
    return sorted(beside[:most], key=lambda one: (one.turn.at, one.turn.id))


def rank_of(aim: Aim, promise: float | None) -> tuple[bool, float]:
    """Where a turn stands in line; lower goes first.

    Held turns first, for theirs are the facts that are missing; among them, and among the rest,
    the more probable ones by the encoder's P(allow).
    """
    return aim != "held", -(promise if promise is not None else 0.0)
