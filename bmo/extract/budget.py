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
        self.calls = calls
        self.tokens = tokens
        self._clock = clock
        self._lock = threading.Lock()
        self._made: deque[float] = deque()
        self._spent: deque[tuple[float, int]] = deque()

    def wait_s(self) -> float | None:
        """Seconds until another call is allowed; None for never (a budget of 0)."""
        with self._lock:
            return self._wait()

    def take(self) -> bool:
        """Counts a call if one is allowed; returns whether it is."""
        with self._lock:
            if self._wait() != 0.0:
                return False
            self._made.append(self._clock())
            return True

    def spend(self, tokens: int) -> None:
        """Counts the tokens of a call."""
        with self._lock:
            self._spent.append((self._clock(), tokens))

    def _wait(self) -> float | None:
        if self.calls <= 0 or self.tokens <= 0:
            return None
        now = self._clock()
        while self._made and now - self._made[0] >= HOUR_S:
            self._made.popleft()
        while self._spent and now - self._spent[0][0] >= HOUR_S:
            self._spent.popleft()
        wait = 0.0
        if len(self._made) >= self.calls:
            wait = self._made[len(self._made) - self.calls] + HOUR_S - now
        left = sum(tokens for _, tokens in self._spent)
        for at, tokens in self._spent:
            if left < self.tokens:
                break
            wait = max(wait, at + HOUR_S - now)
            left -= tokens
        return wait


class Circuit:
    """Leaves an extractor alone that fails: after some failures for a while, then for longer.

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
        self._pause_s = self.FIRST_S
        self._open_until = 0.0

    def wait_s(self) -> float:
        """Seconds until a call is let through; 0 for now."""
        with self._lock:
            return max(0.0, self._open_until - self._clock())

    def succeeded(self) -> None:
        """A call gave a usable answer."""
        with self._lock:
            self._failures, self._pause_s, self._open_until = 0, self.FIRST_S, 0.0
            self.reason = ""

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
            pause = min(retry_after_s or 0.0, self.LAST_S)
            if lasting:
                pause = self.LAST_S
            elif self._failures >= self.FAILURES:
                pause = max(pause, self._pause_s)
                self._pause_s = min(self._pause_s * 2, self.LAST_S)
            self._open_until = max(self._open_until, self._clock() + pause)
