"""Memory that raises, hangs or returns rubbish: the reply always comes."""

from __future__ import annotations

from typing import get_args

import pytest

from bmo.agent import MemoryAgent
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from tests.fakes.memory_session import FakeMemorySession, Fault
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak

pytestmark = pytest.mark.integration

DOORS = ("submit_turn", "recall", "profile", "prefetch", "note_reply")


@pytest.mark.parametrize("fault", get_args(Fault))
@pytest.mark.parametrize("door", DOORS)
async def test_the_reply_comes_whatever_memory_does(door: str, fault: Fault) -> None:
    settings = Settings.model_construct(bmo_recall_deadline_ms=20)
    memory = FakeMemorySession(
        settings=settings,
        faults={door: fault},
        known={"brother": ("Has a brother named Sam",)},
        profile_texts=("Lives in Leeds",),
    )
    model, ears = RuleLLM("Here."), ScriptedRecogniser("en")
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    async with running(agent, model, ears) as session:
        await speak(session, ears, "who is my brother")
        await session.run(user_input="who is my brother again")
        said = [m.text_content for m in session.history.messages() if m.role == "assistant"]
        asked = [m.text_content for m in session.history.messages() if m.role == "user"]
    assert said == ["Here.", "Here."]
    assert asked == ["who is my brother", "who is my brother again"]
    # What still works is still used.
    if door == "prefetch":
        assert any("Sam" in text for _, text in model.last_texts)
    if door != "profile":
        assert any("Lives in Leeds" in text for _, text in model.last_texts)


async def test_flush_failing_at_close_does_not_stop_the_close() -> None:
    memory, ears = FakeMemorySession(faults={"flush": "raise"}), ScriptedRecogniser("en")
    agent = MemoryAgent(memory=memory.as_session(), instructions="You are BMO.")
    async with running(agent, RuleLLM(), ears) as session:
        await speak(session, ears, "hello there")
    await agent.conversation.flush()
    assert memory.flushes >= 1
