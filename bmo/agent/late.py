"""A visit that begins before memory is open: it replies without, and is given memory when ready."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bmo import telemetry
from bmo.ids import as_user_id
from bmo.turn import Decision, Recall, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.ledger import Recorded
    from bmo.memory import MemoryService, MemorySession
    from bmo.settings import Settings

logger = logging.getLogger("bmo.agent")


class LateSession:
    """Stands for a ``MemorySession`` whose service is still being opened.

    Until that is done nothing is recalled; what is said waits in line and is gated then, in its
    order. If memory cannot be opened the visit goes on without: nothing is recalled or kept. It is
    no subclass: importing the real one takes a second, which the event loop has not. What is not
    written here needs an open memory (``is_open``) and is the real session's.
    """

    def __init__(
        self,
        opening: Future[MemoryService],
        settings: Settings,
        *,
        user_id: str,
        session_id: str,
        advice: str = "",
    ) -> None:
        """Waits for the service, from the event loop that runs.

        ``advice`` follows the reason in the log where there is no memory.
        """
        self.user_id = as_user_id(user_id)
        self.session_id = session_id
        self.settings = settings
        self.participant: str | None = None
        self.shared_by_agents: object | None = None
        self._advice = advice
        self._session: MemorySession | None = None
        self._off_record = False
        self._waiting: list[Callable[[MemorySession], None]] = []
        self._opened = asyncio.ensure_future(self._open(asyncio.wrap_future(opening)))

    def __getattr__(self, name: str) -> Any:
        """What only an open memory has: its service, sessions of guests, judging a recall."""
        session = vars(self).get("_session")
        if session is None:
            raise AttributeError(f"{name} needs an open memory")
        return getattr(session, name)

    async def _open(self, opening: asyncio.Future[MemoryService]) -> MemorySession | None:
        try:
            service = await asyncio.shield(opening)
            session = service.session(user_id=self.user_id, session_id=self.session_id)
        except Exception as error:
            logger.error(
                "this conversation has no memory",
                extra={
                    "error": " ".join(filter(None, (str(error), self._advice))),
                    "lk.pii.bmo_user": self.user_id,
                },
            )
            telemetry.note_fault("open")
            self._waiting.clear()
            return None
        session.off_record = self._off_record
        session.participant = self.participant
        self._session = session
        for begin in self._waiting:
            begin(session)
        self._waiting.clear()
        return session

    @property
    def is_open(self) -> bool:
        """Whether there is memory by now."""
        return self._session is not None

    def clock(self) -> datetime:
        """The service's time, the system's until it is open."""
        return self._session.clock() if self._session else datetime.now(UTC)

    @property
    def off_record(self) -> bool:
        """While true nothing of what is said is written."""
        return self._session.off_record if self._session else self._off_record

    @off_record.setter
    def off_record(self, on: bool) -> None:
        if self._session:
            self._session.off_record = on
        self._off_record = on

    @property
    def profile_version(self) -> int:
        """Goes up when the profile is not what it was: when memory is open, too."""
        return 1 + self._session.profile_version if self._session else 0

    def submit_turn(self, turn: Turn) -> asyncio.Task[Decision]:
        """Starts gating a turn, as soon as memory is open."""
        if self._session:
            return self._session.submit_turn(turn)
        begun: asyncio.Future[asyncio.Task[Decision]] = asyncio.get_running_loop().create_future()
        if not self._off_record and not self._opened.done():
            self._waiting.append(lambda session: begun.set_result(session.submit_turn(turn)))
        return asyncio.ensure_future(self._gated(begun))

    async def _gated(self, begun: asyncio.Future[asyncio.Task[Decision]]) -> Decision:
        await asyncio.wait({self._opened})
        if begun.done():
            return await begun.result()
        return Decision("discard", ("other",), "no memory", confidence=1.0, fallback=True)

    async def on_turn(self, turn: Turn) -> Decision:
        """Gates a turn, as soon as memory is open."""
        return await self.submit_turn(turn)

    async def recorded(self, turn_id: str) -> Recorded | None:
        """Waits until a turn of this session is in the ledger; None without memory."""
        session = await self._opened
        return await session.recorded(turn_id) if session else None

    def note_reply(self, turn_id: str, text: str) -> None:
        """Tells what the assistant said after a turn."""
        if self._session:
            self._session.note_reply(turn_id, text)
        elif not self._opened.done():
            self._waiting.append(lambda session: session.note_reply(turn_id, text))

    async def profile(self) -> Recall:
        """The profile; an empty one until memory is open."""
        return await self._session.profile() if self._session else _nothing()

    async def recall(self, turn: Turn) -> Recall:
        """What memory has for a turn; nothing until it is open."""
        return await self._session.recall(turn) if self._session else _nothing()

    async def notice(self, turn: Turn) -> str:
        """What the assistant must say of memory itself after a turn."""
        return await self._session.notice(turn) if self._session else ""

    def may_ask_back(self, turn: Turn) -> bool:
        """Whether a turn could ask to forget so much that the assistant must ask back."""
        return self._session is not None and self._session.may_ask_back(turn)

    def prefetch(self, interim_text: str) -> None:
        """Starts recall on an interim transcript."""
        if self._session:
            self._session.prefetch(interim_text)

    async def flush(self) -> None:
        """Waits for memory, and until everything said so far is written down."""
        session = await self._opened
        if session:
            await session.flush()

    async def aclose(self) -> None:
        """Flushes and ends the visit. Safe to call twice."""
        session = await self._opened
        if session:
            await session.aclose()


def _nothing() -> Recall:
    return Recall(RecallPlan(recall=False, trigger="opening"), fallback=True, reason="not open")
