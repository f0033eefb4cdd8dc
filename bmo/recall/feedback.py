"""What a user's feedback does to the weights: small steps, inside bounds, per user.

A memory that a reply used, or that the user called good, moves the weights towards the parts that
brought it; "that's wrong" or a correction right after a recall moves them away. The move is one
step of gradient ascent on the log-odds that a given memory helps, with the parts as features, so
a part that never separates good from bad never moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Final

from bmo.recall.scoring import DEFAULT_WEIGHTS, Weights
from bmo.turn import Kind, ScoreParts

RATE: Final = 0.02
"""Step per judgement."""

LOWEST: Final = 0.5
HIGHEST: Final = 1.5
"""Bounds: share of the default weight that a weight may have."""

_CORRECTIONS: Final = frozenset({"correction", "forget"})


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether one given memory helped.

    Attributes:
        parts: Its score in parts when it was given.
        kind: Its kind.
        helpful: True when the reply used it or the user called it good.
    """

    parts: ScoreParts
    kind: Kind
    helpful: bool


def adjusted(judgements: Iterable[Judgement], start: Weights = DEFAULT_WEIGHTS) -> Weights:
    """The weights after ``judgements``, in the order they came; pure and repeatable.

    Args:
        judgements: Oldest first.
        start: Weights before the first.

    Returns:
        Weights between ``LOWEST`` and ``HIGHEST`` times the defaults.
    """
    weights = {field.name: float(getattr(start, field.name)) for field in fields(Weights)}
    defaults = {
        field.name: float(getattr(DEFAULT_WEIGHTS, field.name)) for field in fields(Weights)
    }
    for judgement in judgements:
        sign = 1.0 if judgement.helpful else -1.0
        for name, amount in _features(judgement).items():
            moved = weights[name] + sign * RATE * defaults[name] * amount
            weights[name] = min(max(moved, LOWEST * defaults[name]), HIGHEST * defaults[name])
    return Weights(**weights)


def _features(judgement: Judgement) -> dict[str, float]:
    """How much each weight had to do with the score, 0..1."""
    parts = judgement.parts
    return {
        "semantic": min(parts.semantic / DEFAULT_WEIGHTS.semantic, 1.0),
        "recency": min(parts.recency / DEFAULT_WEIGHTS.recency, 1.0),
        "domain": min(parts.domain / DEFAULT_WEIGHTS.domain, 1.0),
        judgement.kind: 1.0,
    }


def used_in(reply: str, texts: Sequence[str], shared: int = 2) -> list[int]:
    """Positions of the memories that a reply made use of.

    Args:
        reply: The assistant's words.
        texts: Canonical texts of the memories given for it.
        shared: Content words that reply and memory must share; a memory with fewer must be there
            whole.

    Returns:
        Positions in ``texts``.
    """
    from bmo.ledger.values import content_words

    said = content_words([reply])
    used: list[int] = []
    for position, text in enumerate(texts):
        words = content_words([text])
        if words and len(words & said) >= min(shared, _telling(words)):
            used.append(position)
    return used


def _telling(words: frozenset[str]) -> int:
    return max(1, len(words) - 1)


def counts_against(signals: Sequence[str]) -> bool:
    """Whether the user's next turn says that what was recalled is wrong.

    Args:
        signals: The write gate's signals of the turn after a recall.
    """
    return bool(_CORRECTIONS & set(signals))
