"""Turns on their way to the write gate: each once, each speaker's words to their own memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from livekit.agents import llm

from bmo import telemetry
from bmo.agent.background import Background
from bmo.agent.guests import Guests
from bmo.agent.heard import HeardTurn, HeardTurns, Way
from bmo.agent.placement import words_of_assistant_before
from bmo.agent.speakers import Part, Speakers
from bmo.ids import new_id
from bmo.turn import Turn

if TYPE_CHECKING:
    from bmo.memory import MemorySession

logger = logging.getLogger("bmo.agent")


class TurnGating:
    """Makes the records of one conversation's turns and hands them to memory.

    Attributes:
        last_words: The assistant's latest words, "" at the start.
        language: ISO 639-1 code the recogniser heard last, or None.
    """

    def __init__(
        self,
        memory: MemorySession,
        guests: Guests,
        speakers: Speakers,
        turns: HeardTurns,
        background: Background,
    ) -> None:
        """Nothing was said yet; the parts are those of the conversation."""
        self.last_words = ""
        self.language: str | None = None
        self._memory = memory
        self._guests = guests
        self._speakers = speakers
        self._turns = turns
        self._background = background

    def record(
        self, parts: Sequence[Part], message: llm.ChatMessage, chat_ctx: llm.ChatContext | None
    ) -> HeardTurn:
        """A new record of a turn; of several speakers' words it is the user's, or the first's."""
        before = self.last_words
        if chat_ctx is not None:
            before = words_of_assistant_before(chat_ctx, message) or before
        speaker = speaks_for(parts)
        turn = Turn(
            text=_words_of(speaker, parts),
            user_id=speaker or self._memory.user_id,
            session_id=self._memory.session_id,
            at=self._memory.clock(),
            assistant_before=before,
            language=self.language,
            confidence=_share(message.transcript_confidence),
        )
        return HeardTurn(turn, message.text_content or "", speaker)

    def gate(self, heard: HeardTurn, parts: Sequence[Part], text: str, way: Way) -> None:
        """Hands a turn to the gate unless it was already, each speaker's words to their memory.

        The agent's own hook may have changed the words since they were heard.
        """
        if heard.way is not None:
            return
        heard.way = way  # whatever happens below, it is not gated a second time
        self._speakers.done_with(heard.said)
        speakers = dict.fromkeys(part.speaker for part in parts)
        edited = text != " ".join(part.text for part in parts) and text != heard.said
        if len(speakers) > 1 and edited:
            # Nobody can tell whose the words are now: they are kept for nobody.
            heard.kept, heard.error = False, "words of several speakers were changed by the hook"
            logger.warning("a turn of several speakers was changed and is not kept")
            self._turns.note_gated(heard)
            return
        for speaker in speakers:
            if speaker != heard.speaker:
                other = _another(heard, speaker, _words_of(speaker, parts))
                self._background.guarded("guest", self._submit, other)
        own = _words_of(heard.speaker, parts) if len(speakers) > 1 else text
        if own != heard.turn.text:
            heard.turn = replace(heard.turn, text=own)
        self._submit(heard)

    def _submit(self, heard: HeardTurn) -> None:
        self._turns.note_gated(heard)
        memory = self._guests.memory_of(heard.speaker)
        heard.kept = memory is not None
        if heard.speaker:
            telemetry.note("bmo_guest_turns", kept=str(heard.kept).lower())
            about = {"kept": heard.kept, "lk.pii.speaker": heard.speaker}
            logger.info("a guest spoke", extra=about)
        if memory is None:
            return
        try:
            # Whatever comes back: a fault there must not become one in the framework.
            decision: object = memory.submit_turn(heard.turn)
        except Exception as error:
            heard.error = repr(error)
            raise
        if isinstance(decision, asyncio.Task):
            heard.decision = decision
        else:
            heard.error = f"not a decision: {decision!r}"
            telemetry.note_fault("gate")


def speaks_for(parts: Sequence[Part]) -> str:
    """The user, when he spoke at all; else who spoke first."""
    speakers = [part.speaker for part in parts]
    return "" if "" in speakers else speakers[0]


def _share(confidence: float | None) -> float | None:
    """A recogniser's confidence where it counts from 0 to 1; what else it may mean is unknown."""
    return confidence if confidence is not None and 0 <= confidence <= 1 else None


def _words_of(speaker: str, parts: Sequence[Part]) -> str:
    return " ".join(part.text for part in parts if part.speaker == speaker)


def _another(heard: HeardTurn, speaker: str, text: str) -> HeardTurn:
    """The record of what somebody else said in the same turn."""
    turn = replace(heard.turn, text=text, user_id=speaker, id=new_id())
    return HeardTurn(turn, heard.said, speaker, way=heard.way)
