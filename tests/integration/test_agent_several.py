"""Agents of one session that do not share a memory: each keeps to its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from livekit.agents import Agent, AgentTask, function_tool, llm

from bmo.agent import attach
from bmo.memory import MemoryService
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import load_settings
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak, until
from tests.integration.test_agent_ways import (
    AskName,
    Booking,
    ask_for_the_name,
    books_a_table,
    runs,
)

pytestmark = pytest.mark.integration


async def test_a_task_without_a_memory_keeps_what_it_is_told(service: MemoryService) -> None:
    """For example a card's number: only agents that were attached are heard."""
    memory, ears = service.session(user_id="glenn"), ScriptedRecogniser("en")
    front = attach(Booking(AskName), memory)
    model = RuleLLM(books_a_table)
    async with running(front, model, ears) as session:
        await ask_for_the_name(session, ears, front)
        await speak(session, ears, "i live in leeds")
    await memory.aclose()
    turns = [turn.text for turn in service.ledger.turns("glenn")]
    assert turns == ["book a table for two", "i live in leeds"]


async def test_agents_of_two_memories_do_not_hear_each_other(service: MemoryService) -> None:
    ana, ben = (service.session(user_id=user) for user in ("ana", "ben"))
    second = attach(Agent(instructions="You speak with Ben."), ben)

    class First(Agent):
        @function_tool
        async def hand_over(self) -> Agent:
            """Hands over to the other."""
            return second

    def rule(context: llm.ChatContext) -> str | llm.FunctionToolCall:
        words = [m.text_content or "" for m in context.messages() if m.role == "user"][-1]
        called = any(isinstance(item, llm.FunctionCall) for item in context.items)
        if "over" in words and not called:
            return llm.FunctionToolCall(name="hand_over", arguments="{}", call_id="1")
        return f"You said {words}."

    ears = ScriptedRecogniser("en")
    async with running(attach(First(instructions=""), ana), RuleLLM(rule), ears) as session:
        await speak(session, ears, "i live in leeds")
        await speak(session, ears, "over to ben")
        await until(lambda: runs(second))
        await session.wait_for_idle()
        await speak(session, ears, "i am allergic to nuts")
        await session.run(user_input="my brother is sam")
    await ana.aclose()
    await ben.aclose()
    said = {
        user: [(turn.text, turn.assistant_after) for turn in service.ledger.turns(user)]
        for user in ("ana", "ben")
    }
    assert said["ana"] == [
        ("i live in leeds", "You said i live in leeds."),
        ("over to ben", ""),
    ]
    assert said["ben"] == [
        ("i am allergic to nuts", "You said i am allergic to nuts."),
        ("my brother is sam", "You said my brother is sam."),
    ]


async def test_a_class_of_tasks_can_be_attached(service: MemoryService) -> None:
    memory, ears = service.session(user_id="task"), ScriptedRecogniser("en")
    remembering = attach(AskName, memory)
    assert issubclass(remembering, AgentTask)
    front = Booking(remembering)
    async with running(front, RuleLLM(books_a_table), ears) as session:
        await ask_for_the_name(session, ears, front)
    await memory.aclose()
    assert [turn.text for turn in service.ledger.turns("task")] == ["my name is glenn"]


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    opened = await MemoryService.open(load_settings(bmo_home=tmp_path / "home"))
    yield opened
    await opened.aclose()
