"""What a user's feedback does to the weights: small steps, inside bounds, per user.

A memory that a reply used, or that the user called good, moves the weights towards the parts that
brought it; "that's wrong" or a correction right after a recall moves them away. The move is one
step of gradient ascent on the log-odds that a given memory helps, with the parts as features, so
a part that never separates good from bad never moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from bmo.recall.scoring import DEFAULT_WEIGHTS, Weights
from bmo.turn import Decision, Fact, Recall, StoredFact

if TYPE_CHECKING:
    from bmo.ledger import JudgedItem

RATE: Final = 0.02
"""Step per judgement."""

LOWEST: Final = 0.5
HIGHEST: Final = 1.5
"""Bounds: share of the default weight that a weight may have."""

REMEMBERED: Final = 200
"""Judgements that count, the newest of a user."""

_SHARED: Final = ("semantic", "recency", "domain")

_CORRECTIONS: Final = frozenset({"correction", "forget"})


def adjusted(judgements: Iterable[JudgedItem]) -> Weights:
    """The weights after ``judgements``, in the order they came; pure and repeatable.

    Args:
        judgements: Oldest first.

    Returns:
        Weights between ``LOWEST`` and ``HIGHEST`` times the defaults. Semantic, recency and
        domain keep their sum: most judgements are good ones, and weights that all grew would
        only lower the threshold.
    """
    defaults: dict[str, float] = asdict(DEFAULT_WEIGHTS)
    weights = dict(defaults)
    for judgement in judgements:
        sign = 1.0 if judgement.helpful else -1.0
        for name, amount in _features(judgement).items():
            weights[name] += sign * RATE * defaults[name] * amount
        whole = sum(defaults[name] for name in _SHARED) / sum(weights[name] for name in _SHARED)
        for name in _SHARED:
            weights[name] *= whole
        for name, default in defaults.items():
            weights[name] = min(max(weights[name], LOWEST * default), HIGHEST * default)
    return Weights(**weights)


def _features(judgement: JudgedItem) -> dict[str, float]:
    """How much each weight had to do with the score, 0..1."""
    parts = judgement.parts
    return {
        "semantic": min(parts.semantic / DEFAULT_WEIGHTS.semantic, 1.0),
        "recency": min(parts.recency / DEFAULT_WEIGHTS.recency, 1.0),
        "domain": min(parts.domain / DEFAULT_WEIGHTS.domain, 1.0),
        judgement.kind: 1.0,
    }


def counts_against(given: Recall, reply: str, turn: str, decision: Decision) -> list[str]:
    """Which memories of a recall the user's next turn says are wrong.

    Args:
        given: What was recalled for the turn before.
        reply: What the assistant said then.
        turn: The user's words now.
        decision: The write gate's word on them.

    Returns:
        Ids of facts. A correction or a wish to forget that names something is about the memories
        it names; one that names none ("that's wrong") about those the reply used, or all.
    """
    from bmo.ledger import words_used

    if not _CORRECTIONS & set(decision.signals):
        return []
    named = [
        memory.fact.id
        for memory in given.memories
        if any(_about(memory.fact, fact) for fact in decision.facts)
        or (decision.facts and words_used(memory.fact, turn))
    ]
    if named or any(fact.slot for fact in decision.facts):
        return named
    used = [memory.fact.id for memory in given.memories if words_used(memory.fact, reply)]
    return used or [memory.fact.id for memory in given.memories]


def _about(known: StoredFact, said: Fact) -> bool:
    same_slot = said.slot is not None and (known.subject, known.slot) == (said.subject, said.slot)
    return same_slot or known.id in said.ends
