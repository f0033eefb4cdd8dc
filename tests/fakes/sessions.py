"""LiveKit sessions for tests: real ``AgentSession``s that wait for nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from livekit.agents import Agent, AgentSession, llm, stt

from bmo.replay.scripted import ScriptedRecogniser

TIMEOUT_S = 10.0
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


async def speak(session: AgentSession[Any], ears: ScriptedRecogniser, words: str) -> None:
    """One spoken turn, until its reply is out."""
    ears.will_hear(words)
    await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
    await session.wait_for_idle()
