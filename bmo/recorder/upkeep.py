"""What keeps ledger and index in agreement between two turns, and old words out of the ledger."""

from __future__ import annotations

import logging
import time

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.index import IndexUnavailable, MemoryIndex
from bmo.ledger import Backlog, Ledger, OutboxOp
from bmo.recorder.agreement import settle
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.file_rewriting import FileRewriting
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.turn import utc_now

POLL_S = 2.0
"""Longest the thread sleeps while something waits in the outbox, in seconds."""

IDLE_S = 8.0
"""How often an idle thread looks for what another process put into the outbox, in seconds."""

SETTLE_TIMEOUT_S = 300.0
"""Longest wait for the comparison of ledger and index after a start, in seconds."""

RETENTION_S = 24 * 3600.0
"""How often the words of old discarded turns are dropped, in seconds; first at the start."""

LAST_ERASURES_S = 10.0
"""Longest that closing waits for erased bytes to leave the files, in seconds; else the next start
sees to it."""

AT_ONCE: tuple[OutboxOp, ...] = ("add", "update", "delete", "purge")
"""What the recorder's thread applies itself when Mem0's extraction has a thread of its own."""

logger = logging.getLogger(__name__)


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
        if index is not None:
            self._worker = OutboxWorker(ledger, index, bounded, ops=self._ops)
            self._rewriting = FileRewriting(ledger, index)
        self._retention_at = 0.0
        self._settled = index is None
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
        index, worker, rewriting = self._index, self._worker, self._rewriting
        if index is None or worker is None or rewriting is None:
            return
        self._settle_once()
        backlog = self._ledger.backlog(ops=self._ops)
        # Leasing locks out whoever else writes: it is not tried for nothing.
        wanted = bool(index.unavailable) or backlog.is_due(utc_now())
        applied = worker.apply() if wanted else 0
        self._stuck = wanted and not applied
        if applied:
            backlog = self._ledger.backlog(ops=self._ops)
        else:
            self._note_complete()
        rewriting.start()
        self._note_backlog(backlog)

    def drain(self, deadline: float) -> bool:
        """Works until nothing is due; what was put off, or left alone for a while, is tried now.

        Returns:
            Whether the outbox is empty.
        """
        if self._worker is not None:
            self._worker.reconnect(at_once=True)
            self._settle_once()
            while self._worker.apply() and time.monotonic() < deadline:
                pass
            self._note_complete()
        return self._ledger.outbox_depth()[0] == 0

    def finish_erasures(self, deadline: float) -> None:
        """Waits until the files are rewritten that may hold erased bytes. From any thread."""
        if self._rewriting is not None:
            self._rewriting.finish(deadline)

    def release(self) -> None:
        """Gives the leases of this process back, and sees erasures to their end."""
        self.finish_erasures(time.monotonic() + LAST_ERASURES_S)
        if self._worker is not None:
            self._worker.release()

    def _settle_once(self) -> None:
        """After a start: what the last process left undone, or a new embedder's empty store."""
        index = self._index
        if index is None or self._settled:
            return
        try:
            found = self._bounded.call(lambda: settle(self._ledger, index), SETTLE_TIMEOUT_S)
        except IndexUnavailable:
            return
        self._settled = True
        index.complete = not found.missing
        if found:
            counts = {
                "missing": len(found.missing),
                "orphaned": len(found.orphaned),
                "doubled": len(found.doubled),
            }
            logger.info("index differs from the ledger", extra=counts)

    def _note_complete(self) -> None:
        if self._index is not None and self._settled and not self._index.complete:
            depth, _ = self._ledger.outbox_depth()
            if depth == 0:
                self._index.drop_stale()
                self._index.complete = True

    def _note_backlog(self, backlog: Backlog) -> None:
        self._backlog = backlog
        oldest = backlog.oldest
        age_s = (utc_now() - oldest).total_seconds() if oldest is not None else 0.0
        telemetry.note_outbox(backlog.depth, max(age_s, 0.0))
