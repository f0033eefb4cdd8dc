"""Shares, intervals, and what counts as a fact that was found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.evaluation.annotated import is_fact
from bmo.evaluation.metrics import percentile, share
from bmo.replay.scenario import ExpectedFact
from bmo.turn import Fact

pytestmark = pytest.mark.unit


def test_a_share_of_nothing_is_no_cases() -> None:
    assert str(share([])) == "no cases"
    assert share([]).value == 0.0


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_the_interval_holds_the_share_and_repeats(outcomes: list[bool]) -> None:
    one, two = share(outcomes), share(outcomes)
    assert one == two
    assert 0.0 <= one.low <= one.value <= one.high <= 1.0
    assert one.hits == sum(outcomes)


def test_a_fact_is_found_in_the_words_with_what_they_answer() -> None:
    memory = Fact("me and ines", "relationships", said="me and ines", asked="Who is cooking?")
    for contains, lacks, found in (
        (("ines",), (), True),
        (("COOKING", "ines"), (), True),
        (("ines", "tom"), (), False),
        (("ines",), ("me and",), False),
        (("ines",), ("cooking",), True),  # what the assistant said is not the memory's fault
    ):
        wanted = ExpectedFact(category="relationships", contains=contains, lacks=lacks)
        assert is_fact(memory, wanted) == found, (contains, lacks)


def test_a_fact_counts_with_its_category() -> None:
    wanted = ExpectedFact(category="relationships", contains=("Sam",))
    memory = Fact(text="Has a brother named Sam", category="personal_facts")
    assert not is_fact(memory, wanted)
    assert is_fact(memory, wanted, with_category=False)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50).map(sorted))
def test_a_percentile_is_one_of_the_values_and_not_below_the_median(values: list[float]) -> None:
    assert percentile(values, 0.95) in values
    assert percentile(values, 0.95) >= percentile(values, 0.5)
    assert percentile(values, 1.0) == values[-1]
