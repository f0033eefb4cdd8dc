"""How late an event loop comes, and whose doing it was.

A heartbeat on the loop says how late it came. What the time went into is told by clocks, so that a
busy machine is not taken for a slow program:

- *on the loop*: processor time of the loop's own thread since the beat was due. What of it is
  memory's is counted callback by callback (``LoopClock``), and where memory is called from one of
  the framework's, step by step;
- *in the machine's queue*: Linux counts for each thread how long it stood ready without a
  processor (elsewhere 0);
- *held up by other threads*: the rest of the time, no more of it than the processor time that the
  process's other threads used meanwhile (one of them held the interpreter), without what models
  computed outside of the interpreter;
- *collecting garbage*: a full collection stops every thread, whoever's turn it came in. It walks
  through the framework's objects as well as memory's, and is shown apart.

Memory's part is what other threads held up and what ran on the loop in its own code, but for
collections in either. A process without memory shows what the framework alone does. A watchdog
thread looks at the stacks of a late beat, to say where it was (``faulthandler`` would not need the
interpreter for it, and crashes on frames that run).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from benchmarks.loop_clocks import Collections, LoopClock, QueueClock, is_memorys_file, spent_within

BEAT_S = 0.002
LOOK_S = 0.003
"""So late a beat must be for the stacks to be looked at, in seconds."""

LOOK_EVERY_S = 0.001

BUCKETS_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)

_OWNERS = ("/bmo/", "/livekit/")

_WAITS = frozenset({"wait", "_worker", "select", "get", "acquire", "_wait_for_tstate_lock"})


@dataclass(frozen=True, slots=True)
class Beat:
    """One beat that came late, in milliseconds.

    Attributes:
        late: How late.
        loop: Processor time of the loop's thread since the beat was due.
        queue: How long the loop's thread stood in the machine's queue.
        held: How long other threads of the process kept it from running, collecting aside.
        own: What of ``loop`` was memory's code, collecting aside.
        collecting: How much of it was a full garbage collection, whoever's.
        where: The line of BMO or of the framework it was in first, or "".
        beside: What other threads of memory were at.
    """

    late: float
    loop: float
    queue: float
    held: float
    own: float
    collecting: float
    where: str
    beside: tuple[str, ...]

    @property
    def memorys(self) -> float:
        """Memory's part."""
        return self.held + self.own


@dataclass
class Beats:
    """All beats of some time.

    Attributes:
        count: How many, late or not.
        late: Those more than a millisecond late.
        collections: Milliseconds of each garbage collection of the oldest generation.
    """

    count: int = 0
    late: list[Beat] = field(default_factory=list)
    collections: list[float] = field(default_factory=list)


