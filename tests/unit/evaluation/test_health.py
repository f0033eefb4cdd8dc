"""The arithmetic of drift, growth and corrected rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.evaluation.health import (
    drift_check,
    fallback_check,
    growth_check,
    rules_check,
)
from bmo.ledger.statistics import RuleRecord, population_stability

pytestmark = pytest.mark.unit

counts = st.tuples(*[st.integers(0, 10_000)] * 3)


@given(counts, counts)
def test_the_index_is_symmetric_and_never_negative(
    old: tuple[int, int, int], new: tuple[int, int, int]
) -> None:
    assert population_stability(old, new) >= 0
    assert population_stability(old, new) == pytest.approx(population_stability(new, old))


@given(counts)
def test_the_index_of_equal_counts_is_zero(same: tuple[int, int, int]) -> None:
    assert population_stability(same, same) == 0


def test_the_index_of_a_known_case() -> None:
    # Shares 50/50 against 80/20: (.8-.5)ln(.8/.5) + (.2-.5)ln(.2/.5) = .416 for large counts.
    assert population_stability((50_000, 50_000), (80_000, 20_000)) == pytest.approx(
        0.416, abs=1e-3
    )


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ((300, 100, 600), (31, 9, 60), "ok"),
        ((300, 100, 600), (5, 5, 190), "fail"),
        ((300, 100, 600), (0, 0, 49), "ok"),  # too few turns to say anything
        ((30, 10, 20), (22, 14, 24), "ok"),  # chance explains it
        ((3000, 1000, 6000), (160, 100, 740), "warn"),
    ],
)
def test_drift(old: tuple[int, ...], new: tuple[int, ...], status: str) -> None:
    names = ("allow", "hold", "discard")
    found = drift_check(dict(zip(names, old, strict=True)), dict(zip(names, new, strict=True)))
    assert found.status == status, found.found


@pytest.mark.parametrize(
    ("failed", "turns", "status"),
    [(0, 0, "ok"), (0, 100, "ok"), (2, 100, "warn"), (1, 10, "warn"), (5, 100, "fail")],
)
def test_fallbacks(failed: int, turns: int, status: str) -> None:
    assert fallback_check("x", failed, turns).status == status


@pytest.mark.parametrize(
    ("before", "now", "status"),
    [
        ((10, 100), (12, 100), "ok"),
        ((10, 100), (25, 100), "warn"),
        ((10, 100), (45, 100), "fail"),
        ((0, 100), (45, 100), "ok"),  # nothing to compare with
        ((10, 100), (20, 20), "ok"),
    ],
)
def test_growth(before: tuple[int, int], now: tuple[int, int], status: str) -> None:
    assert growth_check(*before, *now).status == status


def test_a_rule_that_gets_corrected_is_named() -> None:
    good, few = RuleRecord("likes", 50, 1, 0), RuleRecord("rare", 4, 4, 0)
    assert rules_check([good, few]).status == "ok"
    watched = rules_check([good, RuleRecord("works_as", 10, 1, 1)])
    assert watched.status == "warn"
    assert "works_as 20% of 10" in watched.found
    bad = rules_check([good, RuleRecord("named", 10, 5, 0)])
    assert bad.status == "fail"
    assert "likes" not in bad.found
