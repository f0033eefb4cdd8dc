"""Calls that are given up when they do not come back: an index must not hold up the ledger."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from bmo.giving_way import alike
from bmo.index import IndexUnavailable

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

    def call(self, fn: Callable[[], _T], timeout_s: float) -> _T:
        """Calls ``fn`` and returns what it returns, or raises what it raises. From one thread.

        Raises:
            IndexUnavailable: It did not come back in time, or an earlier one still has not.
        """
        if self._hanging is not None and not self._hanging.done():
            raise IndexUnavailable("the index still has not answered an earlier call: it hangs.")
        if self._thread is None:
            # A daemon: a call that never comes back must not keep the process alive.
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        done: Future[_T] = Future()
        self._work.put((alike(fn), done))
        try:
            return done.result(timeout_s)
        except TimeoutError:
            if done.done():
                raise  # the call's own
            self._hanging = done
            raise IndexUnavailable(f"the index did not answer within {timeout_s:g} s.") from None

    def close(self) -> None:
        """Ends the thread, as soon as it is free."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            fn, done = work
            try:
                done.set_result(fn())
            except BaseException as error:  # whoever waits gets it
                done.set_exception(error)
