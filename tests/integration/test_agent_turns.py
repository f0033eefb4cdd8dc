"""What a turn carries and what its reply sees; the table of ways is in ``test_agent_ways``."""

from __future__ import annotations

from typing import Any

import pytest
from livekit.agents import Agent, AgentSession
from livekit.agents.stt import SpeechEventType

from bmo.agent import MemoryAgent, attach
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from tests.fakes.memory_session import FakeMemorySession
from tests.fakes.models import EventSTT, RuleLLM
from tests.fakes.sessions import preemptive_session, running, speak, until

pytestmark = pytest.mark.integration


async def test_a_turn_carries_the_assistants_words_before_it() -> None:
    memory, ears = FakeMemorySession(), ScriptedRecogniser("en")
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    async with running(agent, RuleLLM("Nice."), ears) as session:
        await speak(session, ears, "i live in leeds")
        await session.run(user_input="and my cat is tofu")
        await speak(session, ears, "yes")
    assert memory.texts == ["i live in leeds", "and my cat is tofu", "yes"]
    assert [turn.assistant_before for turn in memory.turns] == ["", "Nice.", "Nice."]
    assert len({turn.id for turn in memory.turns}) == 3


async def test_a_hand_over_shares_one_memory() -> None:
    memory, ears = FakeMemorySession(profile_texts=("Lives in Leeds",)), ScriptedRecogniser("en")
    first = attach(Agent(instructions="You greet."), memory.as_session())
    second = attach(Agent(instructions="You book."), memory.as_session())
    model = RuleLLM()
    async with running(first, model, ears) as session:
        await speak(session, ears, "hello there")
        await _hand_over(session, second)
        await speak(session, ears, "book a table for my sister")
        await session.run(user_input="and a taxi")
    assert memory.texts == ["hello there", "book a table for my sister", "and a taxi"]
    assert any("Lives in Leeds" in text for _, text in model.last_texts)


async def test_a_profile_with_something_forgotten_is_not_shown_while_the_new_one_is_read() -> None:
    settings = Settings.model_construct(bmo_recall_deadline_ms=20)
    memory = FakeMemorySession(settings=settings, profile_texts=("Lives in Leeds",))
    model = RuleLLM()
    async with running(MemoryAgent(memory=memory.as_session(), instructions="."), model) as session:
        await session.run(user_input="hello there")
        assert any("Lives in Leeds" in text for _, text in model.last_texts)
        memory.faults, memory.profile_version = {"profile": "hang"}, 1
        await session.run(user_input="where do i live")
    assert not any("Lives in Leeds" in text for _, text in model.last_texts)


async def test_turns_of_an_agent_without_memory_are_not_gated() -> None:
    memory, ears = FakeMemorySession(), ScriptedRecogniser("en")
    first = attach(Agent(instructions="You greet."), memory.as_session())
    async with running(first, RuleLLM(), ears) as session:
        await speak(session, ears, "hello there")
        await _hand_over(session, Agent(instructions="You take card numbers."))
        await speak(session, ears, "my card is four two four two")
        await session.run(user_input="and the code is nine")
    assert memory.texts == ["hello there"]


async def test_a_preemptive_reply_is_kept_sees_memory_and_its_turn_is_gated_once() -> None:
    memory = FakeMemorySession(
        known={"brother": ("Has a brother named Sam",)}, profile_texts=("Lives in Leeds",)
    )
    model, ears = RuleLLM("Sam.", delay_s=0.2), EventSTT()
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    session = preemptive_session(model, ears, endpointing_s=0.3)
    await session.start(agent, record=False)
    try:
        ears.say(SpeechEventType.START_OF_SPEECH)
        ears.say(SpeechEventType.INTERIM_TRANSCRIPT, "who is")
        ears.say(SpeechEventType.PREFLIGHT_TRANSCRIPT, "who is my brother")
        await until(lambda: len(model.contexts) == 1)
        ears.say(SpeechEventType.FINAL_TRANSCRIPT, "Who is my brother?")
        ears.say(SpeechEventType.END_OF_SPEECH)
        await until(lambda: len(memory.replies) == 1)
    finally:
        await session.aclose()
    assert len(model.contexts) == 1, "the preemptive reply was thrown away"
    assert any("Has a brother named Sam" in text for _, text in model.last_texts)
    assert any("Lives in Leeds" in text for _, text in model.last_texts)
    assert memory.texts == ["Who is my brother?"]
    assert memory.recalls == ["who is my brother"], "recall ran twice for one turn"
    assert "who is" in memory.prefetched
    assert memory.replies[0] == (memory.turns[0].id, "Sam.")


async def test_an_adopted_reply_is_gated_once_when_the_node_was_replaced_after_attaching() -> None:
    """Memory never saw the preemptive message then; its own id appears only in the history."""
    memory, model, ears = FakeMemorySession(), RuleLLM("Sam.", delay_s=0.1), EventSTT()
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    agent.llm_node = Agent.llm_node.__get__(agent)  # type: ignore[method-assign]
    session = preemptive_session(model, ears, endpointing_s=0.3)
    await session.start(agent, record=False)
    try:
        ears.say(SpeechEventType.START_OF_SPEECH)
        ears.say(SpeechEventType.PREFLIGHT_TRANSCRIPT, "who is my brother")
        await until(lambda: len(model.contexts) == 1)
        ears.say(SpeechEventType.FINAL_TRANSCRIPT, "Who is my brother?")
        ears.say(SpeechEventType.END_OF_SPEECH)
        await until(lambda: len(memory.replies) == 1)
    finally:
        await session.aclose()
    assert len(model.contexts) == 1, "the preemptive reply was thrown away"
    assert memory.texts == ["Who is my brother?"]


async def test_a_preemptive_reply_that_is_thrown_away_is_not_gated() -> None:
    memory, model, ears = FakeMemorySession(), RuleLLM(delay_s=0.1), EventSTT()
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    session = preemptive_session(model, ears, endpointing_s=0.3)
    await session.start(agent, record=False)
    try:
        ears.say(SpeechEventType.START_OF_SPEECH)
        ears.say(SpeechEventType.PREFLIGHT_TRANSCRIPT, "i live in leeds")
        await until(lambda: len(model.contexts) == 1)
        ears.say(SpeechEventType.FINAL_TRANSCRIPT, "i live in leeds no in york")
        ears.say(SpeechEventType.END_OF_SPEECH)
        await until(lambda: len(memory.replies) == 1)
    finally:
        await session.aclose()
    assert memory.texts == ["i live in leeds no in york"]


async def _hand_over(session: AgentSession[Any], agent: Agent) -> None:
    session.update_agent(agent)

    def runs() -> bool:
        try:
            return agent.session is session
        except RuntimeError:
            return False

    await until(runs)
