"""Nearness over real stores: Edge and qdrant-client's local mode."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bmo.index import MemoryIndex
from bmo.turn import Turn
from tests.fakes.embedder import HashingEmbedder
from tests.integration.test_index_memory import settings, stored

pytestmark = pytest.mark.integration

TEXTS = ("Likes zydeco", "Likes zydeco dancing", "Plays the accordion", "Lives in Lafayette")


@pytest.fixture(params=["edge", "local"])
def home(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    if request.param == "local":
        monkeypatch.setitem(sys.modules, "qdrant_edge", None)
    yield tmp_path


def near(index: MemoryIndex, query: str, user: str = "ana", **more: object) -> list[str]:
    asked = {"top_k": 9, "threshold": 0.05, **more}
    return [fact for fact, _ in index.near(user, query, **asked)]  # type: ignore[arg-type]


def test_the_nearest_are_the_same_before_and_after_a_restart(home: Path) -> None:
    facts = {text: stored(text) for text in TEXTS}
    index = MemoryIndex.open(settings(home), HashingEmbedder())
    for fact in facts.values():
        index.add_many([(fact, {})])
    written = index.near("ana", "zydeco dancing", top_k=3, threshold=0.05)
    index.close()
    index = MemoryIndex.open(settings(home), HashingEmbedder())
    read = index.near("ana", "zydeco dancing", top_k=3, threshold=0.05)
    assert [fact for fact, _ in read] == [fact for fact, _ in written]
    assert [cosine for _, cosine in read] == pytest.approx([cosine for _, cosine in written])
    assert read[0][0] == facts["Likes zydeco dancing"].id
    index.close()


def test_what_is_deleted_is_not_near_from_then_on(home: Path) -> None:
    index = MemoryIndex.open(settings(home), HashingEmbedder())
    gone, kept = stored("Likes zydeco"), stored("Likes zydeco dancing")
    for fact in (gone, kept):
        index.add_many([(fact, {})])
    assert set(near(index, "zydeco")) == {gone.id, kept.id}
    index.delete_fact("ana", gone.id)
    assert near(index, "zydeco") == [kept.id]
    index.compact()
    assert near(index, "zydeco") == [kept.id]
    index.delete_user("ana")
    assert near(index, "zydeco") == []
    index.close()


def test_others_facts_held_ones_and_raw_turns_are_never_near(home: Path) -> None:
    index = MemoryIndex.open(settings(home), HashingEmbedder())
    mine, goal = stored("Likes zydeco"), stored("Learns zydeco", category="goals")
    food = replace(stored("Cooks to zydeco"), domain="food")
    index.add_many([(stored("Likes zydeco", user="ben"), {})])
    index.add_many([(stored("May like zydeco"), {"write_verdict": "hold"})])
    index.add_raw(Turn("zydeco is what i like", user_id="ana"), "zydeco is what i like")
    for fact in (mine, goal, food):
        index.add_many([(fact, {})])
    assert sorted(near(index, "zydeco")) == sorted([mine.id, goal.id, food.id])
    assert sorted(near(index, "zydeco", domains=("work",))) == sorted([mine.id, goal.id])
    assert not {mine.id, goal.id} & set(near(index, "zydeco", user="ben"))
    assert near(index, "   ") == [] and near(index, "zydeco", top_k=0) == []
    with pytest.raises(ValueError, match="user"):
        index.near("*", "zydeco", top_k=3, threshold=0.1)
    index.close()
