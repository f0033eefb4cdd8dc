"""Rewriting files for an erasure: beside everything else, complete, and taken up again."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bmo.index import IndexUnavailable, MemoryIndex
from bmo.memory import MemoryService
from bmo.settings import Settings, quiet_third_parties
from tests.fakes.speaker import allowed, day, gone, likes, turn
from tests.integration.memory_parts import Parts, bytes_with, open_parts

if TYPE_CHECKING:
    from bmo.index.edge_store import EdgeStore

pytestmark = pytest.mark.integration


@pytest.fixture
def store_class(tmp_path: Path) -> type[EdgeStore]:
    quiet_third_parties(tmp_path)  # before Mem0 is imported
    from bmo.index.edge_store import EdgeStore

    return EdgeStore


@pytest.fixture
def held_copy(
    monkeypatch: pytest.MonkeyPatch, store_class: type[EdgeStore]
) -> tuple[threading.Event, threading.Event]:
    """A rewriting that stands still when it has copied all: (it does, it may go on)."""
    begun, go_on = threading.Event(), threading.Event()
    copied = store_class._copy_all

    def slowly(store: EdgeStore, fresh: Any) -> None:
        copied(store, fresh)
        begun.set()
        assert go_on.wait(30)

    monkeypatch.setattr(store_class, "_copy_all", slowly)
    return begun, go_on


def remember(parts: Parts, *things: str) -> None:
    for thing in things:
        parts.say(turn(thing), allowed(thing, likes(thing)))
    parts.settled()


def erase(parts: Parts, thing: str) -> str:
    (known,) = [fact for fact in parts.ledger.live_facts("ana") if fact.value == thing]
    return parts.recorder.call(parts.ledger.erase, "ana", [known.id]).result(30).id


def texts(index: MemoryIndex) -> set[str]:
    return {entry.text for entry in index.entries("ana")}


def complete(parts: Parts, erasure_id: str) -> bool:
    receipt = parts.ledger.receipt("ana", erasure_id)
    assert receipt is not None
    return receipt.complete


def test_no_thread_outlives_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_class: type[EdgeStore]
) -> None:
    """Closing gives up a rewriting that takes too long; the next start sees to it."""

    def without_end(store: EdgeStore, fresh: Any) -> None:
        while True:
            store._check_open()
            time.sleep(0.01)

    monkeypatch.setattr(store_class, "_copy_all", without_end)
    monkeypatch.setattr("bmo.recorder.upkeep.LAST_ERASURES_S", 2.0)
    chosen = Settings(bmo_home=tmp_path, gatekeeper_mode="pattern", _env_file=None)  # type: ignore[call-arg]
    service = MemoryService.open_blocking(chosen)
    service.recorder.submit(turn("x"), allowed("x", likes("zydeco"))).result(30)
    (known,) = service.ledger.live_facts("ana")
    service.recorder.call(service.ledger.erase, "ana", [known.id]).result(30)
    service.close_blocking()
    assert not [one for one in threading.enumerate() if "erase" in one.name]


def test_turns_are_recorded_and_found_while_files_are_rewritten(
    tmp_path: Path, held_copy: tuple[threading.Event, threading.Event]
) -> None:
    begun, go_on = held_copy
    with open_parts(tmp_path) as parts:
        remember(parts, "zydeco", "tea", "jazz")
        erasure_id = erase(parts, "zydeco")
        assert begun.wait(30)
        recorded = parts.say(turn("x", at=day(1)), allowed("x", likes("gumbo")))
        assert [fact.value for fact in recorded.added] == ["gumbo"]
        (jazz,) = [fact for fact in parts.ledger.live_facts("ana") if fact.value == "jazz"]
        parts.say(turn("y", at=day(2)), allowed("y", gone(jazz)))
        until = time.monotonic() + 30
        while texts(parts.index) != {"Likes tea", "Likes gumbo"} and time.monotonic() < until:
            time.sleep(0.02)
        found = parts.index.search("ana", "gumbo", top_k=3, threshold=0.1)
        assert [hit.text for hit in found] == ["Likes gumbo"]
        assert not complete(parts, erasure_id)
        go_on.set()
        parts.settled()
        assert complete(parts, erasure_id)
        assert texts(parts.index) == {"Likes tea", "Likes gumbo"}
        assert bytes_with(tmp_path, "zydeco") == []
    with open_parts(tmp_path) as parts:
        assert texts(parts.index) == {"Likes tea", "Likes gumbo"}


def test_what_is_erased_meanwhile_leaves_no_byte_either(
    tmp_path: Path, held_copy: tuple[threading.Event, threading.Event]
) -> None:
    begun, go_on = held_copy
    with open_parts(tmp_path) as parts:
        remember(parts, "zydeco", "tea", "calypso")
        first = erase(parts, "zydeco")
        assert begun.wait(30)
        second = erase(parts, "calypso")
        until = time.monotonic() + 30
        while parts.ledger.backlog().depth and time.monotonic() < until:
            time.sleep(0.02)
        go_on.set()
        parts.settled()
        assert complete(parts, first)
        assert complete(parts, second)
        assert texts(parts.index) == {"Likes tea"}
        assert bytes_with(tmp_path, "zydeco") == []
        assert bytes_with(tmp_path, "calypso") == []


def test_a_rewriting_that_closing_stops_is_done_after_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_class: type[EdgeStore]
) -> None:
    begun = threading.Event()

    def until_closed(store: EdgeStore, _fresh: Any) -> None:
        begun.set()
        until = time.monotonic() + 30
        while time.monotonic() < until:
            store._check_open()
            time.sleep(0.01)

    with monkeypatch.context() as patched:
        patched.setattr(store_class, "_copy_all", until_closed)
        patched.setattr("bmo.recorder.upkeep.LAST_ERASURES_S", 0.2)
        with open_parts(tmp_path) as parts:
            remember(parts, "zydeco", "tea")
            erasure_id = erase(parts, "zydeco")
            assert begun.wait(30)
        assert bytes_with(tmp_path, "zydeco")
    with open_parts(tmp_path) as parts:
        parts.settled()
        assert complete(parts, erasure_id)
        assert texts(parts.index) == {"Likes tea"}
    assert bytes_with(tmp_path, "zydeco") == []


def test_a_copy_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_class: type[EdgeStore]
) -> None:
    def fails(_store: EdgeStore, _fresh: Any) -> None:
        raise IndexUnavailable("no room")

    with open_parts(tmp_path) as parts:
        remember(parts, "zydeco", "tea")
        with monkeypatch.context() as patched:
            patched.setattr(store_class, "_copy_all", fails)
            with pytest.raises(IndexUnavailable, match="no room"):
                parts.index.compact()
        remember(parts, "jazz")
        assert texts(parts.index) == {"Likes zydeco", "Likes tea", "Likes jazz"}
        assert parts.index.compact()
        assert texts(parts.index) == {"Likes zydeco", "Likes tea", "Likes jazz"}
