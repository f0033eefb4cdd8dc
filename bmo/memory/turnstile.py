"""One thread of memory computes at a time: the event loop must not stand in a queue.

Python runs one thread at a time, and one that waits gets its turn only when those before it had
theirs: with ten threads of memory at work, the event loop waits for up to ten of them, each for as
long as ``SWITCH_INTERVAL_S``. More of them do not compute faster either, so rules, recall, what is
read of the ledger and what is written to it go through here one by one. Replies wait for what is
read, so what else is written, and the index that follows, goes behind it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from bmo.giving_way import giving_way

HANGS_S = 0.05
"""How long one call may be inside, in seconds, before it is taken to hang: nobody waits for it any
more. Most are out after 5 ms, the longest after 20."""

PATIENCE_S = 0.1
"""Longest wait in line, in seconds, however fast it moves: what waits for a server inside (a ledger
or an index over the network) does not compute, and must not hold up replies one after the other."""

BEHIND_S = 0.03
"""Longest wait behind those who go first, in seconds: then it goes in line with them. The
recorder's thread does one thing after the other, and behind what can wait stands the turn that the
next recall waits for."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Turnstile:
    """Lets one call through at a time. Safe from any thread, never from the event loop's."""

    def __init__(self, hangs_s: float = HANGS_S, patience_s: float = PATIENCE_S) -> None:
        """Nobody is inside.

        Args:
            hangs_s: Longest stay; when the one inside is there for longer, all who wait and
                whoever comes until it is out go past.
            patience_s: Longest wait; who waited so long goes past alone.
        """
        self._hangs_s = hangs_s
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._inside = False
        self._since = 0.0
        self._hangs = False
        self._first: deque[threading.Lock] = deque()
        self._behind: deque[threading.Lock] = deque()

    def through(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same call, made when no other is inside, or when waiting took too long."""
        return self._guarding(call, self._first)

    def behind(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same, but whoever waits to go ``through`` goes first, for a while."""
        return self._guarding(call, self._behind)

    def _guarding(self, call: Callable[_P, _T], queue: deque[threading.Lock]) -> Callable[_P, _T]:
        def passed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            alone = self._enter(queue)
            try:
                with giving_way():
                    return call(*args, **kwargs)
            finally:
                if alone:
                    self._leave()

        return passed

    def _enter(self, queue: deque[threading.Lock]) -> bool:
        """Waits for its turn; False when it goes past."""
        came = time.monotonic()
        with self._lock:
            if self._hangs:
                return False
            if not self._inside:
                self._inside, self._since = True, came
                return True
            turn = threading.Lock()
            turn.acquire()
            queue.append(turn)
            left_s = self._left_s(came, came)
            if queue is self._behind:
                left_s = min(left_s, BEHIND_S)
        while not turn.acquire(timeout=max(left_s, 0.0)):
            with self._lock:
                if turn not in queue:
                    return True  # it was let in at the last moment
                now = time.monotonic()
                if queue is self._behind and now >= came + BEHIND_S:
                    queue.remove(turn)
                    queue = self._first
                    queue.append(turn)
                left_s = self._left_s(came, now)
                if left_s <= 0.0:
                    queue.remove(turn)
                    self._hangs |= now >= self._since + self._hangs_s
                    return False
        return True

    def _left_s(self, came: float, now: float) -> float:
        """How much longer one who came then waits for the one who is inside now, in seconds."""
        return min(self._since + self._hangs_s, came + self._patience_s) - now

    def _leave(self) -> None:
        """Lets in who is next; whoever hung does so no more."""
        with self._lock:
            self._hangs = False
            queue = self._first or self._behind
            if queue:
                self._since = time.monotonic()
                queue.popleft().release()
            else:
                self._inside = False
