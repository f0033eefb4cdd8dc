"""Eight sessions in one process write and recall, and nothing of it happens on the event loop.

How long the loop is held up all the same is a benchmark: ``python -m benchmarks.event_loop``.
"""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

from bmo.agent import MemoryAgent, prepare
from bmo.memory import MemoryService
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from tests.fakes.loop_guard import FUNCTIONS, guarded_loop
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak

pytestmark = pytest.mark.integration

SESSIONS = 8
TURNS = (
    "my brother is called sam",
    "what is my brother called",
    "the allotment has been mine since the spring",
    "i live in leeds",
    "no wait i live in york",
    "forget where i live",
    "forget everything about my brother",
    "yes",
    "off the record",
    "i am allergic to nuts",
    "back on the record",
    "what do you know about me",
)


async def converse(service: MemoryService, number: int) -> None:
    agent = MemoryAgent(
        memory=service.session(user_id=f"user{number}"), instructions="You are BMO."
    )
    await prepare(agent)
    ears = ScriptedRecogniser("en")
    async with running(agent, RuleLLM("Sam, of course."), ears) as session:
        for words in TURNS:
            await speak(session, ears, words)
    await agent.conversation.aclose()


@pytest.mark.parametrize("mode", ["GATED", "NORMAL"])
async def test_no_part_of_memory_works_on_the_loop(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.model_construct(
        bmo_home=tmp_path, mem0_setting=mode, bmo_recall_deadline_ms=5000
    )
    service = await MemoryService.open(settings)
    try:
        await asyncio.to_thread(service.warm_up)
        await converse(service, 99)
        with guarded_loop() as guard:
            if mode == "GATED":
                guard.watch(monkeypatch, service)
            await asyncio.gather(*(converse(service, number) for number in range(SESSIONS)))
    finally:
        await service.aclose()
    assert guard.caught == []
    if mode == "GATED":
        at_work = ("write_gate.rule", "recaller.recall", "ledger.record", "index.add_many")
        for part in (*at_work, *FUNCTIONS):
            assert guard.called[part] >= SESSIONS, f"{part} was not watched at work"


def test_the_guard_sees_what_blocks(tmp_path: Path) -> None:
    with guarded_loop() as guard:
        blocking = {"__name__": "bmo.made_up", "time": time, "path": tmp_path / "f"}
        exec("time.sleep(0)\nopen(path, 'w').close()", blocking)
    assert [caught.split()[0] for caught in guard.caught] == ["time.sleep", "open"]


async def test_a_conversation_that_ended_is_let_go(tmp_path: Path) -> None:
    """What stays makes every full garbage collection longer, and all threads stand still in one."""
    service = await MemoryService.open(Settings.model_construct(bmo_home=tmp_path))
    try:
        # In a task of its own: LiveKit leaves the session in the context it was started in.
        kept = await asyncio.create_task(_ended_conversation(service))
        for _ in range(100):
            gc.collect()
            held = {name for name, one in kept.items() if one() is not None}
            if not held:
                break
            await asyncio.sleep(0.02)  # LiveKit's closing has callbacks of its own
        assert held == set()
    finally:
        await service.aclose()


async def _ended_conversation(service: MemoryService) -> dict[str, weakref.ref[Any]]:
    memory = service.session(user_id="ana")
    agent = MemoryAgent(memory=memory, instructions="You are BMO.")
    await prepare(agent)
    ears = ScriptedRecogniser("en")
    async with running(agent, RuleLLM("Sam, of course."), ears) as session:
        await speak(session, ears, "my brother is called sam")
        await speak(session, ears, "what is my brother called")
    await agent.conversation.aclose()
    parts = {
        "session": session,
        "agent": agent,
        "conversation": agent.conversation,
        "memory": memory,
    }
    return {name: weakref.ref(part) for name, part in parts.items()}
