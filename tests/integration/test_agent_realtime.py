"""Realtime models: the profile in the instructions, recall as a tool, storage from the items."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from livekit.agents import AgentSession, llm

from bmo.agent import MemoryAgent, prepare
from bmo.memory import MemoryService
from bmo.settings import load_settings
from bmo.turn import Turn
from tests.fakes.memory_session import FakeMemorySession
from tests.fakes.realtime import FakeRealtimeModel, FakeRealtimeSession
from tests.fakes.sessions import until

pytestmark = pytest.mark.integration


async def test_a_realtime_conversation() -> None:
    memory = FakeMemorySession(profile_texts=("Lives in Leeds",))
    model = FakeRealtimeModel(reply="Nice to meet Sam.")
    agent = MemoryAgent(
        memory=memory.as_session(), instructions="You are BMO.", memory_tools=("recall",)
    )
    await prepare(agent)
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


async def test_what_a_room_is_shown_of_an_agent_has_no_profile() -> None:
    """LiveKit's session channel shows instructions, context and history to whoever asks."""
    memory = FakeMemorySession(profile_texts=("Lives in Leeds",))
    model = FakeRealtimeModel()
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    for _ in range(2):
        await prepare(agent)
    session: AgentSession[Any] = AgentSession(llm=model, vad=None, user_away_timeout=None)
    await session.start(agent, record=False)
    try:
        await until(lambda: model.sessions[0].instructions.count("Lives in Leeds") == 1)
        await agent.update_instructions("You are brief.")
        shown = [str(agent.instructions), str(agent.chat_ctx.items), str(session.history.items)]
        assert model.sessions[0].instructions.startswith("You are brief.\n\n")
        assert model.sessions[0].instructions.count("Lives in Leeds") == 1
    finally:
        await session.aclose()
    assert not [text for text in shown if "Leeds" in text]
    assert "You are brief." in shown[0]


async def test_a_language_model_gets_the_profile_in_its_context_instead() -> None:
    memory = FakeMemorySession(profile_texts=("Lives in Leeds",))
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    await prepare(agent)
    assert agent.instructions == "You are BMO."
    assert agent.conversation.profile is not None


@asynccontextmanager
async def opened(
    home: Path, mode: Literal["GATED", "NORMAL"] = "GATED"
) -> AsyncIterator[MemoryService]:
    """A real memory service."""
    settings = load_settings(bmo_home=home, mem0_setting=mode, bmo_recall_deadline_ms=20_000)
    service = await MemoryService.open(settings)
    try:
        yield service
    finally:
        await service.aclose()


@asynccontextmanager
async def conversing(
    service: MemoryService, model: FakeRealtimeModel
) -> AsyncIterator[tuple[MemoryAgent, FakeRealtimeSession, AgentSession[Any]]]:
    """A conversation with a realtime model on real memory."""
    agent = MemoryAgent(
        memory=service.session(user_id="glenn"),
        instructions="You are BMO.",
        memory_tools=("recall",),
    )
    await prepare(agent)
    session: AgentSession[Any] = AgentSession(llm=model, vad=None, user_away_timeout=None)
    await session.start(agent, record=False)
    try:
        yield agent, model.sessions[0], session
    finally:
        await session.aclose()
        await agent.conversation.aclose()


async def said(agent: MemoryAgent, live: FakeRealtimeSession, words: str) -> None:
    """One turn, until it is gated, recorded and answered."""
    before = len(agent.conversation.turns)
    live.hears(words)
    await until(lambda: len(agent.conversation.turns) > before)
    heard = agent.conversation.turns[-1]
    await until(lambda: bool(heard.reply))
    assert heard.decision is not None
    await heard.decision
    await agent.conversation.memory.recorded(heard.turn.id)


@pytest.mark.parametrize("mode", ["GATED", "NORMAL"])
async def test_what_is_said_to_a_realtime_model_is_remembered(
    tmp_path: Path, mode: Literal["GATED", "NORMAL"]
) -> None:
    async with opened(tmp_path, mode) as service:
        model = FakeRealtimeModel(reply="Nice to meet Sam.")
        async with conversing(service, model) as (agent, live, _):
            await said(agent, live, "my brother is called sam")
            await said(agent, live, "turn off the lamp")
            await agent.conversation.flush()
        said_turns = service.ledger.turns("glenn")
        assert [turn.text for turn in said_turns] == [
            "my brother is called sam",
            "turn off the lamp",
        ]
        assert said_turns[0].assistant_after == "Nice to meet Sam."
        assert service.index is not None
        stored = sorted(entry.text for entry in service.index.entries("glenn"))
        gated = ["Has a brother named Sam"]
        assert stored == (gated if mode == "GATED" else sorted(turn.text for turn in said_turns))

        again = FakeRealtimeModel(reply="Hello.")
        async with conversing(service, again) as (agent, live, _):
            assert ("Has a brother named Sam" in live.instructions) == (mode == "GATED")
            await said(agent, live, "hello there")


