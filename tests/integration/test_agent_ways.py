"""The table of ways: each turn is in the ledger once and gated once, however it came.

Real parts: a real ``AgentSession``, the memory service with its ledger and index. A row drives a
session in one way and returns what was said; the test then looks at the ledger only.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from livekit.agents import Agent, AgentSession, AgentTask, StopResponse, function_tool, llm
from livekit.agents.voice.room_io import TextInputEvent
from livekit.agents.voice.room_io.types import _default_text_input_cb
from rich.console import Console

from bmo.agent import MemoryAgent, attach
from bmo.chat import run_chat
from bmo.ledger import Ledger
from bmo.ledger.schema import decisions
from bmo.memory import MemoryService, MemorySession
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings, load_settings
from bmo.worker import typed_in_room
from tests.fakes.console_line import console_line
from tests.fakes.models import EventSTT, RuleLLM
from tests.fakes.sessions import TIMEOUT_S, preemptive_session, running, speak, until
from tests.tables import Table

pytestmark = pytest.mark.integration


@dataclass
class Stage:
    """What a row has to drive: one visit of one user."""

    memory: MemorySession
    home: Path
    ears: ScriptedRecogniser

    @property
    def ledger(self) -> Ledger:
        return self.memory.service.ledger

    @asynccontextmanager
    async def talking(
        self, agent: Agent | None = None, model: RuleLLM | None = None
    ) -> AsyncIterator[AgentSession[Any]]:
        chosen = agent or MemoryAgent(memory=self.memory, instructions="You are BMO.")
        async with running(chosen, model or RuleLLM("Nice."), self.ears) as session:
            yield session


Way = Callable[[Stage], Awaitable[tuple[str, ...]]]
WAYS: Table[Way] = Table()
row = WAYS.row


@row("speech")
async def _speech(stage: Stage) -> tuple[str, ...]:
    said = ("my brother is sam", "i live in leeds")
    async with stage.talking() as session:
        for words in said:
            await speak(session, stage.ears, words)
    return said


@row("speech, committed without a reply")
async def _without_reply(stage: Stage) -> tuple[str, ...]:
    async with stage.talking() as session:
        stage.ears.will_hear("i live in leeds")
        await session.commit_user_turn(transcript_timeout=TIMEOUT_S, skip_reply=True)
        await session.wait_for_idle()
    return ("i live in leeds",)


@row("session.run")
async def _session_run(stage: Stage) -> tuple[str, ...]:
    async with stage.talking() as session:
        await session.run(user_input="i live in leeds")
    return ("i live in leeds",)


@row("generate_reply(user_input=)")
async def _generate_reply(stage: Stage) -> tuple[str, ...]:
    async with stage.talking() as session:
        await session.generate_reply(user_input="i live in leeds")
    return ("i live in leeds",)


@row("put into the history, then a reply asked for")
async def _update_chat_ctx(stage: Stage) -> tuple[str, ...]:
    """What an application loaded from an earlier conversation is no turn of this one."""
    loaded = llm.ChatContext.empty()
    loaded.add_message(role="user", content="i live in york")
    agent = MemoryAgent(memory=stage.memory, instructions="You are BMO.", chat_ctx=loaded)
    async with stage.talking(agent) as session:
        await session.generate_reply()
        said = agent.chat_ctx.copy()
        said.add_message(role="user", content="i live in leeds")
        await agent.update_chat_ctx(said)
        await session.generate_reply()
        await session.generate_reply(instructions="Say it again.")
    return ("i live in leeds",)


@row("room text, LiveKit's own callback")
async def _room_text(stage: Stage) -> tuple[str, ...]:
    async with stage.talking() as session:
        done = _default_text_input_cb(session, TextInputEvent(text="i live in leeds"))
        assert done is not None
        await done
        await session.wait_for_idle()
    return ("i live in leeds",)


@row("room text, BMO's worker")
async def _worker_text(stage: Stage) -> tuple[str, ...]:
    async with stage.talking() as session:
        await typed_in_room(session, TextInputEvent(text="i live in leeds"))
        await session.wait_for_idle()
    return ("i live in leeds",)


@row("console --text")
async def _console_text(stage: Stage) -> tuple[str, ...]:
    said = ("my brother is sam", "i live in leeds")
    async with stage.talking() as session, console_line(session) as line:
        for words in said:
            await line.type(words)
    return said


@row("typed in bmo chat")
async def _bmo_chat(stage: Stage) -> tuple[str, ...]:
    """In a home of its own: ``bmo chat`` opens and closes the store itself."""
    said = ("my brother is sam", "i live in leeds")
    settings = chosen_settings(stage.home / "chat", bmo_user_id=stage.memory.user_id)
    typed = io.StringIO("\n".join([*said, "/quit", ""]))
    screen = Console(file=io.StringIO(), highlight=False)
    assert await run_chat(settings, stdin=typed, console=screen, responder=RuleLLM("Nice.")) == 0
    return said


@row("last words at close")
async def _last_words(stage: Stage) -> tuple[str, ...]:
    async with stage.talking() as session:
        await speak(session, stage.ears, "hello there")
        stage.ears.will_hear("oh and i am allergic to nuts")
    return ("hello there", "oh and i am allergic to nuts")


@row("interrupted while the model thinks")
async def _interrupted(stage: Stage) -> tuple[str, ...]:
    model = RuleLLM(delay_s=30.0)
    async with stage.talking(model=model) as session:
        stage.ears.will_hear("my brother is sam")
        await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
        await until(lambda: len(model.contexts) == 1)
        await session.interrupt()
        await session.wait_for_idle()
    return ("my brother is sam",)


@row("interrupted by the next turn")
async def _interrupted_by_speech(stage: Stage) -> tuple[str, ...]:
    model = RuleLLM(delay_s=30.0)
    async with stage.talking(model=model) as session:
        stage.ears.will_hear("my brother is sam")
        await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
        await until(lambda: len(model.contexts) == 1)
        model.delay_s = 0.0
        await speak(session, stage.ears, "wait i live in leeds")
    return ("my brother is sam", "wait i live in leeds")


@row("two quick turns")
async def _two_quick(stage: Stage) -> tuple[str, ...]:
    both_committed = asyncio.Event()

    class Slow(MemoryAgent):
        async def on_user_turn_completed(
            self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
        ) -> None:
            await both_committed.wait()

    said = ("my name is glenn", "and i live in leeds")
    async with stage.talking(Slow(memory=stage.memory, instructions="")) as session:
        for words in said:
            stage.ears.will_hear(words)
            await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
        both_committed.set()
        await session.wait_for_idle()
    return said


@row("handoff between two agents sharing a memory")
async def _handoff(stage: Stage) -> tuple[str, ...]:
    booking = attach(Agent(instructions="You book."), stage.memory)

    class Front(Agent):
        @function_tool
        async def to_booking(self) -> Agent:
            """Hands over."""
            return booking

    def rule(context: llm.ChatContext) -> str | llm.FunctionToolCall:
        asked = any(isinstance(item, llm.FunctionCall) for item in context.items)
        words = [m.text_content or "" for m in context.messages() if m.role == "user"]
        if not asked and words and "table" in words[-1]:
            return llm.FunctionToolCall(name="to_booking", arguments="{}", call_id="1")
        return "Fine."

    front = attach(Front(instructions="You greet."), stage.memory)
    async with stage.talking(front, RuleLLM(rule)) as session:
        await speak(session, stage.ears, "my brother is sam")
        await speak(session, stage.ears, "book a table for two")
        await until(lambda: runs(booking))
        await session.wait_for_idle()
        await speak(session, stage.ears, "i am allergic to nuts")
        await session.run(user_input="i live in leeds")
    return ("my brother is sam", "book a table for two", "i am allergic to nuts", "i live in leeds")


@row("an AgentTask sharing the memory")
async def _agent_task(stage: Stage) -> tuple[str, ...]:
    front = attach(Booking(lambda: attach(AskName(), stage.memory)), stage.memory)
    async with stage.talking(front, RuleLLM(books_a_table)) as session:
        await ask_for_the_name(session, stage.ears, front)
        await speak(session, stage.ears, "i live in leeds")
    return ("book a table for two", "my name is glenn", "i live in leeds")


@row("StopResponse from the user's own hook")
async def _stop_response(stage: Stage) -> tuple[str, ...]:
    class Picky(MemoryAgent):
        async def on_user_turn_completed(
            self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
        ) -> None:
            if "computer" not in (new_message.text_content or ""):
                raise StopResponse

    model = RuleLLM()
    async with stage.talking(Picky(memory=stage.memory, instructions=""), model) as session:
        await speak(session, stage.ears, "my brother is sam")
        assert model.contexts == []
        await typed_in_room(session, TextInputEvent(text="i live in leeds"))
        await session.wait_for_idle()
        assert model.contexts == []
        await speak(session, stage.ears, "computer my cat is tofu")
        assert len(model.contexts) == 1
    return ("my brother is sam", "i live in leeds", "computer my cat is tofu")


@row("the same words twice")
async def _twice(stage: Stage) -> tuple[str, ...]:
    async with stage.talking() as session:
        await speak(session, stage.ears, "yes")
        await session.run(user_input="yes")
        await session.run(user_input="yes")
        await speak(session, stage.ears, "yes")
    return ("yes",) * 4


@row("a preemptive reply, adopted")
async def _adopted(stage: Stage) -> tuple[str, ...]:
    await _preemptive(stage, "who is my brother", "Who is my brother?")
    return ("Who is my brother?",)


@row("a preemptive reply, thrown away")
async def _thrown_away(stage: Stage) -> tuple[str, ...]:
    await _preemptive(stage, "i live in leeds", "i live in leeds no in york")
    return ("i live in leeds no in york",)


class AskName(AgentTask[str]):
    """Asks for a name inside of another agent's tool."""

    def __init__(self) -> None:
        super().__init__(instructions="Ask for the name.")

    async def on_user_turn_completed(
        self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
    ) -> None:
        self.complete(new_message.text_content or "")


