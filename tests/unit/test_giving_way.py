"""A thread that has the interpreter again and again lets others have it, where it said so."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from bmo import giving_way as room
from bmo.giving_way import YieldingConnection, give_way, giving_way

pytestmark = pytest.mark.unit


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was stayed away, each time; threads of other tests sleep as they will."""
    slept: list[float] = []
    asleep = time.sleep

    def sleep(seconds: float) -> None:
        (slept.append if seconds == room.AWAY_S else asleep)(seconds)

    monkeypatch.setattr(time, "sleep", sleep)
    return slept


def after_long() -> None:
    """The thread has had the interpreter for long."""
    room._thread.since -= 2 * room.KEPT_S


def test_only_who_said_so_gives_way(away: list[float]) -> None:
    give_way()
    with giving_way():
        after_long()
        give_way()
    give_way()
    assert away == [room.AWAY_S]


def test_a_thread_keeps_the_interpreter_for_a_while(
    away: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "KEPT_S", 60.0)
    with giving_way():
        give_way()
        assert away == []
        room._thread.since -= 61.0
        give_way()
        give_way()
    assert away == [room.AWAY_S], "its time began anew"


def test_where_somebody_computes_it_stays_away_again_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    clock = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += 2 * room.TAKEN_S

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    with giving_way():
        clock[0] += 1.0
        give_way()
    assert len(slept) == room.TIMES


def test_statements_are_moments_to_give_way_and_read_what_they_always_did(
    away: list[float], tmp_path: Path
) -> None:
    connection = sqlite3.connect(tmp_path / "f", factory=YieldingConnection)
    try:
        connection.execute("CREATE TABLE t (n)")
        connection.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(250)])
        with giving_way():
            after_long()
            rows = connection.cursor().execute("SELECT n FROM t ORDER BY n").fetchall()
        assert rows == [(n,) for n in range(250)]
        assert connection.cursor().execute("SELECT n FROM t WHERE n < 0").fetchall() == []
        assert away
    finally:
        connection.close()
