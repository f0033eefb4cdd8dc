"""Spoken words of a conversation with a realtime model, where a recogniser listens beside it.

A model that ends turns itself and does not transcribe leaves a turn's words to the recogniser's
transcripts alone: LiveKit then neither calls the hook nor adds an item. One that does transcribe
may be heard twice, once by each.
"""

from __future__ import annotations

from collections import deque
from difflib import SequenceMatcher
from typing import Any

from livekit.agents import NOT_GIVEN, Agent, AgentSession, UserInputTranscribedEvent, llm

from bmo.agent.heard import bare_words
from bmo.agent.speakers import Part

SAME_UTTERANCE = 0.5
"""From this share of words in common on, what model and recogniser heard is one utterance."""

UNPAIRED_KEPT = 8
"""Utterances that may still be heard a second time."""

_OF_RECOGNISER = "stt_metadata"
"""LiveKit's metric on a user message whose words come from the session's recogniser."""


class LiveTranscripts:
    """Which transcripts of a realtime conversation are turns of their own."""

    def __init__(self) -> None:
        """Nothing was heard."""
        self._words: list[Part] = []
        self._hooked = False
        self._unpaired: deque[tuple[bool, list[str]]] = deque(maxlen=UNPAIRED_KEPT)

    def through_hook(self) -> None:
        """A spoken turn came through the hook: LiveKit ends turns itself, and none is missed."""
        self._hooked = True
        self._words.clear()

    def hear(
        self, session: AgentSession[Any], event: UserInputTranscribedEvent, speaker: str
    ) -> None:
        """Keeps a recogniser's final words if nothing else will tell of them."""
        if event.is_final and event.transcript.strip() and self._recogniser_alone(session):
            self._words.append(Part(speaker, event.transcript))

    def turn(self) -> tuple[Part, ...]:
        """The words of the turn that is over (a reply begins, or the conversation ends)."""
        words = tuple(self._words)
        self._words.clear()
        return words

    def heard_twice(self, session: AgentSession[Any], item: llm.ChatMessage) -> bool:
        """Whether an item's words are kept already, as those of another item or of transcripts.

        Where the application ends turns itself (``commit_user_turn``) LiveKit adds the model's
        words and the recogniser's; and at a session's end all that the recogniser heard of late.
        """
        model = model_of(session.current_agent, session)
        if not isinstance(model, llm.RealtimeModel) or item.transcript_confidence is None:
            return False  # (typed words have no confidence)
        of_recogniser, words = _OF_RECOGNISER in item.metrics, bare_words(item.text_content or "")
        if not model.capabilities.user_transcription:
            return of_recogniser and self._recogniser_alone(session)
        for earlier in self._unpaired:
            other, said = earlier
            alike = SequenceMatcher(None, said, words, autojunk=False).ratio()
            if other != of_recogniser and alike >= SAME_UTTERANCE:
                self._unpaired.remove(earlier)
                return True
        self._unpaired.append((of_recogniser, words))
        return False

    def _recogniser_alone(self, session: AgentSession[Any]) -> bool:
        """Whether only the recogniser's transcripts tell what was said."""
        model = model_of(session.current_agent, session)
        return (
            isinstance(model, llm.RealtimeModel)
            and model.capabilities.turn_detection
            and not model.capabilities.user_transcription
            and not self._hooked
        )


def model_of(agent: Agent, session: AgentSession[Any] | None = None) -> object:
    """The model an agent runs on: its own, else its session's (to be given at a session's end)."""
    if agent.llm is not NOT_GIVEN:
        return agent.llm
    return (session or agent.session).llm


def is_realtime(agent: Agent, session: AgentSession[Any] | None = None) -> bool:
    """Whether an agent runs on a realtime model."""
    return isinstance(model_of(agent, session), llm.RealtimeModel)
