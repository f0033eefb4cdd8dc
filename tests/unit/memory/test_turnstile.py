"""One call at a time, readers first, and what hangs holds up nobody for long."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from bmo.memory.turnstile import Turnstile

pytestmark = pytest.mark.unit

LONG_S = 30.0


def begun(call: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    return thread


def waiting(turnstile: Turnstile, number: int) -> None:
    """Until so many calls stand before it."""
    while len(turnstile._first) + len(turnstile._behind) < number:
        threading.Event().wait(0.001)


def test_calls_go_one_by_one_and_readers_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bmo.memory.turnstile.BEHIND_S", LONG_S)
    turnstile = Turnstile(LONG_S, LONG_S)
    entered, go = threading.Event(), threading.Event()
    order: list[str] = []
    inside: list[int] = []

    def hold() -> None:
        entered.set()
        go.wait(LONG_S)

    def say(word: str) -> None:
        inside.append(1)
        assert len(inside) == 1
        order.append(word)
        inside.pop()

    threads = [begun(turnstile.through(hold))]
    assert entered.wait(LONG_S)
    for number, (word, kind) in enumerate(
        (
            ("write", turnstile.behind),
            ("read", turnstile.through),
            ("write again", turnstile.behind),
            ("read again", turnstile.through),
        )
    ):
        passed = kind(say)
        threads.append(begun(lambda passed=passed, word=word: passed(word)))  # type: ignore[misc]
        waiting(turnstile, number + 1)
    go.set()
    for thread in threads:
        thread.join(LONG_S)
    assert order == ["read", "read again", "write", "write again"]


def test_what_hangs_inside_is_passed() -> None:
    turnstile = Turnstile(0.01, LONG_S)
    entered, go = threading.Event(), threading.Event()

    def hang() -> None:
        entered.set()
        go.wait(LONG_S)

    hanging = begun(turnstile.through(hang))
    assert entered.wait(LONG_S)
    assert turnstile.through(lambda: "past")() == "past"
    hangs: list[bool] = [turnstile._hangs]
    assert turnstile.behind(lambda: "past too")() == "past too"
    go.set()
    hanging.join(LONG_S)
    hangs.append(turnstile._hangs)
    assert hangs == [True, False], "who came while it hung must not wait again"
    assert turnstile.behind(lambda: "in turn")() == "in turn"
    assert not turnstile._inside


def test_who_waited_for_long_goes_past_alone() -> None:
    turnstile = Turnstile(hangs_s=LONG_S, patience_s=0.01)
    entered, go = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        go.wait(LONG_S)

    holding = begun(turnstile.through(hold))
    assert entered.wait(LONG_S)
    assert turnstile.through(lambda: "past")() == "past"
    assert not turnstile._hangs, "the one inside is slow, and the line is for others still"
    go.set()
    holding.join(LONG_S)
    assert not turnstile._inside


def test_who_waited_behind_for_long_goes_in_line() -> None:
    turnstile = Turnstile(LONG_S, LONG_S)
    entered, go = threading.Event(), threading.Event()
    order: list[str] = []

    def hold() -> None:
        entered.set()
        go.wait(LONG_S)

    threads = [begun(turnstile.through(hold))]
    assert entered.wait(LONG_S)
    threads.append(begun(turnstile.behind(lambda: order.append("write"))))
    while not turnstile._first:  # it has moved there
        threading.Event().wait(0.001)
    threads.append(begun(turnstile.through(lambda: order.append("read"))))
    waiting(turnstile, 2)
    go.set()
    for thread in threads:
        thread.join(LONG_S)
    assert order == ["write", "read"]


def test_a_call_that_raises_lets_the_next_one_in() -> None:
    turnstile = Turnstile(LONG_S, LONG_S)

    def fail() -> None:
        raise ValueError("no")

    for kind in (turnstile.through, turnstile.behind):
        with pytest.raises(ValueError, match="no"):
            kind(fail)()
    assert turnstile.through(lambda: True)()
