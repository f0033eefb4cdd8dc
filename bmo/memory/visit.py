"""What all parts of one visit share: whose it is, what was said, what still runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bmo import telemetry
from bmo.memory.candidates import find_candidates
from bmo.memory.dialogue import Dialogue
from bmo.turn import Decision, DialogueContext, Turn

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
        deciding: Turn id -> the task that decides on it, for the turns that are not decided yet.
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
        self.deciding: dict[str, asyncio.Task[Decision]] = {}
        self.recorded: dict[str, Future[Recorded]] = {}
        self._secrets: set[str] = set()
        self._dialogue_loaded: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def deadline_s(self, usual_s: float) -> float:
        """A deadline in seconds: who waits longer for the judge (a replay) waits as long here."""
        return max(usual_s, self.service.settings.bmo_judge_deadline_ms / 1000)

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

    def is_behind(self, turn_id: str) -> bool:
        """Whether a turn other than this one is not decided, or any is not in the ledger yet."""
        return bool(self.unwritten()) or any(other != turn_id for other in self.deciding)

    async def catch_up(self, turn_id: str, patience_s: float) -> None:
        """Waits until what was said so far is in the ledger, or the patience is over.

        Args:
            turn_id: The turn that waits: its own decision is not waited for.
            patience_s: Longest wait, in seconds.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                others = [task for other, task in self.deciding.items() if other != turn_id]
                if others:
                    await asyncio.wait(others)
                unwritten = self.unwritten()
                if unwritten:
                    await asyncio.wait(unwritten)

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
        done, _ = await asyncio.wait({loaded}, timeout=self.deadline_s(DIALOGUE_DEADLINE_S))
        if not done:
            logger.warning("dialogue context missed its deadline")
            telemetry.note_fault("ledger")

    async def refresh_dialogue(self) -> None:
        """Reads who is known, for both gates."""
        loop, service = asyncio.get_running_loop(), self.service
        try:
            self.dialogue.subjects = await loop.run_in_executor(
                service.dialogue_pool,
                service.turnstile.through(service.ledger.known_subjects),
                self.user_id,
            )
        except Exception as error:  # the gates can do without
            logger.warning("dialogue context not loaded", extra={"error": repr(error)})

    async def context_of(self, turn: Turn) -> DialogueContext:
        """What the write gate may know beside a turn; without memories if they come too late."""
        service = self.service
        if service.settings.mem0_setting != "GATED":
            return self.dialogue.context()
        loop = asyncio.get_running_loop()
        unwritten = self.unwritten()
        if unwritten:
            await asyncio.wait(unwritten, timeout=self.deadline_s(DIALOGUE_DEADLINE_S))
        try:
            async with asyncio.timeout(self.deadline_s(DIALOGUE_DEADLINE_S)):
                candidates, near = await loop.run_in_executor(
                    service.dialogue_pool,
                    service.turnstile.through(
                        partial(find_candidates, service.ledger, service.index, turn)
                    ),
                )
        except Exception as error:  # a turn is gated whatever the ledger or the index does
            logger.warning("candidates not found", extra={"error": repr(error)})
            telemetry.note_fault("ledger")
            return self.dialogue.context()
        return self.dialogue.context(candidates, near)

    def masked(self, text: str, asked: str = "") -> str:
        """Words as they may be written down: an assistant may repeat a secret of this visit.

        Args:
            text: What the assistant said, or the user: their secrets are known from now on.
            asked: The assistant's words before.
        """
        from bmo.gate import mask

        policy = self.service.settings.bmo_sensitive
        return mask(text, policy, asked, self._secrets)[0] if text else ""
