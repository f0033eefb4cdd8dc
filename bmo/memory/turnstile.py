"""One thread of memory computes at a time: the event loop must not stand in a queue.

Python runs one thread at a time, and one that waits gets its turn only when those before it had
theirs: with ten threads of memory at work, the event loop waits for up to ten of them, each for as
long as ``SWITCH_INTERVAL_S``. More of them do not compute faster either, so rules, recall, what is
read of the ledger and what is written to it go through here one by one. Without it the loop stalls
three times as long (``bmo bench``), and without ``giving_way`` seven times.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from bmo.giving_way import giving_way

PATIENCE_S = 0.05
"""Longest wait, in seconds: what waits for a server inside (a ledger or an index over the network)
does not compute, and must not hold up replies."""

HANGS_S = 0.1
"""How long one call may be inside, in seconds, before it is taken to hang: nobody waits for it any
more."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Turnstile:
    """Lets one call through at a time. Safe from any thread, never from the event loop's."""

    def __init__(self, patience_s: float = PATIENCE_S, hangs_s: float = HANGS_S) -> None:
        """Nobody is inside; see the constants."""
        self._patience_s = patience_s
        self._hangs_s = hangs_s
        self._place = threading.Lock()
        self._since = 0.0

    def through(self, call: Callable[_P, _T]) -> Callable[_P, _T]:
        """The same call, made when no other is inside, or when waiting took too long."""

        def passed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            hangs_in_s = self._since + self._hangs_s - time.monotonic()
            alone = self._place.acquire(timeout=max(0.0, min(self._patience_s, hangs_in_s)))
            try:
                if alone:
                    self._since = time.monotonic()
                with giving_way():
                    return call(*args, **kwargs)
            finally:
                if alone:
                    self._place.release()

        return passed
