"""Rewriting the files that may still hold the bytes of what was erased, beside the recorder.

It takes a second for 1,000 memories and ten for 50,000; no turn and no recall waits for it.
"""

from __future__ import annotations

import logging
import threading
import time

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.index import IndexUnavailable, MemoryIndex
from bmo.ledger import Ledger

QUIET_S = 1.5
"""How long nothing was written before the ledger's file is rewritten, in seconds: turns that come
while it is (.2 s for 10,000 memories, .8 for 50,000) wait for it."""

LONGEST_WAIT_S = 30.0
"""Longest wait for such a moment, in seconds."""

_LOOK_S = 0.1

logger = logging.getLogger(__name__)


class FileRewriting:
    """Completes receipts on a thread of its own. Safe from any thread."""

    def __init__(self, ledger: Ledger, index: MemoryIndex) -> None:
        """Nothing is rewritten yet.

        Args:
            ledger: Whose erasures.
            index: Which had its part in them.
        """
        self._ledger = ledger
        self._index = index
        self._thread: threading.Thread | None = None
        self._hurry = threading.Event()
        self._starting = threading.Lock()

    def start(self) -> None:
        """Starts to rewrite the files if there is something to erase from them."""
        with self._starting:
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = None
            if self._ledger.erasures_to_finish():
                self._hurry.clear()
                # A daemon: a store that hangs must not keep the process alive.
                self._thread = threading.Thread(
                    target=self._run, name="bmo-recorder-erase", daemon=True
                )
                self._thread.start()

    def finish(self, deadline: float) -> None:
        """Waits for what is being rewritten, and no longer for a quiet moment.

        Args:
            deadline: As of ``time.monotonic``. What is not done by then is done after the next
                start.
        """
        self.start()
        self._hurry.set()
        thread = self._thread
        if thread is not None:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def _run(self) -> None:
        try:
            # Again while there is more: what was erased meanwhile may be in the new files.
            while ids := self._ledger.erasures_to_finish():
                self._rewrite(ids)
        except (IndexUnavailable, DBAPIError, OSError) as error:
            logger.warning(
                "erasure waits for its files to be rewritten", extra={"error": str(error)}
            )
        except Exception as error:  # on a thread nobody would hear of it
            logger.exception("files not rewritten", extra={"error": type(error).__name__})
            telemetry.note_fault("recorder")

    def _rewrite(self, ids: list[str]) -> None:
        stale = self._index.drop_stale()
        compacted = self._index.compact()
        self._await_quiet()
        self._ledger.vacuum()
        places = {"ledger_files": 1, "index_files": int(compacted), "stale_collections": stale}
        self._ledger.finish_erasures(ids, {place: n for place, n in places.items() if n})

    def _await_quiet(self) -> None:
        until = time.monotonic() + LONGEST_WAIT_S
        while self._ledger.quiet_s < QUIET_S and time.monotonic() < until:
            if self._hurry.wait(_LOOK_S):
                return
