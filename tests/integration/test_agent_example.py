"""The example of the README: an existing worker with five more lines."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from livekit.agents import AgentSession
from livekit.agents.testing import fake_job_context

from bmo.agent import (
    close_shared_service,
    conversation_of,
    end_memory,
    memory_for,
    shared_service,
)
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import load_settings
from bmo.turn import Turn
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import speak, spoken_session

pytestmark = pytest.mark.integration

EXAMPLE = Path(__file__).parents[2] / "examples" / "existing_agent.py"


@pytest.fixture
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("existing_agent", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["existing_agent"] = module
    spec.loader.exec_module(module)
    return module


def test_it_takes_five_lines() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    body = text.split('"""', 2)[2]
    assert [f"({n})" for n in range(1, 6)] == [
        mark for n in range(1, 9) if (mark := f"({n})") in body
    ]


async def test_the_existing_agent_remembers(
    example: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BMO_USER_ID", "guest")
    settings = load_settings(
        bmo_home=tmp_path / "home", bmo_user_id="guest", bmo_recall_deadline_ms=5000
    )
    service = shared_service(settings)
    ears, model = ScriptedRecogniser("en"), RuleLLM("Very well.")
    started: list[AgentSession[Any]] = []

    def offline_session(**models: str) -> AgentSession[Any]:
        started.append(spoken_session(model, ears))
        return started[0]

    # The example's models are LiveKit's cloud; everything else of it runs as it is.
    monkeypatch.setattr(example, "AgentSession", offline_session)
    try:
        with fake_job_context() as context:
            await example.concierge(context)
            (session,) = started
            await speak(session, ears, "my brother is sam")
            await speak(session, ears, "whats my brothers name")
            conversation = conversation_of(session.current_agent)
            await session.aclose()
            await end_memory(context)
            await context._on_cleanup()
        known = [fact.text for fact in service.ledger.live_facts("guest")]
    finally:
        close_shared_service()
    assert known == ["Has a brother named Sam"]
    assert [heard.way for heard in conversation.turns] == ["hook", "hook"]
    assert any("Has a brother named Sam" in text for _, text in model.last_texts)
    assert {tool.id for tool in session.current_agent.tools} == {"opening_hours"}


async def test_two_users_of_one_job_are_both_written_down(tmp_path: Path) -> None:
    service = shared_service(load_settings(bmo_home=tmp_path / "home"))
    try:
        with fake_job_context() as context:
            visits = [await memory_for(context, user_id=user) for user in ("ana", "ben")]
            for memory in visits:
                memory.submit_turn(Turn(text="i live in leeds"))
            await end_memory(context)
            known = [[f.text for f in service.ledger.live_facts(user)] for user in ("ana", "ben")]
            await context._on_cleanup()
    finally:
        close_shared_service()
    assert known == [["Lives in Leeds"], ["Lives in Leeds"]]
