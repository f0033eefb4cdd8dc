"""Memory's work beside a conversation: tasks that are kept, calls that cannot fail outwards.

Nothing of memory may reach the framework as an error: an exception in the hook loses the user's
turn (no reply, not in history), one in an event handler is printed and forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from bmo import telemetry

logger = logging.getLogger("bmo.agent")

_T = TypeVar("_T")


@contextmanager
def contained(part: str) -> Iterator[None]:
    """Lets no error of memory out: it is logged and counted, and the conversation goes on."""
    try:
        yield
    except Exception:
        logger.exception("memory failed and the conversation goes on", extra={"part": part})
        telemetry.note_fault(part)


class Background:
    """Tasks and guarded calls of one conversation."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._tasks: set[asyncio.Task[Any]] = set()

    def guarded(self, part: str, call: Callable[..., _T], *args: Any) -> _T | None:
        """Calls memory's code; None when it raised (see ``contained``)."""
        with contained(part):
            return call(*args)

    def start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Runs something beside the conversation and keeps a reference to it."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.debug("a memory task failed", extra={"error": repr(task.exception())})
