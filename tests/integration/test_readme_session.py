"""The session in README.md is what the program prints today."""

from __future__ import annotations

import pytest

from tests.readme_session import shown, starts, typed_again, without_times

pytestmark = pytest.mark.integration


def test_the_session_is_what_the_program_prints() -> None:
    session = shown()
    assert len(starts(session)) == 2
    assert sum(map(len, starts(session))) >= 10
    again = typed_again(session)
    assert without_times(again) == without_times(session), (
        "write it anew: python -m tests.readme_session --write"
    )


def test_only_times_dates_and_wrapping_may_differ() -> None:
    one = "  allow · + Is vegan · gate 1.1 ms\n- Is vegan (2026-11-21) on 1 March 2026"
    two = "allow · + Is vegan ·\n gate 33.0 ms - Is vegan (2027-01-02) on 21 November 2026"
    assert without_times(one) == without_times(two)
    assert without_times(one) != without_times(two.replace("vegan", "vegetarian"))
