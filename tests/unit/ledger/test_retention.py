from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bmo.ledger.retention import expiry_of
from tests.fakes.speaker import fact

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("when", "over"),
    [
        ("2026-06-09", datetime(2026, 6, 11, tzinfo=UTC)),
        ("2026-12", datetime(2027, 1, 2, tzinfo=UTC)),
        ("2026", datetime(2027, 1, 2, tzinfo=UTC)),
        ("2026-06-09T10:00:00", datetime(2026, 6, 11, tzinfo=UTC)),
        ("--06-09", None),
        ("2026-02-31", None),
        ("soon", None),
        (None, None),
    ],
)
def test_dated_goals_are_over_a_day_after(when: str | None, over: datetime | None) -> None:
    assert expiry_of(fact("Runs a race", "goals", when=when)) == over


def test_facts_of_the_present_are_never_over() -> None:
    assert expiry_of(fact("Was born in 1990", when="1990")) is None


def test_the_gates_word_wins() -> None:
    end = datetime(2026, 1, 1, tzinfo=UTC)
    assert expiry_of(fact("x", "goals", when="2030", expires_at=end)) == end
