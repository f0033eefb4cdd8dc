"""The time of a conversation: the system's clock, but it never goes back.

A device that starts without network may think it is 1970, and a clock that was ahead is set back.
What was said before would then lie in the future: recall would not find it, and what is said now
would look older than what it corrects.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime, timedelta

from bmo.turn import utc_now


class SteadyClock:
    """Tells the time in UTC. Safe from any thread."""

    def __init__(self, not_before: datetime | None) -> None:
        """Starts now, or where the ledger ends if that is later."""
        self._lock = threading.Lock()
        now = utc_now()
        self._last = max(now, not_before) if not_before is not None else now
        self._ticks_s = time.monotonic()
        self.behind = self._last - now
        """How far the system's clock was behind the latest turn at the start."""

    def __call__(self) -> datetime:
        """The present moment, timezone-aware."""
        with self._lock:
            ticks_s = time.monotonic()
            counted = self._last + timedelta(seconds=ticks_s - self._ticks_s)
            now = utc_now()
            # Counted on only from where the clock went back; it is right again once it is later.
            self._last = now if now >= self._last else counted
            self._ticks_s = ticks_s
            return self._last
