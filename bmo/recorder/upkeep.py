"""What keeps ledger and index in agreement between two turns, and old words out of the ledger."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.giving_way import giving_way
from bmo.index import EmbedderUnavailable, IndexUnavailable, MemoryIndex
from bmo.ledger import Backlog, Ledger, OutboxOp
from bmo.ledger.statistics import verdict_counts, verdict_drift, windows_of
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.comparing import Comparing
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.turn import utc_now

POLL_S = 2.0
"""Longest the thread sleeps while something waits in the outbox, in seconds."""

IDLE_S = 8.0
"""How often an idle thread looks for what another process put into the outbox, in seconds."""

RETENTION = timedelta(days=1)
"""How often the words of old discarded turns are dropped, by all processes together."""

DRIFT = timedelta(hours=1)
"""How often the drift of the verdicts is measured, by all processes together."""

DRIFT_DAYS, DRIFT_BASELINE_DAYS = 7, 28
"""The latest days, and the days before that they are compared with, as ``bmo health`` has them."""

MODEL_TIMEOUT_S = 60.0
"""Longest wait for Mem0's extraction of a turn, in seconds; then it is tried again later."""

MODEL_FLUSH_S, MODEL_CLOSE_S = 6.0, 2.0
"""How long a flush, and closing, wait for Mem0's extraction, in seconds; the rest goes on later."""

LAST_ERASURES_S = 10.0
"""Longest that closing waits for erased bytes to leave the files, in seconds; else the next start
sees to it."""

LOOK_S = 10.0
"""How often a process looks whether it is time to compare, in seconds."""

BATCH_S = 10.0
"""Longest that closing waits for the batch that is being written, in seconds."""

logger = logging.getLogger(__name__)

_DRIFT_KEY = "verdict_drift"

AT_ONCE: tuple[OutboxOp, ...] = ("add", "update", "delete", "purge")
"""What the recorder's thread applies itself when Mem0's extraction has a thread of its own."""

_RAW: tuple[OutboxOp, ...] = ("raw",)


