"""A visit that begins before memory is open: it replies without, and is given memory when ready."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
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

_NOTHING = Recall(RecallPlan(recall=False, trigger="opening"), fallback=True, reason="not open")


class _NotOpen:
    """What a visit answers while it has no memory: nothing is recalled, what is said waits."""

    is_open = False
    profile_version = -1

    def __init__(self) -> None:
        self.off_record = False
        self.waiting: deque[Callable[[MemorySession], None]] = deque()

    def clock(self) -> datetime:
        return datetime.now(UTC)

    def note_reply(self, turn_id: str, text: str) -> None:
        self.waiting.append(lambda session: session.note_reply(turn_id, text))

    async def profile(self) -> Recall:
        return _NOTHING

    async def recall(self, turn: Turn) -> Recall:
        return _NOTHING

    async def notice(self, turn: Turn) -> str:
        return ""

    def may_ask_back(self, turn: Turn) -> bool:
        return False

    def prefetch(self, interim_text: str) -> None:
        pass


class LateSession:
    """Stands for a ``MemorySession`` whose service is still being opened.

    Until that is done nothing is recalled; what is said waits in line and is gated then, in its
    order. If memory cannot be opened the visit goes on without: nothing is recalled or kept. It is
    no subclass: importing the real one takes a second, which the event loop has not. What is not
    written here is the real session's once memory is open (``is_open``), and ``_NotOpen``'s before.
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
        self._before = _NotOpen()
        self._now: MemorySession | _NotOpen = self._before
        self._opened = asyncio.ensure_future(self._open(asyncio.wrap_future(opening)))

    def __getattr__(self, name: str) -> Any:
        """What the real session has, or the visit without memory."""
        now = vars(self).get("_now")
        if not hasattr(now, name):
            raise AttributeError(f"{name} needs an open memory")
        return getattr(now, name)

    @property
    def off_record(self) -> bool:
        """While true nothing of what is said is written."""
        return self._now.off_record

    @off_record.setter
    def off_record(self, on: bool) -> None:
        self._now.off_record = on

    @property
    def profile_version(self) -> int:
        """Goes up when the profile is not what it was: when memory is open, too."""
        return 1 + self._now.profile_version

    async def _open(self, opening: asyncio.Future[MemoryService]) -> MemorySession | None:
        before = self._before
        try:
            service = await asyncio.shield(opening)
            session = service.session(user_id=self.user_id, session_id=self.session_id)
        except Exception as error:
            why = f"{error} {self._advice}".strip()
            about = {"error": why, "lk.pii.bmo_user": self.user_id}
            logger.error("this conversation has no memory", extra=about)
            telemetry.note_fault("open")
            before.waiting = deque(maxlen=0)
            return None
        session.off_record = before.off_record
        session.participant = self.participant
        self._now = session
        for begin in before.waiting:
            begin(session)
        before.waiting.clear()
        return session

    def submit_turn(self, turn: Turn) -> asyncio.Task[Decision]:
        """Starts gating a turn, as soon as memory is open."""
        if not isinstance(self._now, _NotOpen):
            return self._now.submit_turn(turn)
        begun: asyncio.Future[asyncio.Task[Decision]] = asyncio.get_running_loop().create_future()

        def begin(session: MemorySession) -> None:
            try:
                begun.set_result(session.submit_turn(turn))
            except ValueError as error:  # the others that wait are no worse for it
                begun.set_exception(error)

        if not self.off_record:
            self._before.waiting.append(begin)
        return asyncio.ensure_future(self._gated(begun))

    async def _gated(self, begun: asyncio.Future[asyncio.Task[Decision]]) -> Decision:
        await asyncio.wait({self._opened})
        if begun.done():
            return await begun.result()
        return Decision("discard", ("other",), "no memory", confidence=1.0, fallback=True)

    async def on_turn(self, turn: Turn) -> Decision:
        """Gates a turn, as soon as memory is open; see ``MemorySession.on_turn``."""
        return await asyncio.shield(self.submit_turn(turn))

    async def recorded(self, turn_id: str) -> Recorded | None:
        """Waits until a turn of this session is in the ledger; None without memory."""
        session = await self._opened
        return await session.recorded(turn_id) if session else None

    async def flush(self) -> None:
        """Waits for memory, and until everything said so far is written down."""
        if session := await self._opened:
            await session.flush()

    async def aclose(self) -> None:
        """Flushes and ends the visit. Safe to call twice."""
        if session := await self._opened:
            await session.aclose()
