"""Which older memories a turn ends, and what of them is still true.

The encoder's pair head is asked about the nearest candidates, and of one that is over which of its
words are. Most memories hold more than one fact, and most changes are of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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

STAYS: Final = 0.6
"""A clause stays if the mean P(over) of its pieces is under this share of the surest clause's. Of
memories that end in part, in conversations that the head did not learn from, 46% of the clauses
that are still true stay then, and 10% of those that are over; of memories that end as a whole 8% of
the clauses."""

LEAST_REST: Final = 2
"""Words of the shortest rest that is worth keeping."""

_BORDER = re.compile(
    r"[,.;!?:–—]+(?:\s+|$)|\s+(?=(?:and|but|so|then|und|aber|et|mais|y|pero|e)\s)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Edits:
    """What a turn does to older memories.

    Attributes:
        ends: Ids of those that are no longer true as they stand, the likeliest first.
        rests: Of those of which a part is still true, the id and that part of the words.
    """

    ends: tuple[str, ...] = ()
    rests: tuple[tuple[str, str], ...] = ()


def edits_of(
    said: tuple[str, str], context: DialogueContext, encoder: Encoder, threshold: float
) -> Edits:
    """The candidates that are no longer true by a turn, and what of them stays.

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
        return Edits()
    asked, text = said
    # What the assistant tells may quote a memory, which every candidate then seems to concern.
    turn = (asked if "?" in asked else "", text)
    related = encoder.relate(turn, [as_pair(memory) for memory in candidates])
    over = [
        (ends, memory)
        for memory, (_, ends) in zip(candidates, related, strict=True)
        if ends >= threshold
    ]
    likeliest = sorted(over, key=lambda end: -end[0])[:MOST_ENDS]
    ended = [one for n, (ends, one) in enumerate(likeliest) if n == 0 or ends >= SECOND]
    rests = [(one.id, _rest(turn, one, encoder)) for one in ended]
    return Edits(tuple(one.id for one in ended), tuple(rest for rest in rests if rest[1]))


def _rest(turn: tuple[str, str], memory: StoredFact, encoder: Encoder) -> str:
    """The clauses of an ended memory that are still true, as they stand, or "". The surest goes."""
    clauses = list(_clauses(memory.text))
    if memory.slot is not None or len(clauses) < 2:
        return ""
    pieces = encoder.over(turn, as_pair(memory))
    odds: list[float] = []
    for begin, end in clauses:
        own = [chance for place, chance in pieces if begin <= place < end]
        odds.append(sum(own) / len(own) if own else 1.0)  # what the model does not read goes
    least = STAYS * max(odds)
    kept = [memory.text[b:e] for (b, e), p in zip(clauses, odds, strict=True) if p < least]
    rest = "".join(kept).strip().rstrip(",;:").strip()
    return rest if len(rest.split()) >= LEAST_REST else ""


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    """Where each clause begins and ends, its mark included; one word alone joins the next."""
    begin = 0
    for border in _BORDER.finditer(text):
        if len(text[begin : border.end()].split()) > 1:
            yield begin, border.end()
            begin = border.end()
    if text[begin:].strip():
        yield begin, len(text)


def as_pair(memory: StoredFact) -> tuple[str, str]:
    """A memory as the encoder reads it: the question it answers, and its text."""
    return (memory.asked, memory.text)
