from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.encoder import EncoderBusy, EncoderQueue

pytestmark = pytest.mark.unit


@pytest.fixture
def line() -> Iterator[EncoderQueue]:
    queue = EncoderQueue(2)
    yield queue
    queue.shutdown(cancel_futures=True)


def test_a_full_line_refuses_and_takes_again_when_there_is_room(line: EncoderQueue) -> None:
    gate = threading.Event()
    waiting = [line.submit(gate.wait, 30) for _ in range(2)]
    with pytest.raises(EncoderBusy, match="BMO_JUDGE_QUEUE"):
        line.submit(int)
    gate.set()
    assert all(call.result(30) for call in waiting)
    assert line.submit(int, "7").result(30) == 7


def test_a_call_given_up_on_is_never_made(line: EncoderQueue) -> None:
    gate, made = threading.Event(), threading.Event()
    first = line.submit(gate.wait, 30)
    late = line.submit(made.set)
    assert late.cancel()
    assert line.limit == 2 and line.submit(int, "3") is not None  # its place is free at once
    gate.set()
    first.result(30)
    line.shutdown()
    assert not made.is_set()


def test_an_error_frees_its_place(line: EncoderQueue) -> None:
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            line.submit(divmod, 1, 0).result(30)


@settings(deadline=None, max_examples=30)
@given(limit=st.integers(1, 8), calls=st.integers(0, 20))
def test_never_more_in_line_than_the_limit(limit: int, calls: int) -> None:
    queue, gate = EncoderQueue(limit), threading.Event()
    taken = []
    for _ in range(calls):
        try:
            taken.append(queue.submit(gate.wait, 30))
        except EncoderBusy:
            break
    assert len(taken) == min(limit, calls)
    gate.set()
    assert all(call.result(30) for call in taken)
    queue.shutdown()
