"""A wide wish to forget: the model is told what to ask back, however late recall or the disk are.

A model that is not told says that it is done, and nothing is.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bmo.agent import MemoryAgent
from bmo.memory import MemoryService, MemorySession, requests
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from bmo.turn import Turn
from tests.fakes.models import RuleLLM
from tests.fakes.scripted_speech import play
from tests.fakes.sessions import running, speak

pytestmark = pytest.mark.integration

TOLD = ("my sister is called hanna", "my sister hanna has a dog called pickle")
WIDE = "forget everything about my sister"
SHORT_MS = 1
"""A recall deadline that no recall keeps."""


@asynccontextmanager
async def memory_at(home: Path, **settings: Any) -> AsyncIterator[MemorySession]:
    service = await MemoryService.open(
        Settings.model_construct(bmo_home=home, **{"bmo_recall_deadline_ms": SHORT_MS, **settings})
    )
    memory = service.session(user_id="glenn")
    try:
        yield memory
        await memory.aclose()
    finally:
        await service.aclose()


def told(model: RuleLLM) -> str:
    """What memory asked the assistant to say, in its latest call."""
    return " ".join(text for _, text in model.last_texts if "<memory_notice>" in text)


def slow(memory: MemorySession, monkeypatch: pytest.MonkeyPatch, wait_s: float) -> threading.Event:
    """Has every turn's record wait, until the event is set or the time is over."""
    ledger, go_on = memory.service.ledger, threading.Event()
    record = ledger.record

    def later(*args: Any, **kwargs: Any) -> Any:
        go_on.wait(wait_s)
        return record(*args, **kwargs)

    monkeypatch.setattr(ledger, "record", later)
    return go_on


async def converse(memory: MemorySession, model: RuleLLM, *, typed: bool = False) -> None:
    ears = ScriptedRecogniser("en")
    agent = MemoryAgent(memory=memory, instructions="You are BMO.")
    async with running(agent, model, ears) as session:
        for words in TOLD:
            await speak(session, ears, words)
        await memory.flush()
        if typed:
            await session.run(user_input=WIDE)
        else:
            await speak(session, ears, WIDE)


@pytest.mark.parametrize("typed", [False, True])
async def test_a_late_recall_does_not_hide_the_question(typed: bool, tmp_path: Path) -> None:
    model = RuleLLM()
    async with memory_at(tmp_path) as memory:
        await converse(memory, model, typed=typed)
        assert "memories are withdrawn" in told(model)
        assert "Ask whether to erase them" in told(model)


async def test_a_slow_disk_does_not_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = RuleLLM()
    async with memory_at(tmp_path) as memory:
        slow(memory, monkeypatch, 0.5)
        await converse(memory, model)
        assert "memories are withdrawn" in told(model)


async def test_a_disk_that_hangs_lets_the_reply_out_and_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "ASK_BACK_DEADLINE_S", 0.2)
    model = RuleLLM()
    ears = ScriptedRecogniser("en")
    async with memory_at(tmp_path) as memory:
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        async with running(agent, model, ears) as session:
            await speak(session, ears, TOLD[0])
            await memory.flush()
            go_on = slow(memory, monkeypatch, 30)
            try:
                await speak(session, ears, WIDE)
                notice = told(model)
            finally:
                go_on.set()
    assert "nothing is forgotten so far" in notice


async def test_a_reply_begun_before_the_turn_is_over_waits_for_it(tmp_path: Path) -> None:
    async with memory_at(tmp_path) as memory:
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        for words in TOLD:
            await memory.on_turn(Turn(words))
        await memory.flush()
        (wide,) = await play(agent, [WIDE], latency_s=0.05, endpointing_s=0.6)
    assert any("memories are withdrawn" in block for block in wide.blocks), wide


async def test_other_turns_do_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, ears = RuleLLM(), ScriptedRecogniser("en")
    async with memory_at(tmp_path) as memory:
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        go_on = slow(memory, monkeypatch, 30)
        try:
            async with running(agent, model, ears) as session:
                for words in ("forget it", "drop me a line", "do you remember my sister"):
                    await speak(session, ears, words)
                    assert told(model) == "", words
                    assert not go_on.is_set()
        finally:
            go_on.set()
