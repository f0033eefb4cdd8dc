"""A pause after failures: a model service that fails is left alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Clock = Callable[[], float]
"""Seconds that only go up."""


class Circuit:
    """Leaves a model alone that fails: after some failures for a while, then for longer.

    After the pause one call is let through; when it fails too, the next pause is twice as long.
    """

    FAILURES = 3
    FIRST_S = 30.0
    LAST_S = 3600.0

    def __init__(self, clock: Clock = time.monotonic) -> None:
        """A closed circuit: calls go through."""
        self.reason = ""
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until = 0.0

    def wait_s(self) -> float:
        """Seconds until a call is let through; 0 for now."""
        return max(0.0, self._open_until - self._clock())

    def succeeded(self) -> None:
        """A call gave a usable answer."""
        with self._lock:
            self._failures, self._open_until, self.reason = 0, 0.0, ""

    def failed(self, reason: str, *, retry_after_s: float | None, lasting: bool) -> None:
        """A call failed."""
        with self._lock:
            self._failures += 1
            self.reason = reason
            pause = self.LAST_S if lasting else retry_after_s or 0.0
            if self._failures >= self.FAILURES:
                doubled = min(self._failures - self.FAILURES, 10)
                pause = max(pause, self.FIRST_S * 2**doubled)
            self._open_until = max(self._open_until, self._clock() + min(pause, self.LAST_S))
