"""Which older memories a turn ends: the encoder's pair head asked about the nearest candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bmo.turn import DialogueContext, StoredFact

if TYPE_CHECKING:
    from bmo.judge import Judge

MOST_PAIRS = 12
"""Candidates that are asked about: a dozen pairs take well under 100 ms."""


@dataclass(frozen=True, slots=True)
class Edits:
    """What a turn does to known memories.

    Attributes:
        ends: Ids of the memories that are no longer true.
    """

    ends: tuple[str, ...] = ()


def edits_of(
    said: tuple[str, str], context: DialogueContext, encoder: Judge, threshold: float
) -> Edits:
    """Asks what a turn does to each candidate.

    Args:
        said: The assistant's words before, and the turn.
        context: Has the candidates, nearest first.
        encoder: The local model; without a pair head nothing is asked.
        threshold: Probability from which a memory ends.

    Raises:
        JudgeUnavailable: The model failed.
    """
    candidates = context.candidates[:MOST_PAIRS]
    if not encoder.has_pairs or not candidates:
        return Edits()
    related = encoder.relate(said, [as_pair(memory) for memory in candidates])
    return Edits(
        tuple(
            memory.id
            for memory, (_, ends) in zip(candidates, related, strict=True)
            if ends >= threshold
        )
    )


def as_pair(memory: StoredFact) -> tuple[str, str]:
    """A memory as the encoder reads it: the question it answers, and its text."""
    return (memory.asked, memory.text)
