"""Clocks of an event loop: whose processor time its callbacks take, and when garbage is collected.

All are exact where a sample of stacks is not: of a stall of 6 ms a watchdog gets one to three
looks, and one look that falls into memory's code would make all of it memory's.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import math
import os
import threading
import time
from asyncio.events import Handle
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from bmo.agent.background import Background
from bmo.agent.conversation import ConversationMemory

KEPT = 4096
"""Spans kept: more than any beat has callbacks."""

_HANDED_OVER = ("_read_from_self", "_set_state", "_call_set_state")
"""What brings another thread's answer to the loop. Here all of it is memory's."""


@dataclass(slots=True)
class Span:
    """Some work, by the clock and by the processor, in seconds.

    Attributes:
        began: ``time.perf_counter`` at its begin.
        ended: The same at its end; infinite while it goes on.
        spent: Processor time of its thread.
    """

    began: float
    ended: float = float("inf")
    spent: float = 0.0

    def within(self, start: float, end: float) -> float:
        """Share of it, by the clock, between two moments."""
        overlap = min(self.ended, end) - max(self.began, start)
        return overlap / (self.ended - self.began) if overlap > 0.0 else 0.0


def spent_within(spans: Iterable[Span], start: float, end: float) -> float:
    """Processor seconds that spans took between two moments."""
    return sum(span.spent * span.within(start, end) for span in tuple(spans))


Place = Literal["framework", "memory", "beside"]
"""Where a collection ran: on the loop in the framework's code or in memory's, or on a thread
beside, which held the loop up."""


@dataclass(slots=True)
class Collection(Span):
    """A full garbage collection.

    Attributes:
        place: Where it ran.
        queued: Seconds its thread stood in the machine's queue meanwhile, and all others with it.
    """

    place: Place = "beside"
    queued: float = 0.0


class LoopClock:
    """Times every callback of the running loop, and what of it is memory's.

    A task's step is memory's when its coroutine is; the framework's hooks, events and nodes call
    memory through ``Background.guarded``, ``through_hook`` and ``before_model``, which are timed
    inside of the framework's own.

    Attributes:
        callbacks: Everything the loop ran lately.
        memorys: What of it ran in memory's code; a part of a callback or all of it.
        inside: Whether memory's code runs on the loop now.
        asleep_until: Until when the loop last asked the system to let it sleep. The system is asked
            in whole milliseconds, rounded up: up to one of them is nobody's doing.
    """

    def __init__(self) -> None:
        """Counts nothing yet; to be made on the loop's thread."""
        self.callbacks: deque[Span] = deque(maxlen=KEPT)
        self.memorys: deque[Span] = deque(maxlen=KEPT)
        self.inside = 0
        self.asleep_until = 0.0
        self.thread = threading.get_ident()

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Counts as long as the block runs."""
        clock, run, guarded = self, Handle._run, Background.guarded
        now, processor, identity = time.perf_counter, time.thread_time, threading.get_ident
        callbacks, memorys, thread = self.callbacks.append, self.memorys.append, self.thread
        patched: list[tuple[Any, str, Any]] = [
            (ConversationMemory, name, getattr(ConversationMemory, name))
            for name in ("through_hook", "before_model")
        ]

        # Written out: it runs ten thousand times a second, and what it takes is in every figure.
        def timed_run(handle: Handle) -> None:
            if identity() != thread:
                return run(handle)
            clock.inside = int(_is_memorys(handle))
            began, spent = now(), processor()
            try:
                run(handle)
            finally:
                span = Span(began, now(), processor() - spent)
                callbacks(span)
                if clock.inside:
                    memorys(span)
                    clock.inside = 0

        def timed_guarded(*args: Any) -> Any:
            with clock.memory():
                return guarded(*args)

        selector: Any = getattr(asyncio.get_running_loop(), "_selector", None)
        select: Any = getattr(selector, "select", None)

        def timed_select(timeout: float | None = None) -> Any:
            if timeout is not None and timeout > 0.0:
                clock.asleep_until = now() + math.ceil(timeout * 1e3) * 1e-3
            return select(timeout)

        for owner, name, call in patched:
            setattr(owner, name, self._stepwise(call))
        patched += [(Handle, "_run", run), (Background, "guarded", guarded)]
        for owner, name, call in (
            (Handle, "_run", timed_run),
            (Background, "guarded", timed_guarded),
        ):
            setattr(owner, name, call)
        if select is not None:
            selector.select = timed_select
        try:
            yield
        finally:
            if select is not None:
                del selector.select
            for owner, name, call in patched:
                setattr(owner, name, call)

    def forget(self) -> None:
        """Forgets what was counted so far, so that looking through it takes nothing."""
        self.callbacks.clear()
        self.memorys.clear()

    @contextlib.contextmanager
    def memory(self) -> Iterator[None]:
        """What runs inside is memory's."""
        if self.inside or threading.get_ident() != self.thread:
            yield
            return
        self.inside += 1
        try:
            with self._span(self.memorys):
                yield
        finally:
            self.inside -= 1

    @contextlib.contextmanager
    def _span(self, into: deque[Span]) -> Iterator[None]:
        span = Span(time.perf_counter())
        spent = time.thread_time()
        try:
            yield
        finally:
            span.spent = time.thread_time() - spent
            span.ended = time.perf_counter()
            into.append(span)

    def _stepwise(self, call: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
        """A coroutine function of memory's that the framework awaits, each step counted."""

        @functools.wraps(call)
        async def timed(*args: Any, **kwargs: Any) -> Any:
            return await _Steps(self, call(*args, **kwargs))

        return timed


class _Steps:
    """Awaits a coroutine and counts what each of its steps takes as memory's."""

    def __init__(self, clock: LoopClock, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._clock = clock
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        thrown: BaseException | None = None
        while True:
            try:
                with self._clock.memory():
                    if thrown is None:
                        waits = self._coroutine.send(None)
                    else:
                        waits = self._coroutine.throw(thrown)
            except StopIteration as end:
                return end.value
            thrown = None
            try:
                yield waits
            except BaseException as error:  # a cancellation too goes to the coroutine
                thrown = error


def _is_memorys(handle: Handle) -> bool:
    callback: Any = handle._callback  # type: ignore[attr-defined]
    task = getattr(callback, "__self__", None)
    if isinstance(task, asyncio.Task):
        code = getattr(task.get_coro(), "cr_code", None)
        return code is not None and is_memorys_file(code.co_filename)
    return getattr(callback, "__name__", "") in _HANDED_OVER


@functools.cache
def is_memorys_file(path: str) -> bool:
    """Whether code is memory's. The replay room's recogniser stands for a framework's plugin."""
    return "/bmo/" in path and "/bmo/replay/" not in path


class Collections:
    """Full garbage collections, from their begin: every thread stands still meanwhile.

    They are noted when they begin. Who notes only the end is too late: that is Python code, and the
    loop, which has been waiting for the interpreter, may get it first.

    Attributes:
        spans: The latest.
    """

    def __init__(self, clock: LoopClock, lasted_ms: list[float]) -> None:
        """Watches nothing yet.

        Args:
            clock: Of the loop.
            lasted_ms: Gets the milliseconds of processor time of each.
        """
        self.spans: deque[Collection] = deque(maxlen=KEPT)
        self._lasted_ms = lasted_ms
        self._clock = clock
        self._thread_clock = 0
        self._spent = 0.0
        self._queue = QueueClock()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Notes them as long as the block runs."""
        gc.callbacks.append(self._note)
        try:
            yield
        finally:
            gc.callbacks.remove(self._note)

    def lasted(self, start: float, end: float, place: Place | None = None) -> float:
        """Seconds of collections between two moments; of one that goes on, so far.

        Args:
            start: As of ``time.perf_counter``.
            end: The same.
            place: Only those that ran there; None: all.
        """
        total = 0.0
        for span in tuple(self.spans):
            if place is None or span.place == place:
                ended = span.ended
                if ended == float("inf"):
                    spent = time.clock_gettime(self._thread_clock) - self._spent
                    ended = span.began + spent + self._queue() - span.queued
                total += max(min(ended, end) - max(span.began, start), 0.0)
        return total

    def _note(self, phase: str, info: dict[str, int]) -> None:
        if info["generation"] != 2:
            return
        if phase == "start":
            place: Place = "beside"
            if threading.get_ident() == self._clock.thread:
                place = "memory" if self._clock.inside else "framework"
            self._queue = QueueClock()
            self._thread_clock = time.pthread_getcpuclockid(threading.get_ident())
            waited, self._spent = self._queue(), time.thread_time()
            self.spans.append(Collection(time.perf_counter(), place=place, queued=waited))
        else:
            span = self.spans[-1]
            span.spent = time.thread_time() - self._spent
            span.queued = self._queue() - span.queued
            span.ended = span.began + span.spent + span.queued
            self._lasted_ms.append(span.spent * 1000)


class QueueClock:
    """Seconds that a thread has stood in the machine's queue; 0 where nobody counts."""

    def __init__(self) -> None:
        """Of the thread that makes it; any thread may read it."""
        path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError:
            self._file = -1

    def __call__(self) -> float:
        """So far."""
        if self._file < 0:
            return 0.0
        return int(os.pread(self._file, 64, 0).split()[1]) / 1e9

    def __del__(self) -> None:
        """Lets go of the system's file."""
        if self._file >= 0:
            os.close(self._file)
