"""MEM0_SETTING by environment, and as whom memory is put: one matrix for both modes."""

from __future__ import annotations

from pathlib import Path

import pytest
from livekit.agents import llm

from bmo.agent import MemoryAgent
from bmo.memory import MemoryService
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import load_settings
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("role", ["system", "assistant"])
@pytest.mark.parametrize("mode", ["GATED", "NORMAL"])
async def test_what_is_stored_and_where_it_is_put(
    mode: str, role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("MEM0_SETTING", mode),
        ("BMO_INJECT_ROLE", role),
        ("BMO_HOME", str(tmp_path)),
        ("BMO_RECALL_DEADLINE_MS", "20000"),
    ):
        monkeypatch.setenv(name, value)
    service = await MemoryService.open(load_settings())
    model, ears = RuleLLM("Okay."), ScriptedRecogniser("en")
    agent = MemoryAgent(memory=service.session(user_id="glenn"), instructions="You are BMO.")
    try:
        async with running(agent, model, ears) as session:
            await speak(session, ears, "my brother is called sam")
            await agent.conversation.flush()
            await speak(session, ears, "what is my brother called")
            asked = model.contexts[-1]
            await speak(session, ears, "turn off the lamp")
            commanded = model.contexts[-1]
            history = session.history.messages()
        await agent.conversation.aclose()
        assert service.index is not None
        stored = {entry.text for entry in service.index.entries("glenn")}
        facts = [fact.text for fact in service.ledger.live_facts("glenn")]
    finally:
        await service.aclose()

    memory = _of_memory(asked, "brother")
    assert memory, "the question was answered without memory"
    block = memory[-1]
    assert block.role == role
    places = [item.id for item in asked.items]
    question = next(m for m in asked.messages() if m.text_content == "what is my brother called")
    assert places.index(block.id) == places.index(question.id) - 1, "not right before the words"
    assert not any("brother named" in (m.text_content or "").lower() for m in history)
    if mode == "GATED":
        assert facts == ["Has a brother named Sam"]
        assert stored == {"Has a brother named Sam"}
        assert not [m for m in _of_memory(commanded, "brother") if m.role == role and _recalled(m)]
    else:
        assert facts == []
        assert {"my brother is called sam", "turn off the lamp"} <= stored


@pytest.mark.parametrize("value", ["", "normalish"])
def test_an_unknown_setting_is_gated(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_SETTING", value)
    if value:
        with pytest.warns(UserWarning, match="normalish"):
            assert load_settings().mem0_setting == "GATED"
    else:
        assert load_settings().mem0_setting == "GATED"


def _of_memory(context: llm.ChatContext, word: str) -> list[llm.ChatMessage]:
    return [
        message
        for message in context.messages()
        if "bmo.memory" in message.extra and word in (message.text_content or "").lower()
    ]


def _recalled(message: llm.ChatMessage) -> bool:
    return message.extra.get("bmo.memory") == "recall"
