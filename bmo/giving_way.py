"""Threads of memory give the interpreter to whoever waits for it, the event loop above all.

A thread that waits for Python's interpreter asks for it after ``sys.setswitchinterval``, and gets
it. Its clock starts anew whenever the interpreter is given away meanwhile, though: sqlite3 does
that at every statement and every row, for microseconds, and has it back before the one who waits is
awake. So a thread that reads one statement after the other keeps an event loop waiting for 5 to 40
ms, and no switch interval changes that. Here it stays away for long enough, every half
millisecond, that the other one has it.

Only threads that said so (``giving_way``) do it, memory's. None of them waits for another: a lock
that let one compute at a time made recalls late and stalls no shorter (``benchmarks.event_loop``).
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

KEPT_S = 0.0005
"""How long a thread goes on before it gives way, in seconds."""

AWAY_S = 0.00002
"""How long it stays away; the system makes some 70 us of it, and a thread is awake after 50."""

TAKEN_S = 0.0003
"""When it is back later than that, in seconds, somebody computes: it stays away once more."""

TIMES = 2
"""How often it stays away at most: with five, an event loop that always has work to do lets recall
miss its deadline."""

ROWS = 100
"""Rows read at a time; a row takes 3 us."""


class _Thread(threading.local):
    """Since when this thread has had the interpreter; infinite for one that does not give way."""

    since = float("inf")


_thread = _Thread()


@contextmanager
def giving_way() -> Iterator[None]:
    """Inside of it this thread gives way to others wherever ``give_way`` is called."""
    before, _thread.since = _thread.since, time.perf_counter()
    try:
        yield
    finally:
        _thread.since = before


def give_way() -> None:
    """Lets others have the interpreter if this thread has had it for long."""
    now = time.perf_counter()
    if now - _thread.since > KEPT_S:
        for _ in range(TIMES):
            time.sleep(AWAY_S)
            before, now = now, time.perf_counter()
            if now - before < TAKEN_S:
                break
        _thread.since = now


class YieldingConnection(sqlite3.Connection):
    """A connection whose cursors give way at every statement."""

    def cursor(self, factory: Any = None) -> Any:
        """A cursor that gives way."""
        return super().cursor(factory or _YieldingCursor)


class _YieldingCursor(sqlite3.Cursor):
    def execute(self, *args: Any) -> Any:
        give_way()
        return super().execute(*args)

    def fetchall(self) -> Any:
        rows: list[Any] = []
        while some := super().fetchmany(ROWS):
            rows += some
            give_way()
        return rows
