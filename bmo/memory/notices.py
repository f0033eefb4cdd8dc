"""Lines for the assistant about memory itself: what it must ask or say aloud with this reply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmo.quotation import flat

if TYPE_CHECKING:
    from bmo.ledger import PendingErasure

SHOWN = 4
"""Memories named when asking whether they may be erased."""


def ask_to_erase(pending: PendingErasure) -> str:
    """A wide request to forget: withdrawn at once, erased after a yes."""
    named = "; ".join(fact.text for fact in pending.facts[:SHOWN])
    more = len(pending.facts) - SHOWN
    rest = f" and {more} more" if more > 0 else ""
    return _line(
        f"{len(pending.facts)} memories are withdrawn ({named}{rest}). "
        "Ask whether to erase them for good."
    )


def not_forgotten_yet() -> str:
    """A wide request to forget that could not be looked up in time."""
    return _line(
        "What is to be forgotten could not be looked up yet, and nothing is forgotten so far. "
        "Say so, and ask to say it again."
    )


def erased(pending: PendingErasure) -> str:
    """The user said yes."""
    return _line(f"{len(pending.facts)} memories are erased for good. Say so.")


def kept(pending: PendingErasure) -> str:
    """The user said no."""
    return _line(f"{len(pending.facts)} memories are kept after all. Say so.")


def off_the_record() -> str:
    """Nothing is written from now on."""
    return _line(
        'Off the record: nothing that is said now is kept, until "back on the record". Say so.'
    )


def on_the_record() -> str:
    """Memory is on again."""
    return _line("On the record again. Say so.")


def _line(text: str) -> str:
    return f"<memory_notice>{flat(text)}</memory_notice>"
