"""Work beside the recorder on threads of its own: mending, rewriting files, asking a model."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.giving_way import giving_way
from bmo.index import EmbedderUnavailable, IndexUnavailable, MemoryIndex
from bmo.ledger import Ledger
from bmo.recorder.comparing import Comparing

LOOK_S: Final = 10.0
"""How often a process looks whether it is time to compare, in seconds."""

BATCH_S: Final = 10.0
"""Longest that closing waits for the batch that is being written, in seconds."""

logger = logging.getLogger(__name__)


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


class Repairing:
    """Mends the index on a thread of its own. Safe from any thread."""

    def __init__(self, ledger: Ledger, index: MemoryIndex) -> None:
        """Compares nothing yet."""
        self._index = index
        self._comparing = Comparing(ledger, index, rest=self._rest)
        self._background = Background("bmo-recorder-repair", self._run)
        self._next_look = 0.0
        self._made = 0
        self._first = True

    def start(self) -> None:
        """Starts to compare if it is time to look whether that is needed; returns at once."""
        early = time.monotonic() < self._next_look and self._index.times_made == self._made
        if early or self._index.unavailable or self._background.running:
            return
        self._next_look = time.monotonic() + LOOK_S
        self._background.start()

    def stop(self) -> None:
        """Ends after the batch that is being written; the rest is done later, or by another."""
        self._background.stop(BATCH_S)

    def _rest(self, took_s: float) -> None:
        """Leaves half of the time to those who talk.

        Raises:
            _Stopped: Nobody waits for the rest of the piece, which may take many seconds. What of
                it is written already is found again.
        """
        if self._background.stopping.wait(took_s):
            raise _Stopped

    def _run(self) -> None:
        try:
            with giving_way():
                self._compare()
        except _Stopped:
            logger.info("the index is compared later: the recorder closes")

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
            while more and not self._background.stopping.is_set():
                more = work.go_on()
        finally:
            work.leave()
