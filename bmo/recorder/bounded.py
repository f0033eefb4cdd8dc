"""Calls that are given up when they do not come back: an index must not hold up the ledger."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import Any, TypeVar

from bmo.giving_way import giving_way
from bmo.index import IndexUnavailable

MEANWHILE_S = 2.0
"""How often somebody who waits may do something else, in seconds."""

_T = TypeVar("_T")


class BoundedCalls:
    """Makes calls on a thread of its own, one at a time, and waits so long and no longer.

    While a call that was given up still hangs, others are refused at once: what hangs is the
    index (its lock, its server), and a second thread would hang beside the first.
    """

    def __init__(self, name: str) -> None:
        """Starts no thread yet."""
        self._name = name
        self._work: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._hanging: Future[Any] | None = None

    def call(
        self, fn: Callable[[], _T], timeout_s: float, meanwhile: Callable[[], None] | None = None
    ) -> _T:
        """Calls ``fn`` and returns what it returns, or raises what it raises. From one thread.

        Args:
            fn: The call.
            timeout_s: Longest wait for it, in seconds.
            meanwhile: Done on the caller's thread each ``MEANWHILE_S`` of the wait.

        Raises:
            IndexUnavailable: It did not come back in time, or an earlier one still has not.
        """
        if self._hanging is not None and not self._hanging.done():
            raise IndexUnavailable("the index still has not answered an earlier call: it hangs.")
        if self._thread is None:
            # A daemon: a call that never comes back must not keep the process alive.
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        deadline = time.monotonic() + timeout_s
        self._hanging = done = Future[_T]()
        self._work.put((fn, done))
        while not wait([done], min(MEANWHILE_S, max(deadline - time.monotonic(), 0.0))).done:
            if time.monotonic() >= deadline:
                raise IndexUnavailable(f"the index did not answer within {timeout_s:g} s.")
            if meanwhile is not None:
                meanwhile()
        return done.result()

    def close(self) -> None:
        """Ends the thread, as soon as it is free."""
        self._work.put(None)

    @giving_way()
    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            fn, done = work
            try:
                done.set_result(fn())
            except BaseException as error:  # whoever waits gets it
                done.set_exception(error)
