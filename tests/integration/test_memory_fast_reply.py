"""A reply that comes before the gate has decided its turn is kept all the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bmo.memory import MemoryService
from bmo.memory.deciding import decide
from bmo.settings import load_settings
from bmo.turn import Decision, DialogueContext, Turn

pytestmark = pytest.mark.integration


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    opened = await MemoryService.open(load_settings(bmo_home=tmp_path, gatekeeper_mode="pattern"))
    yield opened
    await opened.aclose()


async def test_a_reply_faster_than_the_gate_is_kept(
    service: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    replied = asyncio.Event()
    seen: list[DialogueContext] = []

    async def slow(service: MemoryService, turn: Turn, context: DialogueContext) -> Decision:
        await replied.wait()
        seen.append(context)
        return await decide(service, turn, context)

    monkeypatch.setattr("bmo.memory.gating.decide", slow)
    session = service.session(user_id="glenn")
    first = Turn(text="i have a dog")
    gating = session.submit_turn(first)
    await asyncio.sleep(0)
    session.note_reply(first.id, "What is")
    session.note_reply(first.id, "What is it called?")
    replied.set()
    await gating
    second = Turn(text="biscuit", assistant_before="What is it called?")
    await session.on_turn(second)
    await session.flush()
    assert seen[1].recent_turns[0] == ("i have a dog", "What is it called?")
    (said,) = [turn for turn in service.ledger.turns("glenn") if turn.text == "i have a dog"]
    assert said.assistant_after == "What is it called?"
