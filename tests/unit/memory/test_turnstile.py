"""One call at a time, and what hangs holds up nobody for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bmo.memory.turnstile import Turnstile

pytestmark = pytest.mark.unit

LONG_S = 30.0


@contextmanager
def one_inside(turnstile: Turnstile) -> Iterator[None]:
    """Somebody is inside until the end."""
    entered, go = threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        go.wait(LONG_S)

    inside = threading.Thread(target=turnstile.through(stay), daemon=True)
    inside.start()
    assert entered.wait(LONG_S)
    try:
        yield
    finally:
        go.set()
        inside.join(LONG_S)


def test_calls_go_one_by_one() -> None:
    turnstile = Turnstile(LONG_S, LONG_S)
    inside: list[int] = []
    most: list[int] = []

    def stay() -> None:
        inside.append(1)
        time.sleep(0)  # whoever else could come in now would
        most.append(len(inside))
        inside.pop()

    def come_often() -> None:
        for _ in range(50):
            turnstile.through(stay)()

    threads = [threading.Thread(target=come_often, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert most == [1] * 400


@pytest.mark.parametrize(("patience_s", "hangs_s"), [(0.01, LONG_S), (LONG_S, 0.01)])
def test_nobody_waits_for_long(patience_s: float, hangs_s: float) -> None:
    turnstile = Turnstile(patience_s, hangs_s)
    with one_inside(turnstile):
        started = time.monotonic()
        assert turnstile.through(lambda: "past")() == "past"
        assert time.monotonic() - started < LONG_S
    assert turnstile.through(lambda: "in turn")() == "in turn"


def test_a_call_that_raises_lets_the_next_one_in() -> None:
    turnstile = Turnstile(LONG_S, LONG_S)

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        turnstile.through(fail)()
    assert turnstile.through(lambda: True)()
