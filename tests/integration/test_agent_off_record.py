"""Off the record: by voice and tool, said aloud, across a hand-over; nothing of it is written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from livekit.agents import Agent, llm

from bmo.agent import attach
from bmo.memory import MemoryService, MemorySession
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak
from tests.homes import files_with

pytestmark = pytest.mark.integration

SECRET = "zacharias"
TOLD = f"my brother is called {SECRET}"


@asynccontextmanager
async def memory_at(home: Path, mode: str) -> AsyncIterator[MemorySession]:
    settings = Settings.model_construct(
        bmo_home=home, mem0_setting=mode, bmo_recall_deadline_ms=5000
    )
    service = await MemoryService.open(settings)
    memory = service.session(user_id="glenn")
    try:
        yield memory
        await memory.aclose()
    finally:
        await service.aclose()


def texts(memory: MemorySession) -> list[str]:
    return [turn.text for turn in memory.service.ledger.turns("glenn")]


@pytest.mark.parametrize("mode", ["GATED", "NORMAL"])
async def test_by_voice_it_is_said_aloud_and_survives_a_hand_over(
    mode: str, tmp_path: Path
) -> None:
    async with memory_at(tmp_path, mode) as memory:
        # The assistant repeats what it hears: its words must not be written either.
        model, ears = RuleLLM(_echo), ScriptedRecogniser("en")
        first = attach(Agent(instructions="You greet."), memory)
        second = attach(Booking(), memory)
        async with running(first, model, ears) as session:
            await speak(session, ears, "off the record")
            assert "Off the record" in notices(model)
            await speak(session, ears, TOLD)
            session.update_agent(second)
            await second.entered.wait()
            await session.wait_for_idle()
            await speak(session, ears, f"and {SECRET} is allergic to nuts")
            await speak(session, ears, f"when is the birthday of {SECRET}")
            await speak(session, ears, "back on the record")
            assert "On the record again" in notices(model)
            await speak(session, ears, "i live in leeds")
            await speak(session, ears, f"off the record i am leaving {SECRET}")
            await speak(session, ears, "i am allergic to nuts")
        await memory.flush()
        written = texts(memory)
        assert {"i live in leeds", "i am allergic to nuts"} <= set(written)
    assert SECRET not in str(written)
    assert files_with(tmp_path, SECRET) == []


@pytest.mark.parametrize("mode", ["GATED", "NORMAL"])
async def test_by_tool_nothing_is_written_until_it_is_back_on(mode: str, tmp_path: Path) -> None:
    switches = iter((True, False))

    def rule(context: llm.ChatContext) -> str | llm.FunctionToolCall:
        last = context.items[-1]
        words = [m.text_content or "" for m in context.messages() if m.role == "user"][-1]
        if isinstance(last, llm.FunctionCallOutput) or "discreet" not in words:
            return f"Done: {getattr(last, 'output', '')}"
        arguments = json.dumps({"on": next(switches)})
        return llm.FunctionToolCall(name="off_the_record", arguments=arguments, call_id="call")

    async with memory_at(tmp_path, mode) as memory:
        ears = ScriptedRecogniser("en")
        agent = attach(Agent(instructions="You are BMO."), memory, tools=("off_the_record",))
        async with running(agent, RuleLLM(rule), ears) as session:
            await speak(session, ears, "please be discreet for a moment")
            said = [m.text_content or "" for m in session.history.messages()]
            assert any("Off the record" in text for text in said)
            await speak(session, ears, TOLD)
            await speak(session, ears, "no need to be discreet any longer")
            await speak(session, ears, "i live in leeds")
        await memory.flush()
        written = texts(memory)
        assert "i live in leeds" in written
    assert TOLD not in written
    assert files_with(tmp_path, SECRET) == []


async def test_what_was_told_before_is_forgotten_off_the_record_too(tmp_path: Path) -> None:
    async with memory_at(tmp_path, "GATED") as memory:
        model, ears = RuleLLM(_echo), ScriptedRecogniser("en")
        async with running(
            attach(Agent(instructions="You are BMO."), memory), model, ears
        ) as session:
            await speak(session, ears, "my son keith is a plumber in halifax")
            await speak(session, ears, "my daughter nell is allergic to nuts")
            await speak(session, ears, "stop remembering for a bit")
            await speak(session, ears, "forget that about nell, it weren't true")
            await speak(session, ears, "are we still off the record")
            assert "Off the record still" in notices(model)
            await speak(session, ears, "forget everything about keith")
            assert "Ask whether to erase them for good" in notices(model)
            await speak(session, ears, "yes please")
            assert "erased for good" in notices(model)
            await speak(session, ears, "right you can start again")
            assert "On the record again" in notices(model)
            await speak(session, ears, "i live in leeds")
        await memory.flush()
        assert [fact.text for fact in memory.service.ledger.live_facts("glenn")] == [
            "Lives in Leeds"
        ]
    for word in ("nell", "keith", "plumber"):
        assert files_with(tmp_path, word) == []


def _echo(context: llm.ChatContext) -> str:
    return "You said: " + [m.text_content or "" for m in context.messages() if m.role == "user"][-1]


def notices(model: RuleLLM) -> str:
    """What memory asked the assistant to say, in its latest call."""
    return " ".join(text for _, text in model.last_texts if "<memory_notice>" in text)


class Booking(Agent):
    """Says when it has taken over."""

    def __init__(self) -> None:
        super().__init__(instructions="You book.")
        self.entered = asyncio.Event()

    async def on_enter(self) -> None:
        self.entered.set()
