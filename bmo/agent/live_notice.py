"""What a realtime model must say of memory itself: it gets no context of each turn to read it in.

Such a model answers of its own accord while memory still looks up what is to be forgotten. Once
that is known it is asked for a reply of its own: whether to erase for good, that it is done, that
nothing is written now.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from livekit.agents import AgentSession

from bmo import telemetry
from bmo.agent.background import Background
from bmo.agent.live_transcripts import is_realtime

if TYPE_CHECKING:
    from bmo.memory import MemorySession
    from bmo.turn import Turn

logger = logging.getLogger("bmo.agent")


class LiveNotice:
    """Has a realtime model say what memory must have said."""

    def __init__(self, background: Background) -> None:
        """Nothing is to be said.

        Args:
            background: Where its tasks live.
        """
        self._background = background

    def owe(self, session: AgentSession[Any], memory: MemorySession | None, turn: Turn) -> None:
        """Starts to find out what must be said after a turn; to be called before it is gated.

        Args:
            session: Whose model answers; another than a realtime model reads it in its context.
            memory: The speaker's, or None for a guest without one.
            turn: The turn.
        """
        if memory is None or not is_realtime(session.current_agent, session):
            return
        self._background.start(self._say(session, memory, turn))

    async def _say(self, session: AgentSession[Any], memory: MemorySession, turn: Turn) -> None:
        try:
            notice: object = await memory.notice(turn)
            if isinstance(notice, str) and notice:
                session.generate_reply(instructions=notice)
        except Exception:
            logger.exception("a realtime model was not told what was asked of memory")
            telemetry.note_fault("notice")
