"""Rewriting the files that may still hold the bytes of what was erased, beside the recorder.

It takes a second or two for 10,000 memories; no recall waits for it, and a turn only
for the ledger's part (.1 s for 10,000).
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy.exc import DBAPIError

from bmo import telemetry
from bmo.index import IndexUnavailable, MemoryIndex
from bmo.ledger import Ledger

logger = logging.getLogger(__name__)


class FileRewriting:
    """Completes receipts on a thread of its own. Safe from any thread."""

    def __init__(self, ledger: Ledger, index: MemoryIndex) -> None:
        """Nothing is rewritten yet."""
        self._ledger = ledger
        self._index = index
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """Starts to rewrite the files if there is something to erase from them."""
        with self._starting:
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = None
            if self._ledger.erasures_to_finish():
                # A daemon: a store that hangs must not keep the process alive.
                self._thread = threading.Thread(
                    target=self._run, name="bmo-recorder-erase", daemon=True
                )
                self._thread.start()

    def finish(self, deadline: float) -> None:
        """Waits for what is being rewritten.

        Args:
            deadline: As of ``time.monotonic``. What is not done by then is done after the next
                start.
        """
        self.start()
        thread = self._thread
        if thread is not None:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def join(self, timeout_s: float) -> None:
        """Waits for the thread to end: after the index was closed it gives up what it has begun."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _run(self) -> None:
        try:
            # Again while there is more: what was erased meanwhile may be in the new files.
            while ids := self._ledger.erasures_to_finish():
                stale = self._index.drop_stale()
                with ThreadPoolExecutor(1, "bmo-recorder-vacuum") as beside:
                    vacuumed = beside.submit(self._ledger.vacuum)
                    index_files = int(self._index.compact())
                    ledger_files = int(vacuumed.result())
                done = {
                    "index_files": index_files,
                    "ledger_files": ledger_files,
                    "stale_collections": stale,
                }
                servers = {"postgresql": ledger_files, "qdrant": index_files}
                self._ledger.finish_erasures(
                    ids,
                    {place: count for place, count in done.items() if count},
                    [server for server, rewritten in servers.items() if not rewritten],
                )
        except (IndexUnavailable, DBAPIError, OSError) as error:
            logger.warning(
                "erasure waits for its files to be rewritten", extra={"error": str(error)}
            )
        except Exception as error:  # on a thread nobody would hear of it
            logger.exception("files not rewritten", extra={"error": type(error).__name__})
            telemetry.note_fault("recorder")
