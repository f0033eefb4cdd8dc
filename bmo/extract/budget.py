"""How much may be asked: calls and tokens an hour, and a pause after failures."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

HOUR_S = 3600.0

Clock = Callable[[], float]
"""Seconds that only go up."""


class Budget:
    """Calls and tokens allowed in any hour. Safe from any thread.

    A call is counted when it begins; its tokens when they are known, so that the last call of an
    hour may go over.
    """

    def __init__(self, calls: int, tokens: int, clock: Clock = time.monotonic) -> None:
        """A budget of ``calls`` and ``tokens`` an hour; 0 of either allows nothing."""
        self._allowed = (calls, tokens)
        self._clock = clock
        self._lock = threading.Lock()
        self._used: tuple[deque[tuple[float, int]], ...] = (deque(), deque())

    def wait_s(self) -> float | None:
        """Seconds until another call is allowed; None for never (a budget of 0)."""
        with self._lock:
            return self._wait()

    def take(self) -> bool:
        """Counts a call if one is allowed; returns whether it is."""
        with self._lock:
            if self._wait() != 0.0:
                return False
            self._used[0].append((self._clock(), 1))
            return True

    def spend(self, tokens: int) -> None:
        """Counts the tokens of a call."""
        with self._lock:
            self._used[1].append((self._clock(), tokens))

    def _wait(self) -> float | None:
        if min(self._allowed) <= 0:
            return None
        now, wait = self._clock(), 0.0
        for allowed, used in zip(self._allowed, self._used, strict=True):
            while used and now - used[0][0] >= HOUR_S:
                used.popleft()
            left = sum(amount for _, amount in used)
            for at, amount in used:
                if left < allowed:
                    break
                wait = max(wait, at + HOUR_S - now)
                left -= amount
        return wait


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
        """A call failed.

        Args:
            reason: Why.
            retry_after_s: How long the service asks to be left alone.
            lasting: Asking again cannot help before somebody acts.
        """
        with self._lock:
            self._failures += 1
            self.reason = reason
            pause = self.LAST_S if lasting else retry_after_s or 0.0
            if self._failures >= self.FAILURES:
                doubled = min(self._failures - self.FAILURES, 10)
                pause = max(pause, self.FIRST_S * 2**doubled)
            self._open_until = max(self._open_until, self._clock() + min(pause, self.LAST_S))