class Booking(Agent):
    """Books, and has a task ask for the name."""

    def __init__(self, task: Callable[[], AskName]) -> None:
        super().__init__(instructions="You book.")
        self._task = task

    @function_tool
    async def book(self) -> str:
        """Books a table."""
        return await self._task()


def books_a_table(context: llm.ChatContext) -> str | llm.FunctionToolCall:
    """A model that calls ``book`` once, when it is asked for a table."""
    asked = any(isinstance(item, llm.FunctionCall) for item in context.items)
    words = [m.text_content or "" for m in context.messages() if m.role == "user"]
    if not asked and words and "table" in words[-1]:
        return llm.FunctionToolCall(name="book", arguments="{}", call_id="1")
    return "Fine."


async def ask_for_the_name(
    session: AgentSession[Any], ears: ScriptedRecogniser, front: Agent
) -> None:
    """Two turns: one to the agent, one to the task that its tool waits for."""
    ears.will_hear("book a table for two")
    await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
    await until(lambda: isinstance(session.current_agent, AskName) and runs(session.current_agent))
    ears.will_hear("my name is glenn")
    await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
    await until(lambda: session.current_agent is front and runs(front))
    await session.wait_for_idle()


@pytest.mark.parametrize("name", WAYS)
async def test_a_turn_is_in_the_ledger_once_and_gated_once(
    name: str, service: MemoryService, tmp_path: Path
) -> None:
    memory = service.session(user_id=f"user-{list(WAYS).index(name)}", session_id="visit")
    stage = Stage(memory, tmp_path, ScriptedRecogniser("en"))
    said = await WAYS[name](stage)
    await memory.aclose()
    ledger, own = stage.ledger, (tmp_path / "chat").exists()
    if own:
        ledger = Ledger.open(chosen_settings(tmp_path / "chat").ledger_url)
    try:
        turns = ledger.turns(memory.user_id)
        assert tuple(turn.text for turn in turns) == said
        assert passes(ledger, memory.user_id) == len(said)
    finally:
        if own:
            ledger.close()


