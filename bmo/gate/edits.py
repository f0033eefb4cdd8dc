"""Which older memories a turn ends: the encoder's pair head asked about the nearest candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bmo.turn import WITHHOLD_RULE, DialogueContext, Fact, StoredFact

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
    said: tuple[str, str],
    slots: Sequence[Fact],
    context: DialogueContext,
    encoder: Encoder,
    threshold: float,
) -> tuple[str, ...]:
    """The ids of the candidates that are no longer true by a turn, the likeliest first.

    Where plain slots read a part of an older turn and that part ends or is filled anew, it ends in
    the place of the words, which tell more.

    Args:
        said: The assistant's words before, and the turn.
        slots: What plain slots read in the turn.
        context: Has the candidates, nearest first.
        encoder: The local model; without a pair head nothing is asked.
        threshold: Probability from which a memory ends.

    Raises:
        EncoderUnavailable: The model failed.
    """
    # A wish about what is brought up is ended by an order only.
    live = [memory for memory in context.candidates if memory.rule_id != WITHHOLD_RULE]
    candidates = live[:MOST_PAIRS]
    if not encoder.has_pairs or not candidates:
        return ()
    asked, text = said
    # What the assistant tells may quote a memory, which every candidate then seems to concern.
    related = encoder.relate(
        (asked if "?" in asked else "", text), [as_pair(memory) for memory in candidates]
    )
    over = [
        (ends, memory)
        for memory, (_, ends) in zip(candidates, related, strict=True)
        if ends >= threshold
    ]
    likeliest = sorted(over, key=lambda end: -end[0])[:MOST_ENDS]
    ending = [memory for n, (ends, memory) in enumerate(likeliest) if n == 0 or ends >= SECOND]
    filled, ended = {(fact.subject, fact.slot) for fact in slots}, {m.id for _, m in over}
    read = [m for m in live if m.slot and ((m.subject, m.slot) in filled or m.id in ended)]
    found: list[str] = []
    for memory in ending:
        whole = memory.slot is None and memory.turn_id is not None
        parts = [part.id for part in read if whole and part.turn_id == memory.turn_id]
        found += parts or [memory.id]
    return tuple(dict.fromkeys(found))


def as_pair(memory: StoredFact) -> tuple[str, str]:
    """A memory as the encoder reads it: the question it answers, and its text."""
    return (memory.asked, memory.text)
