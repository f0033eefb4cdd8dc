"""One thread of memory's reading side computes at a time: the event loop must not stand in a queue.

Python runs one thread at a time, and one that waits gets its turn only when those before it had
theirs: with ten threads of memory at work, the event loop waits for up to ten of them, each for as
long as ``SWITCH_INTERVAL_S``. More of them do not compute faster either, so rules, recall and what
is read of the ledger go through here one by one.
"""

from __future__ import annotations

import threading
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
            patience_s: Longest wait; a call that waited so long goes past.
        """
        self._patience_s = patience_s
        self._inside = threading.Lock()

    def through(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same call, made when no other is inside, or when waiting took too long."""

        def passed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            alone = self._inside.acquire(timeout=self._patience_s)
            try:
                return call(*args, **kwargs)
            finally:
                if alone:
                    self._inside.release()

        return passed
