"""Counting: shares of cases with bootstrap intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

BOOTSTRAP_ROUNDS = 2000
BOOTSTRAP_SEED = 20260301


@dataclass(frozen=True, slots=True)
class Share:
    """A share of cases with its 95% bootstrap interval.

    Attributes:
        hits: Cases that count.
        total: All cases.
        low: Lower end of the interval, 0..1.
        high: Upper end of the interval, 0..1.
    """

    hits: int
    total: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """``hits / total``; 0 when there are no cases."""
        return self.hits / self.total if self.total else 0.0

    def __str__(self) -> str:
        """As people read it: "93.1% (27/29; 84.0-100.0)"."""
        if not self.total:
            return "no cases"
        return (
            f"{self.value:.1%} ({self.hits}/{self.total}; "
            f"{100 * self.low:.1f}-{100 * self.high:.1f})"
        )


def share(outcomes: Sequence[bool]) -> Share:
    """A share with a percentile bootstrap interval (Efron 1979), seeded so that runs agree.

    Args:
        outcomes: One truth value a case.
    """
    total, hits = len(outcomes), sum(outcomes)
    if not total:
        return Share(0, 0, 0.0, 0.0)
    # Resampling n truth values is a binomial draw, so the rows themselves need no resampling.
    import numpy as np

    draws = np.random.default_rng(BOOTSTRAP_SEED).binomial(total, hits / total, BOOTSTRAP_ROUNDS)
    low, high = np.percentile(draws / total, (2.5, 97.5))
    return Share(hits, total, float(low), float(high))


def percentile(ascending: Sequence[float], part: float) -> float:
    """The smallest value that at least ``part`` of the values do not exceed (nearest rank).

    Args:
        ascending: Values in ascending order, at least one.
        part: Between 0 (exclusive) and 1.
    """
    return ascending[max(math.ceil(part * len(ascending)), 1) - 1]
