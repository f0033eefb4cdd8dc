"""Lines for the assistant about memory itself: what it must ask or say aloud with this reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmo.quotation import flat
from bmo.turn import WITHHOLD_RULE

if TYPE_CHECKING:
    from bmo.ledger import PendingErasure
    from bmo.turn import StoredFact

SHOWN = 4
"""Memories named when asking whether they may be erased."""


def _line(text: str) -> str:
    return f"<memory_notice>{flat(text)}</memory_notice>"


NOT_FORGOTTEN_YET = _line(
    "What is to be forgotten could not be looked up yet, and nothing is forgotten so far. "
    "Say so, and ask to say it again."
)
"""A wide request to forget that could not be looked up in time."""

OFF_THE_RECORD = _line(
    'Off the record: nothing that is said now is kept, until "back on the record". Say so.'
)
ON_THE_RECORD = _line("On the record again. Say so.")
STILL_OFF = _line(
    'Off the record still: nothing that is said is kept, until "back on the record". Say so.'
)
STILL_ON = _line("On the record: what matters of what is said is remembered. Say so.")


def ask_to_erase(pending: PendingErasure) -> str:
    """A wide request to forget: withdrawn at once, erased after a yes."""
    told = _told(pending)
    named = "; ".join(fact.text.rstrip(" .!?") for fact in told[:SHOWN])
    rest = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    quoted = f" ({named}{rest})" if told else ""
    question = f"Ask whether to erase them for good{_beside(pending)}."
    return _line(f"{_count(pending)} withdrawn{quoted}. {question}")


def answered(pending: PendingErasure, *, yes: bool) -> str:
    """The user said whether to erase them."""
    done = f"erased for good{_beside(pending)}" if yes else "kept after all"
    return _line(f"{_count(pending)} {done}. Say so.")


def _told(pending: PendingErasure) -> list[StoredFact]:
    """What is told of a request: what was known till now; what had ended goes with it unnamed."""
    live = [fact for fact in pending.facts if fact.valid_until is None]
    return [fact for fact in live if fact.rule_id != WITHHOLD_RULE] or live or list(pending.facts)


def _beside(pending: PendingErasure) -> str:
    """What goes beside the memories."""
    days = ", with every other word of these days" if pending.scope == "period" else ""
    wish = any(fact.rule_id == WITHHOLD_RULE for fact in pending.facts)
    return f"{days}, with the wish never to bring it up" if wish else days


def _count(pending: PendingErasure) -> str:
    number = len(_told(pending))
    if pending.scope == "period" and not number:
        return "All that was said then is"
    return "1 memory is" if number == 1 else f"{number} memories are"
