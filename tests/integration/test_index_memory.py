"""MemoryIndex on a real Qdrant Edge store."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import qdrant_edge as edge

from bmo.ids import new_id
from bmo.index import IndexUnavailable, MemoryIndex, StoreInUse, collection_name, point_of
from bmo.index.entries import scan
from bmo.settings import Settings, quiet_third_parties
from bmo.turn import Category, StoredFact, Turn
from tests.fakes.closing_server import closing_server
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.speaker import START
from tests.integration.memory_parts import bytes_with

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


def settings(home: Path, **more: object) -> Settings:
    return Settings(bmo_home=home, _env_file=None, **more)  # type: ignore[arg-type,call-arg]


def stored(text: str, user: str = "ana", category: Category = "preferences") -> StoredFact:
    return StoredFact(
        id=new_id(),
        user_id=user,
        subject="user",
        slot=None,
        value="",
        text=text,
        category=category,
        kind="fact",
        cardinality="many",
        polarity="positive",
        confidence=0.9,
        valid_from=START,
    )


@pytest.fixture(params=["edge", "local"])
def index(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MemoryIndex]:
    if request.param == "local":
        # What a platform without a wheel sees.
        monkeypatch.setitem(sys.modules, "qdrant_edge", None)
    opened = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    assert opened.backend == request.param
    assert bool(opened.notice) == (request.param == "local")
    yield opened
    opened.close()


def test_add_is_idempotent_and_carries_the_gates_word(index: MemoryIndex) -> None:
    fact = stored("Likes zydeco")
    said: dict[str, str | float | bool] = {
        "write_confidence": 0.9,
        "write_reason": "stated",
        "write_gate_fallback": True,
    }
    made = index.add_many([(fact, said)])
    assert index.add_many([(fact, said)]) == made
    assert index.add_many([(fact, said)], made) == {}
    assert index.count() == 1
    hit = index.search("ana", "zydeco", top_k=3, threshold=0.1)[0]
    assert (hit.fact_id, hit.index_id, hit.text) == (fact.id, point_of(fact.id), "Likes zydeco")
    assert 0.1 < hit.score <= 1.0
    expected = {
        "category": "preferences",
        "mode": "gated",
        "kind": "fact",
        "slot": "",
        "subject": "user",
        "fact_id": fact.id,
        "turn_id": "",
        "extraction_version": "",
        "write_verdict": "allow",
        "write_gate_fallback": True,
        "valid_from": START.isoformat(),
    }
    assert {key: hit.metadata[key] for key in expected} == expected


def test_changed_text_of_a_fact_replaces_its_entry(index: MemoryIndex) -> None:
    fact = stored("Daughter studies biology")
    index.add_many([(fact, {})])
    changed = StoredFact(
        **{
            **{k: getattr(fact, k) for k in StoredFact.__slots__},
            "text": "Daughter Abena studies biology",
        }
    )
    index.add_many([(changed, {})])
    assert [entry.text for entry in index.entries()] == ["Daughter Abena studies biology"]
    assert index.search("ana", "abena", top_k=1, threshold=0.1)


def test_users_and_verdicts_are_kept_apart(index: MemoryIndex) -> None:
    index.add_many([(stored("Likes zydeco"), {})])
    index.add_many([(stored("Likes zydeco", user="ben"), {})])
    index.add_many([(stored("Learns zydeco dancing", category="goals"), {})])
    index.add_many([(stored("May like zydeco"), {"write_verdict": "hold"})])

    hits = index.search("ana", "zydeco", top_k=9, threshold=0.0)
    assert sorted(hit.text for hit in hits) == ["Learns zydeco dancing", "Likes zydeco"]
    assert (index.count("ana"), index.count("ben")) == (3, 1)


@pytest.mark.parametrize("user", ["*", "", "a b", "ana' OR 1=1", "аna", "ana\n", "x" * 129])
def test_hostile_user_ids_are_refused_everywhere(tmp_path: Path, user: str) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    calls: list[Callable[[], object]] = [
        lambda: index.search(user, "x", top_k=1, threshold=0.0),
        lambda: index.search(user, "x", top_k=1, threshold=0.0, raw=True),
        lambda: index.add_many([(stored("x", user=user), {})]),
        lambda: index.add_raw(Turn(text="x", user_id=user), "x"),
        lambda: index.delete_fact(user, new_id()),
        lambda: index.delete_user(user),
        lambda: index.count(user),
        lambda: list(index.entries(user)),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="is not allowed"):
            call()
    index.close()


def test_entries_of_others_cannot_be_deleted(index: MemoryIndex) -> None:
    theirs = stored("Likes zydeco", user="ben")
    index.add_many([(theirs, {})])
    assert index.delete_fact("ana", theirs.id) == 0
    assert index.count("ben") == 1


def test_deleting_what_is_not_there_is_fine(index: MemoryIndex) -> None:
    assert index.delete_fact("ana", new_id()) == 0


def test_purge_and_compact_leave_no_byte(index: MemoryIndex, tmp_path: Path) -> None:
    gone, kept = stored("Likes zydeco"), stored("Likes gumbo")
    index.add_many([(gone, {})])
    index.add_many([(kept, {})])
    assert index.delete_fact("ana", gone.id) == 1
    assert index.compact()
    assert bytes_with(tmp_path, "zydeco") == []
    assert [hit.text for hit in index.search("ana", "gumbo", top_k=5, threshold=0.1)] == [
        "Likes gumbo"
    ]


def test_raw_turns_are_found_by_raw_search_only(index: MemoryIndex) -> None:
    said = Turn(text="play some zydeco", user_id="ana", at=START)
    first = index.add_raw(said, said.text)
    assert index.add_raw(said, said.text) == first
    assert index.add_raw(Turn(text="", user_id="ana"), " ") == ""
    assert [h.text for h in index.search("ana", "zydeco", top_k=3, threshold=0.1, raw=True)] == [
        "play some zydeco"
    ]
    assert index.search("ana", "zydeco", top_k=3, threshold=0.1) == []


@pytest.mark.parametrize("text", ["\x00", "\ud83d lone", "🎷" * 300, "a" * 100_000, "مرحبا"])
def test_any_text_can_be_written_and_searched(index: MemoryIndex, text: str) -> None:
    index.add_many([(stored(f"Says {text}"), {})])
    index.search("ana", text, top_k=1, threshold=0.0)
    assert index.search("ana", "  ", top_k=1, threshold=0.0) == []
    assert index.search("ana", "says", top_k=0, threshold=0.0) == []
    assert index.count() == 1


def test_entries_survive_closing(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    index.close()
    index.close()
    with pytest.raises(IndexUnavailable, match="closed"):
        index.count()
    again = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    assert again.count() == 1
    again.close()


def test_second_process_gets_a_sentence_and_harms_nothing(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from bmo.index import MemoryIndex, StoreInUse\n"
        "from bmo.settings import Settings\n"
        "from tests.fakes.embedder import HashingEmbedder\n"
        "try:\n"
        "    MemoryIndex.open(Settings(bmo_home=Path(sys.argv[1]), _env_file=None),"
        " HashingEmbedder())\n"
        "except StoreInUse as error:\n"
        "    print(error)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    ).stdout
    assert f"in use by process {os.getpid()}" in answer
    assert "BMO_HOME" in answer and "QDRANT_URL" in answer
    index.add_many([(stored("Likes gumbo"), {})])
    index.close()
    again = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    assert again.count() == 2
    again.close()


def test_same_process_cannot_open_it_twice(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    with pytest.raises(StoreInUse):
        MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.close()


def test_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "qdrant-edge").write_text("a file is in the way")
    with pytest.raises(IndexUnavailable, match="BMO_HOME"):
        MemoryIndex.open(settings(tmp_path), HashingEmbedder())


def test_damaged_store_names_the_fix(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    index.close()
    config = tmp_path / "qdrant-edge" / index.collection / "edge_config.json"
    config.write_text("{ not json")
    with pytest.raises(IndexUnavailable, match="bmo reindex"):
        MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    config.unlink()  # and the lock was given back
    with pytest.raises(IndexUnavailable, match="bmo reindex"):
        MemoryIndex.open(settings(tmp_path), HashingEmbedder())


def test_files_that_make_the_engine_panic_are_a_sentence(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    index.close()
    (status, *_) = (tmp_path / "qdrant-edge").rglob("vectors/status.dat")
    status.write_bytes(b"")
    with pytest.raises(IndexUnavailable, match="bmo reindex") as caught:
        MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    assert "\n" not in str(caught.value)


def test_files_that_are_damaged_inside_are_a_sentence_at_the_first_use(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    index.close()
    (vectors, *_) = (tmp_path / "qdrant-edge").rglob("vectors/chunk_0.mmap")
    vectors.write_bytes(b"")
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    with pytest.raises(IndexUnavailable, match="bmo reindex"):
        index.add_many([(stored("Likes gumbo"), {})])
    index.close()


def test_a_full_disk_is_a_sentence_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = 1 << 40
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(
        "bmo.index.embedded_files.shutil.disk_usage", lambda place: usage._replace(free=free)
    )
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    free = 1 << 20
    for write in (
        lambda: index.add_many([(stored("Likes gumbo"), {})]),
        lambda: index.delete_user("ana"),
        index.compact,
    ):
        with pytest.raises(IndexUnavailable, match="is full \\(1 MB free"):
            write()
    assert [hit.text for hit in index.search("ana", "zydeco", top_k=1, threshold=0.1)] == [
        "Likes zydeco"
    ]
    index.close()
    with pytest.raises(IndexUnavailable, match="BMO_HOME"):
        MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    free = 1 << 40
    again = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    assert again.count() == 1
    again.close()


def test_interrupted_compaction_is_undone(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    index.close()
    shard = tmp_path / "qdrant-edge" / index.collection
    shard.rename(shard.with_name(f"{shard.name}.old"))
    shard.with_name(f"{shard.name}.compacting").mkdir()
    again = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    assert again.count() == 1
    assert sorted(p.name for p in shard.parent.glob("bmo-*")) == [index.collection]
    again.close()


def test_what_the_store_is_rewritten_into_is_not_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upkeep asks for stale stores while the files are rewritten on another thread."""
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    dropped: list[int] = []

    def dropping(_seconds: float) -> None:
        if not dropped:
            dropped.append(index.drop_stale())

    for number in range(90):  # more than a page: it pauses between two
        index.add_many([(stored(f"Collects item {number}"), {})])
    monkeypatch.setattr("bmo.index.edge_store.time.sleep", dropping)
    assert index.compact()
    assert dropped == [0]
    assert index.count() == 91
    index.close()
    again = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    assert again.count() == 91
    again.close()


