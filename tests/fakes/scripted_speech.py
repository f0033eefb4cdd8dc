"""Spoken turns by scripted recogniser events, with preemptive generation as LiveKit does it.

A real ``AgentSession``: interim transcripts while the person speaks, a preflight one at the end of
speech, then the final one. LiveKit starts the reply at the preflight and ends the turn when the
endpointing delay is over. ``play`` notes of each turn what a person would notice (the time to the
reply) and whether the reply that was started early is the one that was given.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from livekit.agents import Agent
from livekit.agents.stt import SpeechEventType
from livekit.agents.voice.io import TextOutput

from bmo.agent.placement import memory_blocks
from tests.fakes.models import EventSTT, RuleLLM
from tests.fakes.sessions import preemptive_session

TIMEOUT_S = 60.0
"""Longest wait for anything."""

WORD_S = 0.06
"""Seconds between two words; about a third of what people take."""

SETTLES_S = 0.03
"""Seconds from the words a recogniser offers early (preflight) to its final ones."""


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """What became of one spoken turn.

    Attributes:
        words: What was said.
        model_calls: Calls of the language model for it; two when an early reply was thrown away.
        kept: Whether the reply that was started before the end of the turn was given.
        model_ms: Milliseconds from the end of speech to the first call of the model.
        reply_ms: Milliseconds from the end of speech to the first words of the reply.
        blocks: Memory the model had for the reply that was given: profile, recall.
    """

    words: str
    model_calls: int
    kept: bool
    model_ms: float
    reply_ms: float
    blocks: tuple[str, ...]


class _FirstWords(TextOutput):
    """Notes when a reply begins."""

    def __init__(self) -> None:
        super().__init__(label="test transcript", next_in_chain=None)
        self.began = asyncio.Event()
        self.at = 0.0

    async def capture_text(self, text: str) -> None:
        if not self.began.is_set():
            self.at = time.perf_counter()
            self.began.set()

    def flush(self) -> None:
        """Nothing is buffered."""


class _TimedLLM(RuleLLM):
    """Notes when it is called."""

    def __init__(self, latency_s: float) -> None:
        super().__init__("Here you are.", delay_s=latency_s)
        self.called_at: list[float] = []

    def chat(self, **call: Any) -> Any:
        self.called_at.append(time.perf_counter())
        return super().chat(**call)


async def play(
    agent: Agent,
    turns: Sequence[str],
    *,
    latency_s: float,
    endpointing_s: float,
    until_early: bool = False,
) -> list[PlayedTurn]:
    """Speaks the turns to an agent, one after the other, each until its reply is out.

    Args:
        agent: Who hears them.
        turns: The words of each.
        latency_s: Seconds from a call of the model to its first words.
        endpointing_s: Seconds of silence that end a turn.
        until_early: No turn ends before the model is called early, so that a slow machine changes
            nothing; else the clock decides, as with people.
    """
    model, ears, words_out = _TimedLLM(latency_s), EventSTT(), _FirstWords()
    session = preemptive_session(model, ears, endpointing_s=endpointing_s)
    session.output.transcription = words_out
    await session.start(agent, record=False)
    played: list[PlayedTurn] = []
    try:
        for words in turns:
            calls = len(model.contexts)
            words_out.began.clear()
            ended = await _say(ears, words)
            if until_early:
                await _until_called(model, calls)
            else:
                await asyncio.sleep(SETTLES_S)
            settled = time.perf_counter()
            _end(ears, words)
            await asyncio.wait_for(words_out.began.wait(), TIMEOUT_S)
            await asyncio.wait_for(session.wait_for_idle(), TIMEOUT_S)
            first = model.called_at[calls]
            made = len(model.contexts) - calls
            played.append(
                PlayedTurn(
                    words,
                    made,
                    kept=made == 1 and first < (settled if until_early else ended + endpointing_s),
                    model_ms=(first - ended) * 1000,
                    reply_ms=(words_out.at - ended) * 1000,
                    blocks=tuple(memory_blocks(model.contexts[-1])),
                )
            )
    finally:
        await session.aclose()
    return played


async def _until_called(model: _TimedLLM, calls: int) -> None:
    with contextlib.suppress(TimeoutError):  # it was not: the end of the turn calls it
        async with asyncio.timeout(TIMEOUT_S):
            while len(model.called_at) == calls:  # noqa: ASYNC110
                await asyncio.sleep(0.005)


async def _say(ears: EventSTT, words: str) -> float:
    """One utterance up to its last word; the moment the person stopped speaking."""
    ears.say(SpeechEventType.START_OF_SPEECH)
    heard = ""
    for word in words.split():
        heard = f"{heard} {word}".strip()
        await asyncio.sleep(WORD_S)
        ears.say(SpeechEventType.INTERIM_TRANSCRIPT, heard)
    await asyncio.sleep(WORD_S)
    ended = time.perf_counter()
    ears.say(SpeechEventType.PREFLIGHT_TRANSCRIPT, words)
    return ended


def _end(ears: EventSTT, words: str) -> None:
    # The final words come with punctuation, as recognisers write them.
    ears.say(SpeechEventType.FINAL_TRANSCRIPT, f"{words[0].upper()}{words[1:]}.")
    ears.say(SpeechEventType.END_OF_SPEECH)
