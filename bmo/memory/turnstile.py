"""One thread of memory computes at a time: the event loop must not stand in a queue.

Python runs one thread at a time, and one that waits gets its turn only when those before it had
theirs: with ten threads of memory at work, the event loop waits for up to ten of them, each for as
long as ``SWITCH_INTERVAL_S``. More of them do not compute faster either, so rules, recall, what is
read of the ledger and what is written to it go through here one by one. Replies wait for what is
read, so what else is written, and the index that follows, goes behind it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

PATIENCE_S = 0.02
"""Longest wait before a turnstile, in seconds: what hangs inside holds up nobody for longer."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Turnstile:
    """Lets one call through at a time. Safe from any thread, never from the event loop's."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        """Nobody is inside.

        Args:
            patience_s: Longest wait; a call that waited so long goes past, and so does whoever
                comes until the one inside is out: it hangs.
        """
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._inside = False
        self._hangs = False
        self._first: deque[threading.Lock] = deque()
        self._behind: deque[threading.Lock] = deque()

    def through(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same call, made when no other is inside, or when waiting took too long."""
        return self._guarding(call, self._first)

    def behind(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same, but whoever waits to go ``through`` goes first."""
        return self._guarding(call, self._behind)

    def _guarding(self, call: Callable[_P, _T], queue: deque[threading.Lock]) -> Callable[_P, _T]:
        def passed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            alone = self._enter(queue)
            try:
                return call(*args, **kwargs)
            finally:
                if alone:
                    self._leave()

        return passed

    def _enter(self, queue: deque[threading.Lock]) -> bool:
        """Waits for its turn; False when it goes past."""
        with self._lock:
            if self._hangs:
                return False
            if not self._inside:
                self._inside = True
                return True
            turn = threading.Lock()
            turn.acquire()
            queue.append(turn)
        if turn.acquire(timeout=self._patience_s):
            return True
        with self._lock:
            if turn not in queue:
                return True  # it was let in at the last moment
            queue.remove(turn)
            self._hangs = True
            return False

    def _leave(self) -> None:
        """Lets in who is next; whoever hung does so no more."""
        with self._lock:
            self._hangs = False
            queue = self._first or self._behind
            if queue:
                queue.popleft().release()
            else:
                self._inside = False
