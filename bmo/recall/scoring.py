"""A memory's relevance to a plan, in parts.

The parts and their weights are those of the published relevance-gating design: semantic x .5 +
recency e^(-days/30) x .15 + domain x .15 + min(uses/10, .15) + a boost by kind. The weights are
settings of a user: feedback moves them within bounds (``bmo.recall.feedback``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bmo.turn import RecallPlan, ScoreParts, StoredFact

RECENCY_DAYS: Final = 30.0
USES_CAP: Final = 0.15
USES_SCALE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part counts.

    Attributes:
        semantic: Of the calibrated similarity (0..1).
        recency: Of e^(-days/30).
        domain: Of the domain match (0 or 1).
        hard_rule: Boost of a hard rule, which prevents mistakes.
        policy: Boost of a policy.
        decision: Boost of a decision.
        preference: Boost of a preference.
        fact: Boost of any other fact.
    """

    semantic: float = 0.5
    recency: float = 0.15
    domain: float = 0.15
    hard_rule: float = 0.25
    policy: float = 0.1
    decision: float = 0.1
    preference: float = 0.05
    fact: float = 0.05


DEFAULT_WEIGHTS: Final = Weights()


def score(
    fact: StoredFact,
    plan: RecallPlan,
    similarity: float,
    now: datetime,
    weights: Weights = DEFAULT_WEIGHTS,
) -> ScoreParts:
    """The score of one memory.

    Args:
        fact: The memory.
        plan: What is asked.
        similarity: Calibrated similarity 0..1; 1 for a fact of a slot that the plan names.
        now: The session's moment.
        weights: The user's weights.
    """
    days = max(0.0, (now - (fact.last_used_at or fact.valid_from)).total_seconds() / 86400.0)
    matches = fact.domain is not None and fact.domain in plan.domains
    return ScoreParts(
        semantic=weights.semantic * similarity,
        recency=weights.recency * math.exp(-days / RECENCY_DAYS),
        domain=weights.domain if matches else 0.0,
        usage=min(fact.use_count / USES_SCALE, USES_CAP),
        kind=_boost(fact, weights),
    )


def _boost(fact: StoredFact, weights: Weights) -> float:
    if fact.kind == "hard_rule":
        return weights.hard_rule
    if fact.kind == "policy":
        return weights.policy
    if fact.category == "decisions":
        return weights.decision
    return weights.preference if fact.kind == "preference" else weights.fact