async def test_the_recall_tool_answers_from_memory(tmp_path: Path) -> None:
    async with opened(tmp_path) as service:
        model = FakeRealtimeModel(reply="He is called Sam.")
        async with conversing(service, model) as (agent, live, session):
            await said(agent, live, "my brother is called sam")
            model.calls.append(("recall", '{"question": "what is my brother called"}'))
            live.hears("whats my brother called")

            def answers() -> list[str]:
                items = session.history.items
                return [i.output for i in items if isinstance(i, llm.FunctionCallOutput)]

            await until(lambda: bool(answers()))
            (answer,) = answers()
            assert "Has a brother named Sam" in answer


async def test_turns_that_interrupt_an_answer_are_each_gated_once(tmp_path: Path) -> None:
    async with opened(tmp_path) as service:
        model = FakeRealtimeModel(reply="Well, that is a long story.")
        async with conversing(service, model) as (agent, live, _):
            model.held.clear()
            live.hears("my brother is called sam")
            await until(lambda: len(agent.conversation.turns) == 1)
            live.hears("and my sister is called ida")
            await until(lambda: len(agent.conversation.turns) == 2)
            model.held.set()
            await said(agent, live, "my cat is called tofu")
            await agent.conversation.flush()
        assert [turn.text for turn in service.ledger.turns("glenn")] == [
            "my brother is called sam",
            "and my sister is called ida",
            "my cat is called tofu",
        ]
        live_facts = {fact.text for fact in service.ledger.live_facts("glenn")}
        assert live_facts == {
            "Has a brother named Sam",
            "Has a sister named Ida",
            "Has a cat named Tofu",
        }


async def test_what_is_forgotten_leaves_the_instructions(tmp_path: Path) -> None:
    async with opened(tmp_path) as service:
        before = service.session(user_id="glenn")
        for text in ("my brother is called sam", "i live in leeds"):
            turn = Turn(text=text)
            await before.on_turn(turn)
            await before.recorded(turn.id)
        await before.aclose()
        async with conversing(service, FakeRealtimeModel(reply="Fine.")) as (agent, live, _):
            assert "Leeds" in live.instructions
            await said(agent, live, "forget that i live in leeds")
            await said(agent, live, "thank you")
            await until(lambda: "Leeds" not in live.instructions)
            assert "Has a brother named Sam" in live.instructions
            assert live.instructions.startswith("You are BMO.")
            await said(agent, live, "forget everything about my brother")
            await said(agent, live, "yes")
            await said(agent, live, "thank you")
            await until(lambda: "Sam" not in live.instructions)
            assert live.instructions.strip() == "You are BMO."


async def test_a_realtime_model_asks_back_before_much_is_erased(tmp_path: Path) -> None:
    async with opened(tmp_path) as service:
        model = FakeRealtimeModel(reply="Fine.")
        async with conversing(service, model) as (agent, live, _):
            await said(agent, live, "my brother is called sam")
            await said(agent, live, "i live in leeds")
            assert model.asked == []
            await said(agent, live, "forget everything")
            await until(lambda: bool(model.asked))
            assert "2 memories are withdrawn" in model.asked[0]
            assert "Ask whether to erase them" in model.asked[0]
            assert service.ledger.count_live("glenn") == 0
            assert len(service.ledger.pending_erasures("glenn")) == 1
            await said(agent, live, "no keep it")
            await until(lambda: len(model.asked) == 2)
            assert "2 memories are kept" in model.asked[1]
            await agent.conversation.flush()
            assert service.ledger.count_live("glenn") == 2
            await said(agent, live, "forget everything about my brother")
            await until(lambda: len(model.asked) == 3)
            await said(agent, live, "yes")
            await until(lambda: len(model.asked) == 4)
            assert "erased for good" in model.asked[3]
            await agent.conversation.flush()
        assert [fact.text for fact in service.ledger.live_facts("glenn")] == ["Lives in Leeds"]
        assert service.ledger.pending_erasures("glenn") == []
