"""A bounded queue before the encoder: what cannot be asked in time is not asked at all.

One thread asks the encoder, as one inference session answers. Turns wait in line for it; when the
line is full a turn is refused at once, and when its caller has given up it is dropped unasked, so
a burst of turns costs the rules' word for some of them and never a growing delay for all.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class EncoderBusy(RuntimeError):
    """The line before the encoder is full; the caller keeps the rules' word."""


class EncoderQueue(Executor):
    """Runs calls one after the other on a thread of its own; refuses them when too many wait.

    Works wherever an executor does (``loop.run_in_executor``). Cancelling a call that has not
    begun takes it out of the line.
    """

    def __init__(self, limit: int) -> None:
        """An empty queue; ``shutdown`` ends its thread.

        Args:
            limit: Most calls that wait or run at one time.
        """
        self.limit = limit
        self._places = BoundedSemaphore(limit)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="bmo-encoder")

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        """Puts a call in line.

        Raises:
            EncoderBusy: ``limit`` calls are in line already.
            RuntimeError: The queue was shut down.
        """
        if not self._places.acquire(blocking=False):
            raise EncoderBusy(
                f"{self.limit} turns wait for the encoder already: raise BMO_JUDGE_QUEUE, or run "
                "fewer sessions in a process."
            )
        try:
            asked = self._pool.submit(fn, *args, **kwargs)
        except BaseException:
            self._places.release()
            raise
        asked.add_done_callback(lambda _: self._places.release())
        return asked

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the thread after what is in line, or without it (``cancel_futures``)."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)
