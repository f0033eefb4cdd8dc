"""Mem0's own extraction on a thread of its own (MEM0_SETTING=NORMAL with a key).

A model takes seconds and fails; the recorder's thread, on which every turn is written, must not
wait for it. What this thread has not done waits in the outbox, also for the next start.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError

from bmo.index import MemoryIndex
from bmo.ledger import Ledger, OutboxOp
from bmo.recorder.bounded import BoundedCalls
from bmo.recorder.outbox_worker import OutboxWorker
from bmo.turn import utc_now

POLL_S = 2.0
"""Longest it sleeps without being woken, in seconds."""

MODEL_TIMEOUT_S = 60.0
"""Longest wait for a model, in seconds; then the turn is tried again later."""

_RAW: tuple[OutboxOp, ...] = ("raw",)

logger = logging.getLogger(__name__)


class InferenceThread:
    """Applies the outbox's ``raw`` entries, one at a time. Safe from any thread."""

    def __init__(self, ledger: Ledger, index: MemoryIndex) -> None:
        """Works for one ledger and one index; ``start`` starts it."""
        self._ledger = ledger
        self._bounded = BoundedCalls("bmo-inference-model")
        self._worker = OutboxWorker(
            ledger, index, self._bounded, ops=_RAW, timeout_s=MODEL_TIMEOUT_S
        )
        self._changed = threading.Condition()
        self._working = False
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="bmo-inference", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Says that there may be something to do."""
        with self._changed:
            self._changed.notify_all()

    def flush(self, deadline: float) -> bool:
        """Waits until nothing is due; what failed and waits for later is not waited for.

        Returns:
            Whether nothing is due any more.
        """
        self.wake()
        while time.monotonic() < deadline:
            with self._changed:
                if self._closed or (not self._working and not self._due()):
                    return True
                self._changed.wait(min(0.05, max(deadline - time.monotonic(), 0.0)))
        return False

    def close(self, timeout_s: float) -> None:
        """Ends the thread after what it is doing; safe to call twice.

        Args:
            timeout_s: Longest wait for a model that is being asked, in seconds. What it answers
                later is not lost: the entry is still in the outbox.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        self._bounded.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._closed:
                    break
                self._working = True
            done = self._guarded(lambda: self._worker.apply(limit=1))
            with self._changed:
                self._working = False
                self._changed.notify_all()
                if not done and not self._closed:
                    self._changed.wait(POLL_S)
        self._guarded(self._worker.release)

    def _guarded(self, step: Callable[[], int | None]) -> int | None:
        try:
            return step()
        except Exception as error:  # the thread must live as long as the process
            # After close a late answer finds ledger and index closed; its entry is still there.
            level = logging.DEBUG if self._closed else logging.ERROR
            logger.log(level, "inference thread: %s", type(error).__name__)
            return None

    def _due(self) -> bool:
        try:
            return self._ledger.backlog(ops=_RAW).is_due(utc_now())
        except DBAPIError:
            return False
