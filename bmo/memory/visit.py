"""What all parts of one visit share: whose it is, what was said, what still runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from bmo import telemetry
from bmo.memory.dialogue import KNOWN_FACTS, Dialogue, KnownUser

if TYPE_CHECKING:
    from bmo.ledger import Recorded
    from bmo.memory.service import MemoryService

logger = logging.getLogger("bmo.memory")

DIALOGUE_DEADLINE_S = 2.0
"""Longest wait for the ledger before a turn is gated without what it knows of the user."""

_T = TypeVar("_T")


class Visit:
    """One visit of one user. Used from one event loop.

    Attributes:
        service: The service it belongs to.
        user_id: Whose memory it is.
        session_id: Which visit it is.
        clock: Tells the time.
        dialogue: What was said, and what the ledger knows of the user.
        off_record: While true nothing of what is said is written.
        recorded: Turn id -> what the recorder made of it, for the latest turns.
    """

    def __init__(
        self,
        service: MemoryService,
        user_id: str,
        session_id: str,
        clock: Callable[[], datetime],
    ) -> None:
        """Nothing is read yet."""
        self.service = service
        self.user_id = user_id
        self.session_id = session_id
        self.clock = clock
        self.dialogue = Dialogue()
        self.off_record = False
        self.recorded: dict[str, Future[Recorded]] = {}
        self._dialogue_loaded: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, coroutine: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Begins something that the visit's end waits for."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finished(self) -> None:
        """Waits for everything that was begun."""
        while pending := [task for task in self._tasks if not task.done()]:
            await asyncio.gather(*pending, return_exceptions=True)

    def unwritten(self) -> set[asyncio.Future[Recorded]]:
        """The turns of this visit that are not in the ledger yet."""
        return {
            asyncio.wrap_future(future) for future in self.recorded.values() if not future.done()
        }

    def begin_dialogue(self) -> asyncio.Task[None]:
        """Starts reading what the ledger knows of the user, once; the task ends when it is read."""
        if self._dialogue_loaded is None:
            self._dialogue_loaded = self.start(self.refresh_dialogue())
        return self._dialogue_loaded

    async def load_dialogue(self) -> None:
        """Waits until what the ledger knows of the user is in the dialogue, if it comes in time."""
        loaded = self.begin_dialogue()
        if loaded.done():
            return  # waiting for what is done costs two rounds of a busy loop
        done, _ = await asyncio.wait({loaded}, timeout=DIALOGUE_DEADLINE_S)
        if not done:
            logger.warning("dialogue context missed its deadline")
            telemetry.note_fault("ledger")

    async def refresh_dialogue(self) -> None:
        """Reads people and the newest live facts of the user, for the gate's context."""
        loop, service = asyncio.get_running_loop(), self.service
        try:
            known = await loop.run_in_executor(
                service.dialogue_pool, service.turnstile.through(read_known), service, self.user_id
            )
        except Exception as error:  # the gate can do without
            logger.warning("dialogue context not loaded", extra={"error": repr(error)})
            return
        self.dialogue.know(known)

    def masked(self, text: str) -> str:
        """An assistant may repeat a secret: its words are written down masked as well."""
        from bmo.gate import scan_sensitive

        return scan_sensitive(text, self.service.settings.bmo_sensitive).masked if text else ""


def read_known(service: MemoryService, user_id: str) -> KnownUser:
    """What the ledger knows of a user, as the write gate is told it. Blocking."""
    ledger = service.ledger
    with ledger.one_view():
        return KnownUser.of(
            ledger.known_subjects(user_id), ledger.live_facts(user_id, limit=KNOWN_FACTS)
        )
