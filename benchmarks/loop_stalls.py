"""How late an event loop comes, and whose doing it was.

A heartbeat on the loop says how late it came. What the time went into is told by clocks, so that a
busy machine is not taken for a slow program:

- *on the loop*: processor time of the loop's own thread. Whose is told by its stack, which a
  watchdog thread looks at while the beat is late (``faulthandler`` would not need the interpreter
  for it, and crashes on frames that run);
- *in the machine's queue*: Linux counts for each thread how long it stood ready without a
  processor (elsewhere 0);
- *held up by other threads*: the rest of the time, no more of it than the processor time that the
  process's other threads used meanwhile (one of them held the interpreter), without what models
  computed outside of the interpreter;
- *collecting garbage*: a full collection stops every thread, whoever's turn it came in. It walks
  through the framework's objects as well as memory's, and is shown apart.

The last is memory's part, with what ran on the loop in its own code. A process without memory shows
what the framework alone does.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, Literal

BEAT_S = 0.002
LOOK_S = 0.003
"""So late a beat must be for the stacks to be looked at, in seconds."""

LOOK_EVERY_S = 0.001

BUCKETS_MS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)

Whose = Literal["memory", "framework"]

_OWNERS: tuple[tuple[Whose, str], ...] = (("memory", "/bmo/"), ("framework", "/livekit/"))
"""The fake recogniser of the replay room stands for a framework's plugin."""

_WAITS = frozenset({"wait", "_worker", "select", "get", "acquire", "_wait_for_tstate_lock"})


@dataclass(frozen=True, slots=True)
class Beat:
    """One beat that came late, in milliseconds.

    Attributes:
        late: How late.
        loop: Processor time of the loop's thread meanwhile.
        queue: How long the loop's thread stood in the machine's queue.
        held: How long other threads of the process kept it from running.
        collecting: How much of it was a full garbage collection.
        share: Share of looks at the loop's thread that found it in memory's code.
        where: The line of BMO or of the framework it was in first, or "".
        beside: What other threads of memory were at.
    """

    late: float
    loop: float
    queue: float
    held: float
    collecting: float
    share: float
    where: str
    beside: tuple[str, ...]

    @property
    def memorys(self) -> float:
        """Memory's part."""
        return max(self.held + self.share * self.loop - self.collecting, 0.0)


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
    """Processor time of what computes outside of the interpreter, in seconds.

    Attributes:
        spent: So far.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self.spent = 0.0
        self._lock = threading.Lock()

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, counted."""

        def counted(*args: Any, **kwargs: Any) -> Any:
            began = time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                with self._lock:
                    self.spent += time.thread_time() - began

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
        self._looks: list[bool] = []
        self._first: tuple[str, tuple[str, ...]] = ("", ())
        self._ended = threading.Event()

    @contextlib.asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Beats as long as the block runs."""
        self._loop_thread = threading.get_ident()
        dog = threading.Thread(target=self._look, name="watchdog", daemon=True)
        dog.start()
        with _collections(self._into.collections):
            beating = asyncio.ensure_future(self._beat())
            try:
                yield
            finally:
                beating.cancel()
                self._ended.set()
                await asyncio.to_thread(dog.join)

    async def _beat(self) -> None:
        queue, models = _QueueClock(), self._models
        while True:
            waited, loop, every = queue(), time.thread_time(), time.process_time() - models.spent
            collected = len(self._into.collections)
            self._looks, self._first = [], ("", ())
            due = self._due = time.perf_counter() + BEAT_S
            await asyncio.sleep(BEAT_S)
            late = (time.perf_counter() - due) * 1000
            loop = (time.thread_time() - loop) * 1000
            others = max((time.process_time() - models.spent - every) * 1000 - loop, 0.0)
            waited = (queue() - waited) * 1000
            self._into.count += 1
            if late > BUCKETS_MS[0]:
                held = min(max(late - loop - waited, 0.0), others)
                share = sum(self._looks) / len(self._looks) if self._looks else 0.0
                self._into.late.append(
                    Beat(
                        late,
                        loop,
                        waited,
                        held,
                        sum(self._into.collections[collected:]),
                        share,
                        *self._first,
                    )
                )

    def _look(self) -> None:
        """On the watchdog's thread: looks at the stacks while a beat is late."""
        while not self._ended.wait(LOOK_EVERY_S):
            if time.perf_counter() > self._due + LOOK_S:
                self._note_stacks()

    def _note_stacks(self) -> None:
        stacks = sys._current_frames()
        whose, where = _whose(stacks[self._loop_thread])
        if not self._looks:
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            beside = [
                f"{names.get(ident, '?')} in {_whose(frame)[1]}"
                for ident, frame in stacks.items()
                if ident not in (self._loop_thread, threading.get_ident())
                and frame.f_code.co_name not in _WAITS
            ]
            self._first = (where, tuple(beside))
        self._looks.append(whose == "memory")


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


def _whose(innermost: FrameType) -> tuple[Whose, str]:
    """Who called what a thread is in: the innermost line of BMO or of the framework."""
    frame: FrameType | None = innermost
    while frame is not None:
        file = frame.f_code.co_filename
        for whose, mark in _OWNERS:
            if mark in file and "/bmo/replay/" not in file:
                short = file.rpartition(mark)[2]
                line = f"{mark.strip('/')}/{short}:{frame.f_lineno} {frame.f_code.co_name}"
                return whose, line
        frame = frame.f_back
    return "framework", f"{Path(innermost.f_code.co_filename).name} {innermost.f_code.co_name}"


class _QueueClock:
    """Seconds this thread has stood in the machine's queue; 0 where nobody counts."""

    def __init__(self) -> None:
        path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
        try:
            self._file = os.open(path, os.O_RDONLY)
        except OSError:
            self._file = -1

    def __call__(self) -> float:
        if self._file < 0:
            return 0.0
        return int(os.pread(self._file, 64, 0).split()[1]) / 1e9

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)


@contextlib.contextmanager
def _collections(into: list[float]) -> Iterator[None]:
    """Times full garbage collections: every thread stands still meanwhile."""
    began = 0.0

    def note(phase: str, info: dict[str, int]) -> None:
        nonlocal began
        if info["generation"] == 2:
            if phase == "start":
                began = time.thread_time()
            else:
                into.append((time.thread_time() - began) * 1000)

    gc.callbacks.append(note)
    try:
        yield
    finally:
        gc.callbacks.remove(note)
