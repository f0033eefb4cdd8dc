"""Realtime models: the profile in the instructions, recall as a tool, storage from the items."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from livekit.agents import AgentSession

from bmo.agent import MemoryAgent, prepare
from tests.fakes.memory_session import FakeMemorySession
from tests.fakes.realtime import FakeRealtimeModel

pytestmark = pytest.mark.integration


async def test_a_realtime_conversation() -> None:
    memory = FakeMemorySession(profile_texts=("Lives in Leeds",))
    model = FakeRealtimeModel(reply="Nice to meet Sam.")
    agent = MemoryAgent(
        memory=memory.as_session(), instructions="You are BMO.", memory_tools=("recall",)
    )
    await prepare(agent, model=model)
    session: AgentSession[Any] = AgentSession(llm=model, vad=None, user_away_timeout=None)
    await session.start(agent, record=False)
    try:
        live = model.sessions[0]
        assert live.instructions == "You are BMO.\n\nKnown about the user:\n- Lives in Leeds"
        assert "recall" in live.tools.function_tools
        live.hears("my brother is sam")
        async with asyncio.timeout(10):
            while not memory.replies:  # noqa: ASYNC110  # the framework has no event for it
                await asyncio.sleep(0.01)
        assert memory.texts == ["my brother is sam"]
        assert memory.replies == [(memory.turns[0].id, "Nice to meet Sam.")]
        await session.generate_reply(user_input="and my cat is tofu")
    finally:
        await session.aclose()
    assert memory.texts == ["my brother is sam", "and my cat is tofu"]


async def test_preparing_twice_puts_the_profile_in_once() -> None:
    memory = FakeMemorySession(profile_texts=("Lives in Leeds",))
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    for _ in range(2):
        await prepare(agent, model=FakeRealtimeModel())
    assert str(agent.instructions).count("Lives in Leeds") == 1


async def test_a_language_model_gets_the_profile_in_its_context_instead() -> None:
    memory = FakeMemorySession(profile_texts=("Lives in Leeds",))
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    await prepare(agent)
    assert agent.instructions == "You are BMO."
    assert agent.conversation.profile is not None
