"""Memory sessions of guests: people who speak in a visit and are not its user (BMO_GUESTS)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bmo.memory import MemorySession

GUESTS_MOST = 16
"""Guests of one visit that get a memory; a recogniser that takes one voice for many must not open
a session for each."""


class Guests:
    """Where the words of guests go: nowhere (``ignore``), or to an id of their own (``separate``).

    What a guest says never reaches the user's memory, and a guest is given nothing of it. While the
    user is off the record nothing of guests is kept either.
    """

    def __init__(self, memory: MemorySession) -> None:
        """Nobody else spoke yet."""
        self._memory = memory
        self._sessions: dict[str, MemorySession] = {}

    def memory_of(self, speaker: str) -> MemorySession | None:
        """The memory a speaker's words go to ("" is the user); None when they are not kept."""
        if not speaker:
            return self._memory
        if self._memory.settings.bmo_guests == "ignore" or self._memory.off_record:
            return None
        session = self._sessions.get(speaker)
        if session is None and len(self._sessions) < GUESTS_MOST and self._memory.is_open:
            session = self._sessions[speaker] = self._memory.of_guest(speaker)
        return session

    async def flush(self) -> None:
        """Waits until everything guests said is written down."""
        for session in tuple(self._sessions.values()):
            await session.flush()

    async def aclose(self) -> None:
        """Ends the guests' visits."""
        while self._sessions:
            _, session = self._sessions.popitem()
            await session.aclose()
