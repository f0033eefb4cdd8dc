"""What keeps ledger and index in agreement between two turns, and old words out of the ledger."""

from __future__ import annotations

import time

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.index import MemoryIndex
from bmo.ledger import Backlog, Ledger, OutboxOp
from bmo.ledger.statistics import decision_counts, verdict_drift, windows_of
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.file_rewriting import FileRewriting
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.recorder.repairing import Repairing
from bmo.turn import utc_now

POLL_S = 2.0
"""Longest the thread sleeps while something waits in the outbox, in seconds."""

IDLE_S = 8.0
"""How often an idle thread looks for what another process put into the outbox, in seconds."""

RETENTION_S = 24 * 3600.0
"""How often the words of old discarded turns are dropped, in seconds; first at the start."""

DRIFT_S = 3600.0
"""How often the drift of the verdicts is measured, in seconds; first at the start."""

DRIFT_DAYS, DRIFT_BASELINE_DAYS = 7, 28
"""The latest days, and the days before that they are compared with, as ``bmo health`` has them."""

LAST_ERASURES_S = 10.0
"""Longest that closing waits for erased bytes to leave the files, in seconds; else the next start
sees to it."""

AT_ONCE: tuple[OutboxOp, ...] = ("add", "update", "delete", "purge")
"""What the recorder's thread applies itself when Mem0's extraction has a thread of its own."""


class Upkeep:
    """The recorder's own work. Used from its thread, where nothing else is said."""

    def __init__(
        self,
        ledger: Ledger,
        index: MemoryIndex | None,
        bounded: BoundedCalls,
        *,
        keep_days: int,
        raw_elsewhere: bool,
    ) -> None:
        """Nothing is done yet.

        Args:
            ledger: What is true.
            index: What follows it; None leaves everything for it in the outbox.
            bounded: Gives up calls to the index that hang.
            keep_days: After so many days the words of discarded turns are dropped.
            raw_elsewhere: Mem0's extraction has a thread of its own.
        """
        self._ledger = ledger
        self._index = index
        self._bounded = bounded
        self._keep_days = keep_days
        self._ops = AT_ONCE if raw_elsewhere else None
        self._worker: OutboxWorker | None = None
        self._rewriting: FileRewriting | None = None
        self._repairing: Repairing | None = None
        if index is not None:
            self._worker = OutboxWorker(ledger, index, bounded, ops=self._ops)
            self._rewriting = FileRewriting(ledger, index)
            self._repairing = Repairing(ledger, index)
        self._retention_at = self._drift_at = 0.0
        self._backlog: Backlog | None = None
        self._stuck = False  # something is due, and it cannot be done now

    def free_leases(self) -> None:
        """Takes back what a process that died was about to apply."""
        if self._index is not None and self._index.backend != "server":
            # Nobody else can be at work on an embedded store: leases are a dead process's.
            self._ledger.release_outbox()

    def drop_old_words(self) -> None:
        """Drops the words of discarded turns that are too old."""
        self._retention_at = time.monotonic() + RETENTION_S
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
        if time.monotonic() >= self._retention_at:
            self.drop_old_words()
        if time.monotonic() >= self._drift_at:
            self._note_drift()
        index, worker, rewriting = self._index, self._worker, self._rewriting
        if index is None or worker is None or rewriting is None:
            return
        backlog = self._ledger.backlog(ops=self._ops)
        # Leasing locks out whoever else writes: it is not tried for nothing.
        wanted = bool(index.unavailable) or backlog.is_due(utc_now())
        applied = worker.apply() if wanted else 0
        self._stuck = wanted and not applied
        if applied:
            backlog = self._ledger.backlog(ops=self._ops)
        rewriting.start()
        if self._repairing is not None:
            self._repairing.start()
        self._note_backlog(backlog)

    def drain(self, deadline: float) -> bool:
        """Works until nothing is due; what was put off, or left alone for a while, is tried now.

        Returns:
            Whether the outbox is empty.
        """
        if self._worker is not None:
            self._worker.reconnect(at_once=True)
            while self._worker.apply() and time.monotonic() < deadline:
                pass
        return self._ledger.outbox_depth()[0] == 0

    def finish_erasures(self, deadline: float) -> None:
        """Waits until the files are rewritten that may hold erased bytes. From any thread."""
        if self._rewriting is not None:
            self._rewriting.finish(deadline)

    def release(self) -> None:
        """Gives the leases of this process back, and sees erasures to their end."""
        if self._repairing is not None:
            self._repairing.stop()
        self.finish_erasures(time.monotonic() + LAST_ERASURES_S)
        if self._worker is not None:
            self._worker.release()

    def join(self) -> None:
        """Waits for the thread that rewrites files, which ends when the index is closed."""
        if self._rewriting is not None:
            self._rewriting.join(LAST_ERASURES_S)

    def _note_drift(self) -> None:
        """Shows how far the shares of the verdicts moved, if it is more than chance."""
        self._drift_at = time.monotonic() + DRIFT_S
        recent, before = windows_of(utc_now(), DRIFT_DAYS, DRIFT_BASELINE_DAYS)
        with self._ledger.reading() as connection:
            index, by_chance = verdict_drift(
                *(decision_counts(connection, span).verdicts for span in (before, recent))
            )
        telemetry.note("bmo_verdict_drift", index if index > by_chance else 0.0)

    def _note_backlog(self, backlog: Backlog) -> None:
        self._backlog = backlog
        oldest = backlog.oldest
        age_s = (utc_now() - oldest).total_seconds() if oldest is not None else 0.0
        telemetry.note("bmo_outbox_depth", backlog.depth)
        telemetry.note("bmo_outbox_oldest_seconds", max(age_s, 0.0))