class Upkeep:
    """The recorder's own work. Used from its thread, where nothing else is said."""

    def __init__(
        self, ledger: Ledger, index: MemoryIndex | None, bounded: BoundedCalls, *, keep_days: int
    ) -> None:
        """Nothing is done yet.

        Args:
            ledger: What is true.
            index: What follows it; None leaves everything for it in the outbox.
            bounded: Gives up calls to the index that hang.
            keep_days: After so many days the words of discarded turns are dropped.
        """
        self._ledger = ledger
        self._index = index
        self._keep_days = keep_days
        self._ops: tuple[OutboxOp, ...] | None = None
        self._worker: OutboxWorker | None = None
        self._rewriting: Background | None = None
        self._repairing: Repairing | None = None
        self._inferring: Background | None = None
        if index is not None:
            if index.inference is not None:
                # A model takes seconds and fails: no turn of another must wait for it.
                self._ops = AT_ONCE
                self._asked = BoundedCalls("bmo-inference-model")
                self._inferring = Background("bmo-inference", self._infer)
            self._worker = OutboxWorker(ledger, index, bounded, ops=self._ops)
            self._rewriting = Background(
                "bmo-recorder-erase", partial(rewrite_files, ledger, index)
            )
            self._repairing = Repairing(ledger, index)
        self._rounds_at = 0.0
        self._backlog: Backlog | None = None
        self._stuck = False  # something is due, and it cannot be done now

    def free_leases(self) -> None:
        """Takes back what a process that died was about to apply."""
        if self._index is not None and self._index.backend != "server":
            # Nobody else can be at work on an embedded store: leases are a dead process's.
            self._ledger.release_outbox()

    def drop_old_words(self) -> None:
        """Drops the words of discarded turns that are too old, if nobody did today.

        It looks at the turns of all users: a call's process must not begin with that.
        """
        if self._ledger.take_round(f"retention {self._keep_days}", RETENTION):
            self._ledger.drop_old_words(self._keep_days)

    def sleep_s(self) -> float:
        """How long there is nothing to do, in seconds; asked right after ``catch_up``."""
        if self._worker is None:
            return IDLE_S
        try:
            due = (self._backlog or self._ledger.backlog(ops=self._ops)).first_due
        except DBAPIError:
            return POLL_S
        if due is None:
            return IDLE_S
        soonest = POLL_S if self._stuck else 0.05
        return min(max((due - utc_now()).total_seconds(), soonest), POLL_S)

    def catch_up(self) -> None:
        """One round of everything that is due."""
        self._backlog = None
        if time.monotonic() >= self._rounds_at:
            self._rounds_at = time.monotonic() + DRIFT.total_seconds()
            self.drop_old_words()
            self._note_drift()
        index, worker = self._index, self._worker
        rewriting, repairing = self._rewriting, self._repairing
        if index is None or worker is None or rewriting is None or repairing is None:
            return
        backlog = self._ledger.backlog(ops=self._ops)
        # Leasing locks out whoever else writes: it is not tried for nothing.
        wanted = bool(index.unavailable) or backlog.is_due(utc_now())
        applied = worker.apply() if wanted else 0
        self._stuck = wanted and not applied
        if applied:
            backlog = self._ledger.backlog(ops=self._ops)
        self._note_backlog(backlog)
        if self._ledger.erasures_to_finish():
            rewriting.start()
        repairing.start()
        if self._inferring is not None and self._raw_is_due():
            self._inferring.start()

    def drain(self, deadline: float) -> bool:
        """Works until nothing is due; what was put off, or left alone for a while, is tried now.

        Returns:
            Whether the outbox is empty.
        """
        if self._worker is not None:
            self._worker.reconnect(at_once=True)
            while self._worker.apply() and time.monotonic() < deadline:
                pass
        return self._ledger.backlog().depth == 0

    def finish_erasures(self, deadline: float) -> None:
        """Waits until the files are rewritten that may hold erased bytes. From any thread."""
        if self._rewriting is not None and self._ledger.erasures_to_finish():
            self._rewriting.start()
            self._rewriting.join(deadline - time.monotonic())

    def finish_inference(self, deadline: float) -> None:
        """Waits for Mem0's extraction of what is due; not for what failed and waits for later."""
        deadline, work = min(deadline, time.monotonic() + MODEL_FLUSH_S), self._inferring
        while work is not None and (work.running or self._raw_is_due()):
            if time.monotonic() >= deadline:
                break
            work.start()
            work.join(min(deadline - time.monotonic(), 0.05))

    def release(self) -> None:
        """Gives the leases of this process back, and sees erasures to their end."""
        if self._repairing is not None:
            self._repairing.stop(BATCH_S)
        if self._inferring is not None:
            # What a model answers later is not lost: its entry is still in the outbox.
            self._inferring.stop(MODEL_CLOSE_S)
            self._asked.close()
        self.finish_erasures(time.monotonic() + LAST_ERASURES_S)
        if self._worker is not None:
            self._worker.release()

    def join(self) -> None:
        """Waits for the thread that rewrites files, which ends when the index is closed."""
        if self._rewriting is not None:
            self._rewriting.join(LAST_ERASURES_S)

    def _infer(self) -> None:
        """Has Mem0 extract what is due, one turn at a time."""
        assert self._index is not None and self._inferring is not None
        worker = OutboxWorker(
            self._ledger, self._index, self._asked, ops=_RAW, timeout_s=MODEL_TIMEOUT_S
        )
        while not self._inferring.stopping.is_set() and worker.apply(limit=1):
            pass
        worker.release()

    def _raw_is_due(self) -> bool:
        return self._ledger.backlog(ops=_RAW).is_due(utc_now())

    def _note_drift(self) -> None:
        """Shows how far the shares of the verdicts moved, if it is more than chance."""
        known = self._ledger.remembered(_DRIFT_KEY)
        if self._ledger.take_round("drift", DRIFT):
            recent, before = windows_of(utc_now(), DRIFT_DAYS, DRIFT_BASELINE_DAYS)
            with self._ledger.reading() as connection:
                index, by_chance = verdict_drift(
                    *(verdict_counts(connection, span) for span in (before, recent))
                )
            measured = str(index if index > by_chance else 0.0)
            self._ledger.exchange(_DRIFT_KEY, known, measured)
            known = measured
        telemetry.note("bmo_verdict_drift", float(known or 0.0))

    def _note_backlog(self, backlog: Backlog) -> None:
        self._backlog = backlog
        oldest = backlog.oldest
        age_s = (utc_now() - oldest).total_seconds() if oldest is not None else 0.0
        telemetry.note("bmo_outbox_depth", backlog.depth)
        telemetry.note("bmo_outbox_oldest_seconds", max(age_s, 0.0))


