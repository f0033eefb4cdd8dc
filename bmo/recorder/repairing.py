"""Ledger and index compared in the background, beside the recorder, while people talk."""

from __future__ import annotations

import logging
import threading
import time
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


class _Stopped(Exception):
    """The recorder closes."""


class Repairing:
    """Mends the index on a thread of its own. Safe from any thread."""

    def __init__(self, ledger: Ledger, index: MemoryIndex) -> None:
        """Compares nothing yet."""
        self._index = index
        self._comparing = Comparing(ledger, index, rest=self._rest)
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._next_look = 0.0
        self._made = 0
        self._first = True

    def start(self) -> None:
        """Starts to compare if it is time to look whether that is needed; returns at once."""
        made = self._index.times_made
        early = time.monotonic() < self._next_look and made == self._made
        if early or self._stop.is_set() or self._index.unavailable:
            return
        if self._thread is not None and self._thread.is_alive():
            return
        self._next_look = time.monotonic() + LOOK_S
        # A daemon: a store that hangs must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="bmo-recorder-repair", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends after the batch that is being written; the rest is done later, or by another."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(BATCH_S)

    def _rest(self, took_s: float) -> None:
        """Leaves half of the time to those who talk.

        Raises:
            _Stopped: Nobody waits for the rest of the piece, which may take many seconds. What of
                it is written already is found again.
        """
        if self._stop.wait(took_s):
            raise _Stopped

    def _run(self) -> None:
        try:
            with giving_way():
                self._compare()
        except _Stopped:
            logger.info("the index is compared later: the recorder closes")
        except (IndexUnavailable, EmbedderUnavailable, DBAPIError, OSError) as error:
            logger.warning("the index is compared later", extra={"error": str(error)})
        except Exception as error:  # on a thread nobody would hear of it
            logger.exception("index not compared", extra={"error": type(error).__name__})
            telemetry.note_fault("recorder")

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
            while more and not self._stop.is_set():
                more = work.go_on()
        finally:
            work.leave()
