"""The index heals while workers run: what it lost one of them writes again, piece by piece."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from prometheus_client import REGISTRY
from qdrant_client import models

from bmo.index import IndexOwner, MemoryIndex
from bmo.ledger import Ledger
from bmo.recorder import Recorder, comparing
from bmo.recorder.comparing import Comparing
from bmo.recorder.upkeep import Repairing
from bmo.settings import Settings
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.qdrant_door import API_KEY, QdrantDoor
from tests.fakes.speaker import allowed, day, likes, turn
from tests.integration.memory_parts import (
    Parts,
    difference,
    eventually,
    forget_vectors,
    open_parts,
)

pytestmark = pytest.mark.integration


def fleet(server: QdrantDoor, ledger: Path | str) -> dict[str, Any]:
    """Settings of a worker: the ledger (a home it is in, or its URL) and the server of all."""
    url = ledger if isinstance(ledger, str) else f"sqlite:///{ledger / 'ledger.sqlite3'}"
    return {"qdrant_url": server.url, "qdrant_api_key": API_KEY, "bmo_ledger_url": url}


def described(server: QdrantDoor) -> models.CollectionInfo:
    """The one collection of the server."""
    with server.client() as client:
        (collection,) = client.get_collections().collections
        return client.get_collection(collection.name)


def like(parts: Parts, *things: str) -> None:
    for thing in things:
        parts.say(turn(f"i like {thing}"), allowed(f"i like {thing}", likes(thing)))


def value_of(metric: str) -> float:
    return REGISTRY.get_sample_value(metric) or 0.0


def test_a_running_worker_makes_a_lost_collection_again(
    server: QdrantDoor, tmp_path: Path, ledger_url: str
) -> None:
    lost = value_of("bmo_index_lost_total")
    with open_parts(tmp_path, **fleet(server, ledger_url)) as parts:
        like(parts, "zydeco", "gumbo", "okra")
        parts.mended()
        server.lose()
        like(parts, "jazz")
        parts.mended()
        assert (parts.index.count(), parts.index.unavailable) == (4, "")
    assert value_of("bmo_index_lost_total") == lost + 1
    assert 1 <= value_of("bmo_index_difference") <= 4
    assert set(described(server).payload_schema) == {
        "user_id",
        "fact_id",
        "write_verdict",
        "mode",
        "domain",
    }


def test_what_is_said_of_a_lost_collection_names_it(server: QdrantDoor, tmp_path: Path) -> None:
    with open_parts(tmp_path, **fleet(server, tmp_path)) as parts:
        collection = parts.index.collection
    settings = Settings(bmo_home=tmp_path, **fleet(server, tmp_path), _env_file=None)  # type: ignore[call-arg]
    index = MemoryIndex.open(settings, HashingEmbedder(64))
    server.lose()
    with pytest.raises(Exception, match=f"has lost the collection {collection}; it is made again"):
        index.count()
    index.close()


def test_what_another_process_made_anew_is_filled_by_who_runs(
    server: QdrantDoor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bmo.recorder.upkeep.LOOK_S", 0.0)
    monkeypatch.setattr(comparing, "CHECK_S", 0.0)
    with open_parts(tmp_path / "a", **fleet(server, tmp_path)) as here:
        like(here, "zydeco", "gumbo", "okra")
        here.mended()
        server.lose()
        # A command: it opens the index, writes one memory of its own, and ends.
        owner = IndexOwner(here.ledger.identity(), here.ledger.knows)
        other = MemoryIndex.open(here.settings, HashingEmbedder(64), owner=owner)
        assert other.count() == 0
        other.close()
        like(here, "jazz")
        here.mended()
        assert here.index.count() == 4


@pytest.mark.parametrize("beaten", [True, False])
def test_who_comes_second_to_an_empty_server_is_no_failure(
    server: QdrantDoor, tmp_path: Path, beaten: bool
) -> None:
    server.beaten = beaten
    with open_parts(tmp_path, **fleet(server, tmp_path)) as parts:
        assert (parts.index.notice, parts.index.unavailable) == ("", "")
        like(parts, "zydeco")
        parts.mended()
        assert parts.index.count() == 1


def test_payload_indexes_that_are_missing_are_made(server: QdrantDoor, tmp_path: Path) -> None:
    with open_parts(tmp_path, **fleet(server, tmp_path)) as parts:
        complete = described(server)
        with server.client() as client:
            for key in ("user_id", "mode"):
                client.delete_payload_index(parts.index.collection, key)
        server.requests.clear()
    with open_parts(tmp_path, **fleet(server, tmp_path)):
        assert sum(request.endswith("/index") for request in server.requests) == 2
    healed = described(server).payload_schema
    assert healed.keys() == complete.payload_schema.keys()
    params = {key: one.params for key, one in healed.items()}
    assert params == {key: one.params for key, one in complete.payload_schema.items()}
    keyword = {k: one for k, one in params.items() if isinstance(one, models.KeywordIndexParams)}
    assert {key for key, one in keyword.items() if one.is_tenant} == {"user_id"}
    assert {key for key, one in keyword.items() if one.enable_hnsw} == {"user_id"}
    graphs = complete.config.hnsw_config
    assert (graphs.m, graphs.payload_m) == (0, 16)
    with server.client() as client:
        assert "text_lemmatized" not in str(client.scroll(parts.index.collection))


def test_vectors_on_disk_are_a_setting(server: QdrantDoor, tmp_path: Path) -> None:
    with open_parts(tmp_path, **fleet(server, tmp_path), qdrant_vectors_on_disk=True):
        vectors = described(server).config.params.vectors
        assert isinstance(vectors, models.VectorParams)
        assert vectors.on_disk is True


def test_a_wipe_asks_the_server_a_few_times_however_much_there_is(
    server: QdrantDoor, tmp_path: Path
) -> None:
    with open_parts(tmp_path, **fleet(server, tmp_path)) as parts:
        like(parts, *(f"thing{number}" for number in range(30)))
        parts.mended()
        server.requests.clear()
        receipt = parts.recorder.call(parts.ledger.erase_user, "ana", at=day(1)).result(30)
        parts.settled()
        asked = [one.rpartition("/points")[2] for one in server.requests if "POST" in one]
        final = parts.ledger.receipt("ana", receipt.id)
        assert final is not None and final.places["index"] == 30
        assert asked.count("/delete") == 1
        assert len(asked) <= 6  # whose the collection is, how many there were
        assert parts.index.count() == 0


class Gate(HashingEmbedder):
    """Embeds some texts only after it was opened."""

    def __init__(self) -> None:
        super().__init__(64)
        self.opened = threading.Event()

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        if any("thing" in text for text in texts):
            assert self.opened.wait(60)
        return super().embed(texts, asked)


def test_a_worker_is_ready_whatever_the_index_lacks(server: QdrantDoor, tmp_path: Path) -> None:
    settings = Settings(bmo_home=tmp_path, **fleet(server, tmp_path), _env_file=None)  # type: ignore[call-arg]
    with open_parts(tmp_path, **fleet(server, tmp_path)) as parts:
        like(parts, *(f"thing{number}" for number in range(50)))
        parts.mended()
    server.lose()
    forget_vectors(settings.ledger_url)
    ledger = Ledger.open(settings.ledger_url)
    embedder = Gate()
    index = MemoryIndex.open(settings, embedder, owner=IndexOwner(ledger.identity(), ledger.knows))
    recorder = Recorder(ledger, index, settings)
    late = Parts(settings, ledger, index, recorder)
    like(late, "zydeco")
    late.settled()
    found = index.search("ana", "zydeco", top_k=1, threshold=0.1)
    assert [hit.text for hit in found] == ["Likes zydeco"]
    assert index.count() == 1
    embedder.opened.set()
    late.mended()
    assert index.count() == 51
    recorder.close()
    index.close()
    ledger.close()


def test_who_dies_in_the_middle_costs_one_piece(
    server: QdrantDoor, tmp_path: Path, ledger_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_parts(tmp_path, **fleet(server, ledger_url)) as parts:
        like(parts, *(f"thing{number}" for number in range(12)))
        parts.mended()
    server.lose()
    settings = Settings(bmo_home=tmp_path, **fleet(server, ledger_url), _env_file=None)  # type: ignore[call-arg]
    ledger = Ledger.open(settings.ledger_url)
    owner = IndexOwner(ledger.identity(), ledger.knows)
    index = MemoryIndex.open(settings, HashingEmbedder(64), owner=owner)
    killed, other = (Comparing(ledger, index, piece=5) for _ in range(2))
    assert killed.begin(now=True) and killed.go_on()
    assert index.count() == 5
    assert not other.begin(now=True)  # it may be alive
    monkeypatch.setattr("time.time", lambda: killed.state.until + 1)
    assert other.begin()
    assert other.state.looked == 5
    while other.go_on():
        pass
    assert (other.written, index.count()) == (7, 12)
    assert not difference(ledger, index)
    assert not killed.go_on()  # it was not dead after all, and notices
    other.leave()
    index.close()
    ledger.close()


def test_a_difference_that_no_round_mends_is_looked_for_less_and_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_parts(tmp_path) as parts:
        like(parts, "zydeco")
        parts.mended()
    ledger = Ledger.open(parts.settings.ledger_url)
    index = MemoryIndex.open(parts.settings, HashingEmbedder(64))
    monkeypatch.setattr(MemoryIndex, "count_facts", lambda self: 7)
    work = Comparing(ledger, index)
    for rounds in (1, 2):
        assert work.begin(again=True)
        work._write(replace(work.state, fruitless=rounds - 1))
        while work.go_on():
            pass
        assert work.state.fruitless == rounds
        assert not work.begin()
        work._write(replace(work.state, counted=work.state.counted - comparing.CHECK_S * 2**rounds))
        assert work.begin()
    work.leave()
    index.close()
    ledger.close()


class _Halting(HashingEmbedder):
    """Holds the first batch back until it may go on."""

    def __init__(self) -> None:
        super().__init__(64)
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.batches = 0

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        if len(texts) > 1:
            self.batches += 1
            self.begun.set()
            assert self.go_on.wait(60)
        return super().embed(texts, asked)


def test_closing_waits_for_the_batch_and_not_for_the_piece(tmp_path: Path) -> None:
    things = [f"stamp {number}" for number in range(comparing.BATCH + 8)]
    with open_parts(tmp_path) as parts:
        like(parts, *things)
        parts.mended()
        chosen = parts.settings
    shutil.rmtree(tmp_path / "qdrant-edge")
    forget_vectors(chosen.ledger_url)
    ledger, embedder = Ledger.open(chosen.ledger_url), _Halting()
    owner = IndexOwner(ledger.identity(), ledger.knows)
    index = MemoryIndex.open(chosen, embedder, owner=owner)
    repairing = Repairing(ledger, index)
    repairing.start()
    assert embedder.begun.wait(60)
    closing = threading.Thread(target=repairing.stop, args=(60.0,))
    closing.start()
    eventually(repairing.stopping.is_set)
    embedder.go_on.set()
    closing.join()
    assert not [one for one in threading.enumerate() if one.name == "bmo-recorder-repair"]
    assert (embedder.batches, index.count_facts()) == (1, comparing.BATCH)
    index.close()
    ledger.close()
    with open_parts(tmp_path) as parts:
        parts.mended()
        assert parts.index.count_facts() == len(things)
