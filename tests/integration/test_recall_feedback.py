"""Feedback on recall, through real sessions: use, "that's wrong", corrections, ``bmo feedback``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import fields
from pathlib import Path

import pytest

from bmo.ledger import JudgedItem
from bmo.memory import MemoryService, MemorySession
from bmo.recall import DEFAULT_WEIGHTS, Weights
from bmo.settings import load_settings
from bmo.turn import Turn
from tests.cli import bmo

pytestmark = pytest.mark.integration


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MemoryService]:
    opened = await MemoryService.open(
        load_settings(bmo_home=tmp_path, bmo_recall_deadline_ms=20_000)
    )
    yield opened
    await opened.aclose()


async def talk(session: MemorySession, text: str, reply: str = "", asked: str = "") -> list[str]:
    """One turn as an agent sees it: gated, recalled for, answered; returns what was given."""
    turn = Turn(text=text, assistant_before=asked)
    await session.on_turn(turn)
    recall = await session.recall(turn)
    await session.recorded(turn.id)
    session.note_reply(turn.id, reply)
    await session.flush()
    return [memory.fact.text for memory in recall.memories]


async def told(service: MemoryService) -> MemorySession:
    session = service.session(user_id="glenn")
    await talk(session, "my brother sam lives in leeds", "nice")
    await talk(session, "i love pickled herring", "noted")
    return session


def judged(service: MemoryService, user: str = "glenn") -> list[JudgedItem]:
    return service.ledger.judged_items(user, limit=100)


def uses(service: MemoryService) -> dict[str, int]:
    return {fact.text: fact.use_count for fact in service.ledger.live_facts("glenn")}


async def test_what_a_reply_uses_counts_as_used_and_helpful(service: MemoryService) -> None:
    session = await told(service)
    assert await talk(session, "where does my brother live", "Sam lives in Leeds.")
    assert [n for text, n in uses(service).items() if "leeds" in text] == [1]
    assert [n for text, n in uses(service).items() if "herring" in text] == [0]
    first = judged(service)
    assert [item.helpful for item in first] == [True] * len(first) and first
    assert all(item.parts.semantic > 0 for item in first)
    assert await talk(session, "where does my brother live", "I would rather not say.")
    assert judged(service) == first


@pytest.mark.parametrize("objection", ["that's wrong", "no thats wrong"])
async def test_an_objection_counts_against_what_the_reply_used(
    service: MemoryService, objection: str
) -> None:
    session = await told(service)
    await talk(session, "where does my brother live", "Sam lives in Leeds.")
    before = len(judged(service))
    await talk(session, objection, "sorry", "Sam lives in Leeds.")
    against = judged(service)[before:]
    assert against and not any(item.helpful for item in against)
    await talk(session, objection, "sorry", "sorry")
    assert len(judged(service)) == before + len(against), "only the turn right after a recall"


async def test_a_correction_counts_against_the_memory_it_replaces(service: MemoryService) -> None:
    session = await told(service)
    lived = next(f for f in service.ledger.live_facts("glenn") if "leeds" in f.text)
    await talk(session, "where does my brother live", "Sam lives in Leeds.")
    await talk(session, "no thats wrong he lives in york", "okay")
    assert [item.fact_id for item in judged(service) if not item.helpful] == [lived.id]


async def test_weights_move_within_bounds_for_this_user_from_the_next_visit(
    service: MemoryService,
) -> None:
    session = await told(service)
    for _ in range(6):
        await talk(session, "where does my brother live", "Sam lives in Leeds.")
    assert session._reading._weights == DEFAULT_WEIGHTS, (
        "what a visit is given does not change under it"
    )
    await session.aclose()
    visit = service.session(user_id="glenn")
    await talk(visit, "where does my brother live")
    moved = visit._reading._weights
    assert moved == service.recaller.weights_of("glenn") != DEFAULT_WEIGHTS
    assert isinstance(moved, Weights)
    for field in fields(Weights):
        default = getattr(DEFAULT_WEIGHTS, field.name)
        assert 0.5 * default <= getattr(moved, field.name) <= 1.5 * default
    assert service.recaller.weights_of("somebody-else") == DEFAULT_WEIGHTS


async def test_what_is_erased_takes_its_judgements_along(service: MemoryService) -> None:
    session = await told(service)
    await talk(session, "where does my brother live", "Sam lives in Leeds.")
    await talk(session, "forget that my brother lives in leeds", "done")
    left = {fact.id for fact in service.ledger.live_facts("glenn", include_past=True)}
    assert {item.fact_id for item in judged(service)} <= left


async def test_feedback_by_hand_changes_what_explain_shows(tmp_path: Path) -> None:
    settings = load_settings(bmo_home=tmp_path, bmo_user_id="glenn", bmo_recall_deadline_ms=20_000)
    service = await MemoryService.open(settings)
    session = await told(service)
    await talk(session, "where does my brother live")
    lived = next(f for f in service.ledger.live_facts("glenn") if "leeds" in f.text)
    await service.aclose()
    asked = ("recall", "--explain", "--json", "--user", "glenn", "where does my brother live")

    def shown() -> dict[str, float]:
        row = bmo(tmp_path, *asked).rows[0]
        found = next(m for m in row["memories"] if m["id"] == lived.id)
        assert found["place"] == "in" and found["why"]
        parts: dict[str, float] = found["parts"]
        assert found["score"] == pytest.approx(sum(parts.values()), abs=0.001)
        return parts

    before = shown()
    for _ in range(10):
        assert bmo(tmp_path, "feedback", "--user", "glenn", lived.id, "bad").code == 0
    after = shown()
    assert after["kind"] < before["kind"]
    assert bmo(tmp_path, "feedback", "--user", "glenn", lived.id, "meh").code == 2
