"""The table of ways for realtime models: each turn is in the ledger once, whoever heard it.

Who ends a turn and who has its words differs: the model or LiveKit, the model or a recogniser
beside it, or both. Real parts but for the model, which keeps to LiveKit's protocol.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit.agents import AgentSession, StopResponse, llm
from livekit.agents.stt import SpeechEventType

from bmo.agent import MemoryAgent, prepare, user_turn
from bmo.memory import MemoryService, MemorySession
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import load_settings
from tests.fakes.models import EventSTT
from tests.fakes.realtime import FakeRealtimeModel, FakeRealtimeSession
from tests.fakes.sessions import TIMEOUT_S, until
from tests.integration.test_agent_ways import passes
from tests.tables import Table

pytestmark = pytest.mark.integration

Way = Callable[[MemorySession], Awaitable[tuple[str, ...]]]
WAYS: Table[Way] = Table()
row = WAYS.row


@asynccontextmanager
async def talking(
    agent: MemoryAgent, model: FakeRealtimeModel, **parts: Any
) -> AsyncIterator[tuple[AgentSession[Any], FakeRealtimeSession]]:
    """A conversation with a realtime model."""
    await prepare(agent)
    session: AgentSession[Any] = AgentSession(
        llm=model, vad=None, user_away_timeout=None, session_close_transcript_timeout=0, **parts
    )
    await session.start(agent, record=False)
    try:
        yield session, model.sessions[0]
    finally:
        await session.aclose()


def plain(memory: MemorySession) -> MemoryAgent:
    return MemoryAgent(memory=memory, instructions="You are BMO.")


@row("typed, to a model that transcribes")
async def _typed(memory: MemorySession) -> tuple[str, ...]:
    async with talking(plain(memory), FakeRealtimeModel()) as (session, _):
        await typed(session, "i live in leeds")
        await typed(session, "yes")
        await typed(session, "yes")
    return ("i live in leeds", "yes", "yes")


@row("typed, to a model that does not")
async def _typed_unheard(memory: MemorySession) -> tuple[str, ...]:
    model = FakeRealtimeModel(user_transcription=False)
    async with talking(plain(memory), model) as (session, _):
        await typed(session, "i live in leeds")
        await session.generate_reply(user_input="my brother is sam")
    return ("i live in leeds", "my brother is sam")


@row("typed and stopped by the agent's own hook")
async def _typed_stopped(memory: MemorySession) -> tuple[str, ...]:
    class Silent(MemoryAgent):
        async def on_user_turn_completed(
            self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
        ) -> None:
            raise StopResponse

    agent = Silent(memory=memory, instructions="")
    async with talking(agent, FakeRealtimeModel()) as (session, live):
        assert await user_turn(session, "i live in leeds") is None
        live.hears("i live in leeds")
        await until(lambda: len(agent.conversation.turns) == 2)
    return ("i live in leeds", "i live in leeds")


@row("typed and changed by the agent's own hook")
async def _typed_changed(memory: MemorySession) -> tuple[str, ...]:
    class Masks(MemoryAgent):
        async def on_user_turn_completed(
            self, turn_ctx: llm.ChatContext, new_message: llm.ChatMessage
        ) -> None:
            new_message.content = [(new_message.text_content or "").replace("leeds", "england")]

    agent = Masks(memory=memory, instructions="")
    async with talking(agent, FakeRealtimeModel()) as (session, _):
        await typed(session, "i live in leeds")
    return ("i live in england",)


@row("the model ends turns, a recogniser alone has the words")
async def _recogniser_alone(memory: MemorySession) -> tuple[str, ...]:
    ears, agent = EventSTT(), plain(memory)
    model = FakeRealtimeModel(user_transcription=False)
    async with talking(agent, model, stt=ears) as (session, live):
        heard: list[str] = []
        session.on("user_input_transcribed", lambda event: heard.append(event.transcript))
        for words in ("my brother", "is sam"):
            ears.say(SpeechEventType.FINAL_TRANSCRIPT, words)
            await until(lambda said=words: said in heard)  # type: ignore[misc]
        live.hears("")
        await until(lambda: len(agent.conversation.turns) == 1)
        await session.generate_reply(user_input="and my cat is tofu")
        ears.say(SpeechEventType.FINAL_TRANSCRIPT, "i live in leeds")
        await until(lambda: "i live in leeds" in heard)
    return ("my brother is sam", "and my cat is tofu", "i live in leeds")


@row("LiveKit ends turns, a recogniser alone has the words")
async def _client_side(memory: MemorySession) -> tuple[str, ...]:
    ears, agent = EventSTT(), plain(memory)
    model = FakeRealtimeModel(user_transcription=False, turn_detection=False)
    async with talking(agent, model, stt=ears, turn_handling=BY_RECOGNISER) as (session, _):
        for count, words in enumerate(("i live in leeds", "my brother is sam"), start=1):
            spoken(ears, words)
            await until(lambda n=count: len(agent.conversation.turns) == n)  # type: ignore[misc]
            await session.wait_for_idle()
    return ("i live in leeds", "my brother is sam")


@row("LiveKit ends turns, the model transcribes")
async def _client_side_transcribed(memory: MemorySession) -> tuple[str, ...]:
    ears, agent = EventSTT(), plain(memory)
    model = FakeRealtimeModel(turn_detection=False)
    async with talking(agent, model, stt=ears, turn_handling=BY_RECOGNISER) as (session, live):
        replies: list[object] = []
        session.on("speech_created", replies.append)
        spoken(ears, "i live in leads")
        await until(lambda: len(replies) == 1)
        live.transcribes("I live in Leeds.")
        await until(lambda: len(agent.conversation.turns) == 1)
        await session.wait_for_idle()
    return ("I live in Leeds.",)


@pytest.mark.parametrize("first", ["model", "recogniser"])
async def test_push_to_talk_is_heard_by_both_and_kept_once(
    first: str, service: MemoryService
) -> None:
    """LiveKit adds an item for each; the one that comes first is the turn."""
    ears = ScriptedRecogniser("en")
    memory = service.session(user_id=f"pushes-{first}", session_id="visit")
    agent = plain(memory)
    model = FakeRealtimeModel(turn_detection=False)
    manual = {"turn_detection": "manual"}
    async with talking(agent, model, stt=ears, turn_handling=manual) as (session, live):
        for count, words in enumerate(("i live in leeds", "my brother is called sam"), start=1):
            ears.will_hear(words)
            if first == "model":
                live.transcribes(f"{words.capitalize()}.")
            await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
            await until(lambda n=count: words_said(session) >= 2 * n - (first != "model"))  # type: ignore[misc]
            if first == "recogniser":
                live.transcribes(f"{words.capitalize()}.")
            await until(lambda n=count: words_said(session) == 2 * n)  # type: ignore[misc]
    await memory.aclose()
    kept = [turn.text for turn in service.ledger.turns(memory.user_id)]
    if first == "model":
        assert kept == ["I live in leeds.", "My brother is called sam."]
    else:
        assert kept == ["i live in leeds", "my brother is called sam"]


@pytest.mark.parametrize("name", WAYS)
async def test_a_turn_is_in_the_ledger_once_and_gated_once(
    name: str, service: MemoryService
) -> None:
    memory = service.session(user_id=f"user-{list(WAYS).index(name)}", session_id="visit")
    said = await WAYS[name](memory)
    await memory.aclose()
    turns = service.ledger.turns(memory.user_id)
    assert tuple(turn.text for turn in turns) == said
    assert passes(service.ledger, memory.user_id) == len(said)


BY_RECOGNISER = {"turn_detection": "stt", "endpointing": {"min_delay": 0.1, "max_delay": 0.1}}


async def typed(session: AgentSession[Any], words: str) -> None:
    reply = await user_turn(session, words)
    assert reply is not None
    await reply


def spoken(ears: EventSTT, words: str) -> None:
    ears.say(SpeechEventType.START_OF_SPEECH)
    ears.say(SpeechEventType.FINAL_TRANSCRIPT, words)
    ears.say(SpeechEventType.END_OF_SPEECH)


def words_said(session: AgentSession[Any]) -> int:
    """How often the user's words are in the history."""
    return sum(message.role == "user" for message in session.history.messages())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryService]:
    home: Path = tmp_path_factory.mktemp("realtime-ways") / "home"
    opened = MemoryService.open_blocking(load_settings(bmo_home=home))
    yield opened
    opened.close_blocking()
