"""Which older memories a turn ends: the encoder's pair head asked about the nearest candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmo.turn import WITHHOLD_RULE, DialogueContext, StoredFact

if TYPE_CHECKING:
    from bmo.encoder import Encoder

MOST_PAIRS = 12
"""Candidates that are asked about: a dozen pairs take well under 100 ms."""

MOST_ENDS = 2
"""Memories that one turn may end: of 713 annotated turns that end any, ten end more."""

SECOND = 0.95
"""P(ends) from which a turn ends a second memory: one change is mostly of one. In 249 turns that no
encoder had read, of 78 second ends from the threshold of the first on 14 were right; from .95 on
three of 12."""


def ended_by(
    said: tuple[str, str], context: DialogueContext, encoder: Encoder, threshold: float
) -> tuple[str, ...]:
    """The ids of the candidates that are no longer true by a turn, the likeliest first.

    Args:
        said: The assistant's words before, and the turn.
        context: Has the candidates, nearest first.
        encoder: The local model.
        threshold: Probability from which a memory ends.

    Raises:
        EncoderUnavailable: The model failed.
    """
    # A wish about what is brought up is ended by an order only.
    live = [memory for memory in context.candidates if memory.rule_id != WITHHOLD_RULE]
    candidates = live[:MOST_PAIRS]
    if not candidates:
        return ()
    asked, text = said
    # What the assistant tells may quote a memory, which every candidate then seems to concern.
    related = encoder.relate(
        (asked if "?" in asked else "", text), [as_pair(memory) for memory in candidates]
    )
    over = [
        (ends, memory.id)
        for memory, (_, ends) in zip(candidates, related, strict=True)
        if ends >= threshold
    ]
    likeliest = sorted(over, key=lambda end: -end[0])[:MOST_ENDS]
    return tuple(one for n, (ends, one) in enumerate(likeliest) if n == 0 or ends >= SECOND)


def as_pair(memory: StoredFact) -> tuple[str, str]:
    """A memory as the encoder reads it: the question it answers, and its text."""
    return (memory.asked, memory.text)
