"""Preemptive replies survive memory: the same share of them as without, and the same bytes.

Scripted recogniser events into real sessions with the real memory service (ledger, index, encoder).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from livekit.agents import Agent

from bmo.agent import MemoryAgent
from bmo.memory import MemoryService, MemorySession
from bmo.settings import load_settings
from bmo.turn import RecallPlan, Turn
from tests.fakes.scripted_speech import PlayedTurn, play

pytestmark = pytest.mark.integration

TOLD = ("my brother is sam", "i live in leeds", "i am allergic to nuts")
PLAIN = ("good morning", "turn the light off", "my cat is called tofu")
ASKING = ("whats my brothers name", "where do i live", "what am i allergic to")

LATENCY_S, ENDPOINTING_S = 0.05, 0.1
"""No turn ends before the model was called early: only memory can cost the early reply."""


@asynccontextmanager
async def visit(home: Path, **values: str | int) -> AsyncIterator[MemorySession]:
    """A second visit of someone who told a few things in the first."""
    # A busy machine must not make a recall late here: that would be another test.
    settings = load_settings(bmo_home=home, bmo_recall_deadline_ms=60_000, **values)
    service = await MemoryService.open(settings)
    try:
        first = service.session(user_id="glenn", session_id="first")
        for words in TOLD:
            await first.on_turn(Turn(words))
        await first.aclose()
        second = service.session(user_id="glenn", session_id="second")
        yield second
        await second.aclose()
    finally:
        await service.aclose()


async def heard(agent: Agent, *turns: str) -> list[PlayedTurn]:
    return await play(
        agent, turns, latency_s=LATENCY_S, endpointing_s=ENDPOINTING_S, until_early=True
    )


def share(played: list[PlayedTurn]) -> float:
    return sum(turn.kept for turn in played) / len(played)


async def test_without_memory_every_early_reply_is_given() -> None:
    assert share(await heard(Agent(instructions="You are BMO."), *PLAIN, *ASKING)) == 1.0


async def test_the_share_is_the_same_with_memory_and_the_reply_sees_it(tmp_path: Path) -> None:
    async with visit(tmp_path / "home") as memory:
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        plain = await heard(agent, *PLAIN)
    async with visit(tmp_path / "other") as memory:
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        asking = await heard(agent, *ASKING)
    assert share(plain) == 1.0
    assert {turn.model_calls for turn in plain} == {1}
    assert {len(turn.blocks) for turn in plain} == {1}, "a turn without recall got one"
    assert share(asking) == 1.0
    assert {turn.model_calls for turn in asking} == {1}
    for turn, known in zip(asking, ("Sam", "Leeds", "nuts"), strict=True):
        assert known in turn.blocks[1]


async def test_normal_mode_keeps_it_too(tmp_path: Path) -> None:
    async with visit(tmp_path / "home", mem0_setting="NORMAL") as memory:
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        played = await heard(agent, *ASKING)
    assert share(played) == 1.0
    assert "my brother is sam" in "".join(played[0].blocks)


async def test_what_is_injected_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    """A provider's prompt cache holds as long as the prefix does."""
    async with visit(tmp_path / "home") as memory:
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        played = await heard(agent, ASKING[0], PLAIN[0], ASKING[1], ASKING[0], "i like green tea")
    profiles = {turn.blocks[0].encode() for turn in played}
    assert len(profiles) == 1, "the profile changed within a session"
    assert "Sam" in played[0].blocks[0]
    assert played[0].blocks[1].encode() == played[3].blocks[1].encode()


async def test_recall_starts_on_interim_words_and_is_not_made_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with visit(tmp_path / "home") as memory:
        gate, planned = memory.service.read_gate, list[str]()
        plan = gate.plan_by_rules

        def noted(turn: Turn, **more: object) -> RecallPlan:
            planned.append(turn.text)
            return plan(turn, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(gate, "plan_by_rules", noted)
        agent = MemoryAgent(memory=memory, instructions="You are BMO.")
        (turn,) = await heard(agent, "whats my brothers name")
    assert planned[-1] == "whats my brothers name"
    assert planned.count("whats my brothers name") == 1
    # It was planned (and searched) when the interim transcript had all the words; the final one
    # brought the same words and found it ready.
    assert "whats my brothers" in planned
    assert "Sam" in turn.blocks[1]
