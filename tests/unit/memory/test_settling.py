"""Which waiting turns go to a model together, and in which order."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ledger import Aim, WaitingTurn
from bmo.memory.settling import ALONE_AFTER
from bmo.memory.settling import next_batch as batch_of
from bmo.turn import Turn
from tests.fakes.speaker import START

pytestmark = pytest.mark.unit


def waits(
    number: int,
    promise: float | None = 0.5,
    *,
    session: str = "s1",
    aim: Aim = "held",
    attempts: int = 0,
) -> WaitingTurn:
    at = START + timedelta(minutes=number)
    turn = Turn(text=f"turn {number}", session_id=session, at=at, id=f"{number:04}")
    return WaitingTurn(turn, aim, promise, attempts, at, "")


BATCH_TURNS = 8


def next_batch(waiting: list[WaitingTurn]) -> list[WaitingTurn]:
    return batch_of(waiting, BATCH_TURNS)


def ids(batch: list[WaitingTurn]) -> list[int]:
    return [int(one.turn.id) for one in batch]


def test_nothing_waits() -> None:
    assert next_batch([]) == []


def test_the_visit_of_the_most_promising_goes_first_in_the_order_it_was_said() -> None:
    waiting = [waits(1, 0.2), waits(2, 0.9, session="s2"), waits(3, 0.1, session="s2")]
    assert ids(next_batch(waiting)) == [2, 3]


def test_held_turns_go_before_what_is_only_to_be_put_better() -> None:
    waiting = [waits(1, 0.99, aim="polish"), waits(2, 0.1, session="s2")]
    assert ids(next_batch(waiting)) == [2]


def test_who_was_not_judged_comes_last() -> None:
    assert ids(next_batch([waits(1, None), waits(2, 0.01, session="s2")])) == [2]


def test_what_failed_before_goes_alone_and_holds_up_nobody() -> None:
    poison = waits(1, 0.9, attempts=ALONE_AFTER)
    assert ids(next_batch([poison, waits(2, 0.1)])) == [1]
    assert ids(next_batch([waits(1, 0.1, attempts=ALONE_AFTER), waits(2, 0.9), waits(3)])) == [2, 3]


@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(0, 1)),
            st.sampled_from(["s1", "s2", "s3"]),
            st.sampled_from(["held", "polish", "every"]),
            st.integers(0, 5),
        ),
        max_size=40,
    )
)
def test_a_batch_is_one_visits_in_order_and_everything_gets_its_turn(
    many: list[tuple[float | None, str, Aim, int]],
) -> None:
    left = {
        number: waits(number, promise, session=session, aim=aim, attempts=attempts)
        for number, (promise, session, aim, attempts) in enumerate(many)
    }
    while left:
        batch = next_batch(list(left.values()))
        assert 1 <= len(batch) <= BATCH_TURNS
        assert len({one.turn.session_id for one in batch}) == 1
        assert ids(batch) == sorted(ids(batch))
        for one in batch:
            del left[int(one.turn.id)]
