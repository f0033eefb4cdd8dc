"""Whose index it is: a process with another ledger leaves it alone, until it is told to take it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bmo.index import IndexOfAnother, IndexOwner, IndexUnavailable, MemoryIndex
from bmo.index.ownership import OWNER_POINT
from bmo.ledger import Ledger
from bmo.recorder import rebuild
from bmo.settings import Settings
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.qdrant_door import API_KEY, QdrantDoor
from tests.fakes.speaker import allowed, day, likes, turn
from tests.integration.memory_parts import open_parts

pytestmark = pytest.mark.integration


def on(server: QdrantDoor, **more: Any) -> dict[str, Any]:
    return {"qdrant_url": server.url, "qdrant_api_key": API_KEY, **more}


def points(server: QdrantDoor, *, owner: bool = False) -> set[str]:
    """Ids of what is on the server."""
    with server.client() as client:
        (collection,) = client.get_collections().collections
        found = {str(point.id) for point in client.scroll(collection.name, limit=1000)[0]}
    return found if owner else found - {OWNER_POINT}


def writes(server: QdrantDoor) -> list[str]:
    """Requests that changed something since they were looked at last."""
    asked, server.requests = server.requests, []
    return [one for one in asked if one.startswith(("PUT", "DELETE")) or one.endswith("/delete")]


@pytest.mark.parametrize("mode", ["GATED", "NORMAL"])
def test_another_ledger_changes_nothing_and_goes_on_by_itself(
    server: QdrantDoor, tmp_path: Path, mode: str
) -> None:
    with open_parts(tmp_path / "fleet", **on(server, mem0_setting=mode)) as fleet:
        fleet.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        fleet.settled()
        there = points(server, owner=True)
        writes(server)
        with open_parts(tmp_path / "laptop", **on(server, mem0_setting=mode)) as laptop:
            assert "bmo reindex --take-over" in laptop.index.notice == laptop.index.unavailable
            laptop.say(turn("i like gumbo"), allowed("i like gumbo", likes("gumbo")))
            wiped = laptop.recorder.call(laptop.ledger.erase_user, "ana", at=day(1))
            assert not wiped.result(30).complete
            laptop.say(turn("i like okra", at=day(2)), allowed("i like okra", likes("okra")))
            assert laptop.is_behind()
            assert [fact.value for fact in laptop.ledger.live_facts("ana")] == ["okra"]
            with pytest.raises(IndexUnavailable, match="belongs to another ledger"):
                laptop.index.search("ana", "zydeco", top_k=5, threshold=0.0, raw=True)
        assert (writes(server), points(server, owner=True)) == ([], there)
        assert fleet.index.count() == len(there) - 1


def test_what_is_taken_over_is_left_alone_by_who_had_it(server: QdrantDoor, tmp_path: Path) -> None:
    with open_parts(tmp_path / "old", **on(server)) as old:
        old.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        old.settled()
        with open_parts(tmp_path / "new", **on(server)) as new:
            new.say(turn("i like okra"), allowed("i like okra", likes("okra")))
            owner = IndexOwner(new.ledger.identity(), new.ledger.knows, take_over=True)
            index = MemoryIndex.open(new.settings, HashingEmbedder(64), owner=owner)
            assert rebuild(index, new.ledger) == 1
            taken = points(server)
            index.close()
            old.say(turn("i like gumbo"), allowed("i like gumbo", likes("gumbo")))
            old.recorder.call(old.ledger.erase_user, "ana").result(30)
            assert old.is_behind()
            assert "belongs to another ledger" in old.index.unavailable
            assert points(server) == taken


def test_an_index_of_an_earlier_version_is_taken_by_who_knows_its_facts(
    server: QdrantDoor, tmp_path: Path
) -> None:
    with open_parts(tmp_path / "fleet", **on(server)) as fleet:
        fleet.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        fleet.settled()
    with server.client() as client:
        (collection,) = client.get_collections().collections
        client.delete(collection.name, [OWNER_POINT])
    with open_parts(tmp_path / "laptop", **on(server)) as laptop:
        assert "belongs to another ledger" in laptop.index.unavailable
        assert OWNER_POINT not in points(server, owner=True)
    with open_parts(tmp_path / "fleet", **on(server)) as fleet:
        assert (fleet.index.unavailable, fleet.index.count()) == ("", 1)
        assert OWNER_POINT in points(server, owner=True)


def test_an_embedded_index_is_left_alone_too(tmp_path: Path) -> None:
    with open_parts(tmp_path) as own:
        own.say(turn("i like zydeco"), allowed("i like zydeco", likes("zydeco")))
        own.settled()
        assert own.index.compact()  # what names the owner is copied like any other
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    other = Ledger.open(f"sqlite:///{tmp_path / 'other.sqlite3'}")
    owner = IndexOwner(other.identity(), other.knows)
    with pytest.raises(IndexOfAnother, match="bmo reindex --take-over"):
        MemoryIndex.open(settings, HashingEmbedder(64), owner=owner)
    with open_parts(tmp_path) as own:
        assert own.index.count() == 1
    taking = IndexOwner(other.identity(), other.knows, take_over=True)
    index = MemoryIndex.open(settings, HashingEmbedder(64), owner=taking)
    assert (rebuild(index, other), index.count()) == (0, 0)
    index.close()
    other.close()
    with pytest.raises(IndexOfAnother), open_parts(tmp_path):
        pass