# -- on threads of its own -------------------------------------------------------------------------


class Background:
    """One kind of work, on a thread that lives as long as it takes. Safe from any thread.

    Attributes:
        stopping: Set when the recorder closes: the work is to end at its next border.
    """

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        """Nothing is done yet.

        Args:
            name: Of the thread.
            work: Returns when there is nothing left to do. What it could not do now it finds
                again when it is started the next time.
        """
        self.stopping = threading.Event()
        self._name = name
        self._work = work
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """Starts the work unless it is being done, or the recorder closes; returns at once."""
        with self._starting:
            if not self.stopping.is_set() and not self.running:
                # A daemon: a store that hangs must not keep the process alive.
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    @property
    def running(self) -> bool:
        """Whether it is being done."""
        return self._thread is not None and self._thread.is_alive()

    def join(self, timeout_s: float) -> None:
        """Waits until what is being done is done."""
        if self._thread is not None:
            self._thread.join(max(timeout_s, 0.0))

    def stop(self, timeout_s: float) -> None:
        """Ends the work at its next border; the rest is done later, or by another process."""
        self.stopping.set()
        self.join(timeout_s)

    def _run(self) -> None:
        try:
            self._work()
        except (IndexUnavailable, EmbedderUnavailable, DBAPIError, OSError) as error:
            logger.warning("work done later", extra={"work": self._name, "error": str(error)})
        except Exception as error:  # on a thread nobody would hear of it
            if self.stopping.is_set():  # what comes late finds ledger and index closed
                return
            logger.exception(
                "work failed", extra={"work": self._name, "error": type(error).__name__}
            )
            telemetry.note_fault("recorder")


def rewrite_files(ledger: Ledger, index: MemoryIndex) -> None:
    """Rewrites the files that may still hold bytes of what was erased, and completes the receipts.

    It takes a second or two for 10,000 memories; no recall waits for it, and a turn only for the
    ledger's part (.1 s for 10,000).
    """
    # Again while there is more: what was erased meanwhile may be in the new files.
    while ids := ledger.erasures_to_finish():
        stale = index.drop_stale()
        with ThreadPoolExecutor(1, "bmo-recorder-vacuum") as beside:
            vacuumed = beside.submit(ledger.vacuum)
            index_files = int(index.compact())
            ledger_files = int(vacuumed.result())
        done = {
            "index_files": index_files,
            "ledger_files": ledger_files,
            "stale_collections": stale,
        }
        servers = {"postgresql": ledger_files, "qdrant": index_files}
        ledger.finish_erasures(
            ids,
            {place: count for place, count in done.items() if count},
            [server for server, rewritten in servers.items() if not rewritten],
        )


class _Stopped(Exception):
    """The recorder closes."""


class Repairing(Background):
    """Mends the index, which is compared with the ledger every now and then."""

    def __init__(self, ledger: Ledger, index: MemoryIndex) -> None:
        """Compares nothing yet."""
        super().__init__("bmo-recorder-repair", self._compare)
        self._index = index
        self._comparing = Comparing(ledger, index, rest=self._rest)
        self._next_look = 0.0
        self._made = 0
        self._first = True

    def start(self) -> None:
        """Starts to compare if it is time to look whether that is needed; returns at once."""
        early = time.monotonic() < self._next_look and self._index.times_made == self._made
        if not (early or self._index.unavailable or self.running):
            self._next_look = time.monotonic() + LOOK_S
            super().start()

    def _rest(self, took_s: float) -> None:
        """Leaves half of the time to those who talk.

        Raises:
            _Stopped: Nobody waits for the rest of the piece, which may take many seconds. What of
                it is written already is found again.
        """
        if self.stopping.wait(took_s):
            raise _Stopped

    @giving_way()
    def _compare(self) -> None:
        made, work = self._index.times_made, self._comparing
        # What an embedded store holds no other process has counted.
        now = self._first and self._index.backend != "server"
        try:
            more = work.begin(now=now, again=made > self._made)
            self._first, self._made = False, made
            if more:
                state = work.state
                found = {"memories": state.live, "entries": state.entries}
                logger.info("the index is compared with the ledger", extra=found)
            while more and not self.stopping.is_set():
                more = work.go_on()
        except _Stopped:
            logger.info("the index is compared later: the recorder closes")
        finally:
            work.leave()