class Models:
    """Processor time of what computes outside of the interpreter, up to now."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._ended = 0.0
        self._running: dict[int, tuple[int, float]] = {}
        self._lock = threading.Lock()

    @property
    def spent(self) -> float:
        """Seconds so far, of calls that still run as well."""
        with self._lock:
            running = tuple(self._running.values())
            return self._ended + sum(time.clock_gettime(clock) - began for clock, began in running)

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, counted."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            thread, began = threading.get_ident(), time.thread_time()
            with self._lock:
                self._running[thread] = time.pthread_getcpuclockid(thread), began
            try:
                return call(*args, **kwargs)
            finally:
                with self._lock:
                    del self._running[thread]
                    self._ended += time.thread_time() - began

        return counted


class Watch:
    """Beats on the running loop, and looks at the stacks when a beat is late."""

    def __init__(self, into: Beats, models: Models | None = None) -> None:
        """Nothing beats yet.

        Args:
            into: Gets the beats.
            models: What is no interpreter's time.
        """
        self._into = into
        self._models = models or Models()
        self._loop_thread = 0
        self._due = float("inf")
        self._looked = False
        self._looking = 0.0
        self._first: tuple[str, tuple[str, ...]] = ("", ())
        self._ended = threading.Event()

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Beats as long as the block runs."""
        self._loop_thread = threading.get_ident()
        dog = threading.Thread(target=self._look, name="watchdog", daemon=True)
        dog.start()
        clock = LoopClock()
        collections = Collections(clock, self._into.collections)
        with clock.counting(), collections.watching():
            beating = asyncio.ensure_future(self._beat(clock, collections))
            try:
                yield
            finally:
                beating.cancel()
                self._ended.set()
                await asyncio.to_thread(dog.join)

    async def _beat(self, clock: LoopClock, collections: Collections) -> None:
        queue, models = QueueClock(), self._models
        while True:
            clock.forget()
            began = time.perf_counter()
            waited, loop, every = queue(), time.thread_time(), time.process_time() - models.spent
            looking = self._looking
            self._looked, self._first = False, ("", ())
            due = self._due = began + BEAT_S
            await asyncio.sleep(BEAT_S)
            now = time.perf_counter()
            due = max(due, min(clock.asleep_until, now))
            self._into.count += 1
            if now - due < BUCKETS_MS[0] / 1000:
                continue
            loop = time.thread_time() - loop
            others = max(time.process_time() - models.spent - every - loop, 0.0)
            waited = queue() - waited
            loop = max(loop - spent_within(clock.callbacks, began, due), 0.0)
            own = spent_within(clock.memorys, due, now)
            looking = self._looking - looking  # the watchdog's, which is no memory's
            held = min(max(now - due - loop - waited, 0.0), others) - looking
            self._into.late.append(
                Beat(
                    late=(now - due) * 1000,
                    loop=loop * 1000,
                    queue=waited * 1000,
                    held=max(held - collections.lasted(due, now, "beside"), 0.0) * 1000,
                    own=max(own - collections.lasted(due, now, "memory"), 0.0) * 1000,
                    collecting=collections.lasted(due, now) * 1000,
                    where=self._first[0],
                    beside=self._first[1],
                )
            )

    def _look(self) -> None:
        """On the watchdog's thread: looks at the stacks while a beat is late."""
        while not self._ended.wait(LOOK_EVERY_S):
            if not self._looked and time.perf_counter() > self._due + LOOK_S:
                self._note_stacks()
            self._looking = time.thread_time()

    def _note_stacks(self) -> None:
        self._looked = True
        stacks = sys._current_frames()
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        beside = [
            f"{names.get(ident, '?')} in {_where(frame)}"
            for ident, frame in stacks.items()
            if ident not in (self._loop_thread, threading.get_ident())
            and frame.f_code.co_name not in _WAITS
        ]
        self._first = (_where(stacks[self._loop_thread]), tuple(beside))


def shown(name: str, beats: Beats, part: Literal["late", "memorys"] = "late") -> str:
    """A row of the table: beats of a thousand by how late they were, and the worst."""
    values = [getattr(beat, part) for beat in beats.late]
    row = f"{name:34}"
    for low, high in zip(BUCKETS_MS, (*BUCKETS_MS[1:], float("inf")), strict=True):
        row += f"{sum(low < value <= high for value in values):9}"
    return f"{row}{max(values, default=0.0):10.1f}{beats.count:10}"


def heading() -> str:
    """The table's first line."""
    row = f"{'beats late by, in ms':34}"
    for low, high in itertools.pairwise(BUCKETS_MS):
        row += f"{f'{low:g}-{high:g}':>9}"
    return f"{row}{f'over {BUCKETS_MS[-1]:g}':>9}{'worst':>10}{'beats':>10}"


def _where(innermost: FrameType) -> str:
    """The innermost line of BMO or of the framework that a thread is in."""
    frame: FrameType | None = innermost
    while frame is not None:
        file = frame.f_code.co_filename
        for mark in _OWNERS:
            if mark in file and (mark != "/bmo/" or is_memorys_file(file)):
                short = file.rpartition(mark)[2]
                return f"{mark.strip('/')}/{short}:{frame.f_lineno} {frame.f_code.co_name}"
        frame = frame.f_back
    return f"{Path(innermost.f_code.co_filename).name} {innermost.f_code.co_name}"
