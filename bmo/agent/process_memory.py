"""The memory of one process: opened once, in the background, and shared by its jobs.

The embedded store has one owner, so jobs of a worker run as threads of one process and share the
service that was opened for the first of them.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from livekit.agents import JobExecutorType, JobProcess

from bmo.settings import Settings, SettingsError, load_settings
from bmo.telemetry import debug_to_stderr, export_traces

if TYPE_CHECKING:
    from bmo.memory import MemoryService

logger = logging.getLogger("bmo.agent")

AS_THREADS = (
    "Jobs of this worker are processes, and the embedded store has one owner: make it "
    "AgentServer(job_executor_type=JobExecutorType.THREAD, ...), or set QDRANT_URL."
)

_LOCK = threading.Lock()
_OPENED: dict[int, Future[MemoryService]] = {}
"""Process id -> its memory; a child of a fork has none yet."""


def prewarm(process: JobProcess) -> None:
    """Begins to open memory before the first job; give it to ``AgentServer(setup_fnc=...)``.

    Returns at once: LiveKit kills a process whose setup takes long.
    """
    try:
        alone = process.executor_type is JobExecutorType.PROCESS and not load_settings().qdrant_url
    except SettingsError as error:
        logger.error("memory is not opened", extra={"error": str(error)})
        return
    if alone:
        # Of several idle processes one would own the store, and another would get the call.
        logger.warning("memory is not opened", extra={"error": AS_THREADS})
    else:
        opening()


def opening(settings: Settings | None = None) -> Future[MemoryService]:
    """The process's memory, or the promise of it: the first call begins to open it.

    What failed is tried again by the next call.
    """
    with _LOCK:
        known = _OPENED.get(os.getpid())
        if known is not None and not (known.done() and known.exception()):
            return known
        made = _OPENED[os.getpid()] = Future()
    threading.Thread(target=_open, args=(made, settings), name="bmo-opening", daemon=True).start()
    return made


def shared_service(settings: Settings | None = None) -> MemoryService:
    """The process's memory, once it is open. Blocking.

    Raises:
        MemoryUnavailable: The store cannot be opened; the message names the fix.
    """
    return opening(settings).result()


def close_shared_service() -> None:
    """Closes the process's memory, if it was opened; the next call opens it anew."""
    with _LOCK:
        opened = _OPENED.pop(os.getpid(), None)
    if opened is not None and not opened.exception():
        opened.result().close_blocking()


def _open(promise: Future[MemoryService], settings: Settings | None) -> None:
    from bmo.memory import MemoryService

    try:
        service = MemoryService.open_blocking(settings or load_settings())
        service.warm_up()  # or the first turn's recall would miss its deadline loading rules
    except BaseException as error:
        promise.set_exception(error)
        return
    atexit.register(close_shared_service)
    if service.settings.gatekeeper_debug:
        debug_to_stderr()
    export_traces()
    logger.info("memory is open", extra={"mode": service.settings.effective_mode})
    promise.set_result(service)
