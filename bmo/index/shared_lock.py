"""Many readers or one that replaces what they read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SharedLock:
    """Any number of shared holders, or one exclusive one; a waiting exclusive one goes first."""

    def __init__(self) -> None:
        """Nobody holds it."""
        self._changed = threading.Condition()
        self._shared = 0
        self._exclusive_waiting = 0
        self._exclusive = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Holds it together with other shared holders."""
        with self._changed:
            self._changed.wait_for(lambda: not self._exclusive and not self._exclusive_waiting)
            self._shared += 1
        try:
            yield
        finally:
            with self._changed:
                self._shared -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Holds it alone."""
        with self._changed:
            self._exclusive_waiting += 1
            self._changed.wait_for(lambda: not self._exclusive and not self._shared)
            self._exclusive_waiting -= 1
            self._exclusive = True
        try:
            yield
        finally:
            with self._changed:
                self._exclusive = False
                self._changed.notify_all()
