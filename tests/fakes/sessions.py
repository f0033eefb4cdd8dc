"""LiveKit sessions for tests: real ``AgentSession``s that wait for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from livekit.agents import Agent, AgentSession, llm, stt

from bmo.replay.scripted import ScriptedRecogniser

TIMEOUT_S = 60.0
"""Longest wait for anything in a test."""


def spoken_session(model: llm.LLM[Any], ears: stt.STT[Any]) -> AgentSession[Any]:
    """A session whose turns end when the test commits them."""
    return AgentSession(
        stt=ears,
        llm=model,
        vad=None,
        session_close_transcript_timeout=0,
        user_away_timeout=None,
        turn_handling={
            "turn_detection": "manual",
            "endpointing": {"min_delay": 0.0, "max_delay": 0.0},
        },
    )


def preemptive_session(
    model: llm.LLM[Any], ears: stt.STT[Any], *, endpointing_s: float
) -> AgentSession[Any]:
    """A session whose turns the recogniser ends, with replies that start before their end.

    Args:
        model: Who replies.
        ears: Who tells of the words and of their end.
        endpointing_s: Seconds of silence that end a turn.
    """
    return AgentSession(
        stt=ears,
        llm=model,
        vad=None,
        session_close_transcript_timeout=0,
        user_away_timeout=None,
        turn_handling={
            "turn_detection": "stt",
            "endpointing": {"min_delay": endpointing_s, "max_delay": endpointing_s},
            "preemptive_generation": {"enabled": True},
        },
    )


@asynccontextmanager
async def running(
    agent: Agent, model: llm.LLM[Any], ears: ScriptedRecogniser | None = None
) -> AsyncIterator[AgentSession[Any]]:
    """A session with this agent, closed at the end."""
    session = spoken_session(model, ears or ScriptedRecogniser("en"))
    await session.start(agent, record=False)
    try:
        yield session
    finally:
        await session.aclose()


async def until(condition: Callable[[], bool]) -> None:
    """Waits for something that no event tells of; ``TimeoutError`` when it does not come."""
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():  # noqa: ASYNC110  # the framework's state has no event to wait for
            await asyncio.sleep(0.005)


async def speak(session: AgentSession[Any], ears: ScriptedRecogniser, words: str) -> None:
    """One spoken turn, until its reply is out."""
    ears.will_hear(words)
    await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
    await session.wait_for_idle()