def passes(ledger: Ledger, user_id: str) -> int:
    """Decisions of the gate about a user's turns."""
    count = sa.select(sa.func.count()).where(decisions.c.user_id == user_id)
    with ledger.reading() as connection:
        return int(connection.execute(count).scalar_one())


def chosen_settings(home: Path, **values: Any) -> Settings:
    return load_settings(bmo_home=home, **values)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryService]:
    home = tmp_path_factory.mktemp("ways") / "home"
    opened = MemoryService.open_blocking(chosen_settings(home))
    yield opened
    opened.close_blocking()


async def _preemptive(stage: Stage, early: str, final: str) -> None:
    """A spoken turn whose reply starts before its end: scripted events of a recogniser."""
    from livekit.agents.stt import SpeechEventType

    model, ears = RuleLLM("Sam.", delay_s=0.1), EventSTT()
    agent = MemoryAgent(memory=stage.memory, instructions="You are BMO.")
    session = preemptive_session(model, ears, endpointing_s=0.2)
    await session.start(agent, record=False)
    try:
        ears.say(SpeechEventType.START_OF_SPEECH)
        ears.say(SpeechEventType.PREFLIGHT_TRANSCRIPT, early)
        await until(lambda: len(model.contexts) == 1)
        ears.say(SpeechEventType.FINAL_TRANSCRIPT, final)
        ears.say(SpeechEventType.END_OF_SPEECH)
        await until(lambda: any(m.role == "assistant" for m in session.history.messages()))
    finally:
        await session.aclose()


def runs(agent: Agent) -> bool:
    try:
        activity = agent._get_activity_or_raise()
    except RuntimeError:
        return False
    return not activity.scheduling_paused