def test_what_an_earlier_rewriting_left_is_removed_by_the_next(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    index.add_many([(stored("Likes zydeco"), {})])
    shard = tmp_path / "qdrant-edge" / index.collection
    for ending in ("old", "compacting"):
        (shard.with_name(f"{shard.name}.{ending}")).mkdir()
        (shard.with_name(f"{shard.name}.{ending}") / "page").write_text("zydeco")
    assert index.drop_stale() == 0
    assert index.compact()
    assert [p.name for p in shard.parent.glob("bmo-*")] == [index.collection]
    index.close()


def test_another_embedder_has_a_collection_of_its_own(tmp_path: Path) -> None:
    small, large = HashingEmbedder(32), HashingEmbedder(48)
    assert collection_name(small) != collection_name(large)
    index = MemoryIndex.open(settings(tmp_path), small)
    index.add_many([(stored("Likes zydeco"), {})])
    index.close()
    other = MemoryIndex.open(settings(tmp_path), large)
    assert other.count() == 0
    assert other.drop_stale() == 1
    assert bytes_with(tmp_path, "zydeco") == []
    other.close()


def test_many_threads_lose_nothing(index: MemoryIndex) -> None:
    def write(number: int) -> None:
        for step in range(10):
            index.add_many(
                [(stored(f"Collects item {number} {step}", user=f"user{number % 2}"), {})]
            )
            index.search(f"user{number % 2}", "item", top_k=3, threshold=0.0)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.count() == 40
    assert index.count("user0") == 20


def test_searches_go_on_during_compaction(tmp_path: Path) -> None:
    index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
    for number in range(50):
        index.add_many([(stored(f"Collects stamp {number}"), {})])
    stop = threading.Event()
    misses: list[int] = []

    def search() -> None:
        while not stop.is_set():
            found = len(index.search("ana", "stamp", top_k=50, threshold=0.0))
            if found != 50:
                misses.append(found)

    thread = threading.Thread(target=search)
    thread.start()
    for _ in range(5):
        index.compact()
    stop.set()
    thread.join()
    assert misses == []
    index.close()


def test_unreachable_server_opens_degraded_and_is_left_alone_for_a_while(tmp_path: Path) -> None:
    with closing_server() as server:
        index = MemoryIndex.open(settings(tmp_path, qdrant_url=server.url), HashingEmbedder())
        assert "QDRANT_URL" in index.notice
        assert index.unavailable == index.notice
        tried = server.connections
        for _ in range(20):
            with pytest.raises(IndexUnavailable, match="QDRANT_URL"):
                index.search("ana", "x", top_k=1, threshold=0.0)
        assert tried >= 1
        assert server.connections - tried <= tried
        assert not (tmp_path / "qdrant-edge").exists()
        index.close()


def test_memory_texts_stay_out_of_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        index = MemoryIndex.open(settings(tmp_path), HashingEmbedder())
        fact = stored("Likes zydeco")
        index.add_many([(fact, {})])
        index.search("ana", "zydeco", top_k=1, threshold=0.1)
        index.delete_fact("ana", fact.id)
        index.close()
    assert "zydeco" not in caplog.text.lower()


def test_entries_of_a_version_before_are_read_and_packed_when_copied(tmp_path: Path) -> None:
    quiet_third_parties(tmp_path)  # before Mem0 is imported
    from bmo.index.edge_store import EdgeStore

    store = EdgeStore(tmp_path / "shard", 2)
    point, payload = "00000000-0000-4000-8000-000000000001", {"user_id": "ana", "data": "tea"}
    store._shard.update(
        edge.UpdateOperation.upsert_points([edge.Point(point, [1.0, 0.0], payload)])
    )
    for _ in range(2):
        (entry,) = scan(store, {"user_id": "ana"})
        assert entry.payload == payload
        assert store.compact()
    with pytest.raises(ValueError, match="entries are filtered on user_id"):
        list(scan(store, {"data": "tea"}))
    store.close()
