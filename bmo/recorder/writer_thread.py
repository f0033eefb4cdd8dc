"""The one thread that writes: jobs in the order they came, the recorder's own work between."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from bmo import telemetry
from bmo.giving_way import giving_way
from bmo.recorder.upkeep import Upkeep

RETRY_LEDGER_S = 1.0
"""How long a turn waits that the database would not take."""

KEPT_JOBS = 30_000
"""Writes kept in memory while the database takes nothing: turns, replies, recalls."""

REFUSED_TRIES = 3
"""How often a write is tried that the database refuses for what it says: what stands behind it
must not wait for ever."""

JOBS_PER_BATCH = 20
"""Jobs done before the outbox gets its turn under load."""

LAST_DRAIN_S = 10.0
"""Longest the thread works on after it was told to end, in seconds."""

_PAUSE_S = 0.1

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


@dataclass(slots=True)
class Job:
    """Something to do on the thread.

    Attributes:
        run: Does it.
        keep: It is tried again when the database would not take it.
        future: Gets what it returns or raises.
        tries: How often it was begun.
    """

    run: Callable[[], Any]
    keep: bool = False
    future: Future[Any] = field(default_factory=Future)
    tries: int = 0


class WriterThread:
    """Does jobs one after the other until it is closed. ``put`` is safe from any thread."""

    def __init__(self, upkeep: Upkeep) -> None:
        """Starts the thread, which does ``upkeep`` while no job waits."""
        self._upkeep = upkeep
        self._queue: SimpleQueue[Job] = SimpleQueue()
        self._deferred: deque[tuple[float, Job]] = deque()
        self._lost = 0  # writes that the ledger took at no time
        self._lock = threading.Lock()
        self._closed = False
        self._refusal: DBAPIError | None = None
        self._damaged = False  # the database is, and waiting mends nothing
        self._thread = threading.Thread(target=self._run, name="bmo-recorder", daemon=True)
        self._thread.start()

    @property
    def deferred(self) -> int:
        """Writes the database would not take yet."""
        return len(self._deferred)

    @property
    def lost(self) -> int:
        """Writes that the database took at no time; known when the thread has ended."""
        return self._lost

    def put(self, run: Callable[[], _T], *, keep: bool = False) -> Future[_T]:
        """Has something done, with ``keep`` until the database takes it; returns at once.

        Whoever gives up waiting for the future gives up the wait and not the job: what a person
        said is written however long the disk takes.

        Raises:
            RuntimeError: It is closed.
        """
        job = Job(run, keep)
        with self._lock:
            if self._closed:
                raise RuntimeError("the recorder is closed; nothing can be recorded any more")
            # From here on ``cancel`` does nothing: asyncio cancels what it waits for.
            job.future.set_running_or_notify_cancel()
            self._queue.put(job)
        waiting = self._queue.qsize()
        if waiting > 1:  # of one job the thread says when it is done: this runs on event loops
            telemetry.note("bmo_recorder_queue", waiting)
        return job.future

    def drain(self, deadline: float) -> bool:
        """Works until nothing is due. On the thread: as a job.

        Returns:
            Whether nothing waits at all.
        """
        self._retry_deferred(due_only=False)
        while self._deferred and not self._damaged and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            self._retry_deferred(due_only=False)
        drained = self._upkeep.drain(deadline)
        return drained and not self._deferred

    def close(self, timeout_s: float) -> bool:
        """Does what was put, and ends; returns whether it was open."""
        with self._lock:
            if self._closed:
                return False
            self._closed = True
        self._queue.put(_STOP)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            logger.error("the recorder did not end in time", extra={"jobs": self._queue.qsize()})
        return True

    # -- on the thread -------------------------------------------------------------------------

    @giving_way()
    def _run(self) -> None:
        self._guarded(self._upkeep.free_leases)
        # Before the first job: a replay's turns, dated months ago, are not old yet.
        self._guarded(self._upkeep.drop_old_words)
        jobs = 0
        while True:
            job = self._next()
            if job is _STOP:
                break
            if job is not None:
                if job.keep and self._deferred:
                    # Behind those that wait: turns are recorded in the order they were said, and
                    # a reply is written to a turn that is there.
                    self._defer(job, self._deferred[-1][0])
                    # Whoever waits for it (a recall does) must not wait until the disk has room.
                    _fail(job.future, self._refusal or RuntimeError("turns before it wait"))
                else:
                    self._do(job)
                jobs += 1
                telemetry.note("bmo_recorder_queue", self._queue.qsize())
            if self._queue.empty() or jobs >= JOBS_PER_BATCH:
                jobs = 0
                self._guarded(self._catch_up)
        self._guarded(lambda: self.drain(time.monotonic() + LAST_DRAIN_S))
        self._lost += len(self._deferred)
        if self._lost:
            # They are nowhere else: whoever reads the log must learn that, and how many.
            logger.error("writes are lost: the ledger took none", extra={"writes": self._lost})
            telemetry.note_fault("ledger")
        self._guarded(self._upkeep.release)

    def _next(self) -> Job | None:
        """The next job, or None when it is time for the thread's own work."""
        wait_s = 0.0
        if self._queue.empty():
            wait_s = RETRY_LEDGER_S if self._deferred else self._upkeep.sleep_s()
        try:
            return self._queue.get(timeout=wait_s)
        except Empty:
            return None

    def _catch_up(self) -> None:
        self._retry_deferred()
        self._upkeep.catch_up()

    def _defer(self, job: Job, due: float) -> None:
        self._deferred.append((due, job))
        if len(self._deferred) > KEPT_JOBS:
            self._deferred.popleft()
            self._lost += 1

    def _do(self, job: Job) -> None:
        job.tries += 1
        try:
            result = job.run()
        except DBAPIError as error:
            if job.keep and job.tries == 1 and _is_over(error):
                self._do(job)
                return
            if self._refusal is None:  # once an outage; a full disk is tried ten times a second
                logger.error(
                    "the ledger did not take a write", extra={"error": type(error.orig).__name__}
                )
            telemetry.note_fault("ledger")
            self._damaged = isinstance(error.orig, sqlite3.DatabaseError) and not isinstance(
                error.orig, sqlite3.OperationalError
            )
            self._refusal = error
            hopeless = isinstance(error, (DataError, IntegrityError)) and job.tries >= REFUSED_TRIES
            if job.keep and not hopeless:
                self._defer(job, time.monotonic() + RETRY_LEDGER_S)
            self._lost += job.keep and hopeless
            _fail(job.future, error)
        except Exception as error:  # the caller gets it; the thread goes on
            logger.error("a recorder job failed", extra={"error": type(error).__name__})
            telemetry.note_fault("recorder")
            _fail(job.future, error)
        else:
            self._damaged = False
            if self._refusal is not None and job.keep:
                self._refusal = None
                logger.warning("the ledger takes writes again", extra={"waiting": self.deferred})
            if not job.future.done():
                job.future.set_result(result)

    def _retry_deferred(self, *, due_only: bool = True) -> None:
        """Tries turns again that the database refused, in order, until it refuses one."""
        while self._deferred:
            if due_only and self._deferred[0][0] > time.monotonic():
                return
            _, job = self._deferred.popleft()
            before = len(self._deferred)
            self._do(job)
            if len(self._deferred) > before:
                # Back to the front: turns are recorded in the order they were said.
                self._deferred.rotate(1)
                return

    def _guarded(self, fn: Callable[[], Any]) -> None:
        try:
            fn()
        except DBAPIError as error:
            # Locked, full, away: it is tried again by itself, and no traceback says more.
            logger.warning(
                "the ledger did not answer",
                extra={"error": f"{type(error.orig).__name__}: {error.orig}"},
            )
            telemetry.note_fault("ledger")
        except Exception as error:  # the thread must live as long as the process
            logger.error(
                "the recorder's own work failed",
                extra={"error": type(error).__name__},
                exc_info=error,
            )
            telemetry.note_fault("recorder")


_STOP = Job(lambda: None)


def _is_over(error: DBAPIError) -> bool:
    """Whether the next try is as good as any: the connection broke, or another one was in the way.

    PostgreSQL rolls one of two transactions back that wait for each other (40P01), or that cannot
    be put in an order (40001).
    """
    state = getattr(error.orig, "sqlstate", None)
    return error.connection_invalidated or state in ("40001", "40P01")


def _fail(future: Future[Any], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
