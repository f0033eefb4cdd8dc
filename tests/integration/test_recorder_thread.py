"""The recorder: order, failures of index and database, flushing, closing, rebuilding."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from prometheus_client import REGISTRY
from sqlalchemy.exc import DatabaseError, DataError, OperationalError

from bmo.index import EmbedderUnavailable, IndexOwner, MemoryIndex
from bmo.ledger import Ledger, Recorded
from bmo.recorder import Recorder, rebuild
from bmo.settings import Settings
from bmo.turn import Decision, Recall, RecalledMemory, RecallPlan, ScoreParts, Turn
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.speaker import allowed, day, decided, fact, forget, gone, likes, lives_in, turn
from tests.integration.memory_parts import difference, eventually, open_parts, rows_of

pytestmark = pytest.mark.integration


class FailingEmbedder(HashingEmbedder):
    """Fails while ``down`` is set, as an embedding service without network does."""

    def __init__(self) -> None:
        super().__init__()
        self.down = True

    def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
        if self.down:
            raise EmbedderUnavailable("no network")
        return super().embed(texts, asked)


class BusyLedger(Ledger):
    """Refuses the first writes, as a locked database does."""

    refusals = 2

    def record(self, turn: Turn, decision: Decision, **more: object) -> Recorded:
        if self.refusals:
            self.refusals -= 1
            raise OperationalError("INSERT", {}, Exception("database is locked"))
        return super().record(turn, decision, **more)  # type: ignore[arg-type]


def test_what_is_recorded_reaches_the_index_with_the_gates_word(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        recorded = parts.say(
            turn("i like zydeco"), allowed("i like zydeco", likes("zydeco"), fallback=True)
        )
        parts.settled()
        hit = parts.index.search("ana", "zydeco", top_k=1, threshold=0.1)[0]
        said = {key: value for key, value in hit.metadata.items() if key.startswith("write_")}
        assert said == {
            "write_verdict": "allow",
            "write_confidence": 0.9,
            "write_reason": "said so",
            "write_gate_version": "rules-test",
            "write_gate_fallback": True,
        }
        stored = parts.ledger.facts_by_id("ana", [recorded.added[0].id])[0]
        assert stored.index_id == hit.index_id
        assert (parts.ledger.backlog().depth, parts.recorder.index_problem) == (0, "")


def test_superseded_facts_leave_the_index(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        parts.say(turn("x"), allowed("x", lives_in("Leeds")))
        parts.settled()
        parts.say(turn("y", at=day(1)), allowed("y", lives_in("York")))
        parts.settled()
        assert [entry.text for entry in parts.index.entries("ana")] == ["Lives in York"]


def test_near_duplicates_are_found_through_the_index(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        parts.say(turn("x"), allowed("x", fact("Plays cello in the old town quartet")))
        parts.settled()
        again = fact("In the old town quartet plays cello")
        recorded = parts.say(turn("y", at=day(1)), allowed("y", again))
        assert [f.text for f in recorded.confirmed] == ["Plays cello in the old town quartet"]


def test_failing_embedder_leaves_everything_in_the_outbox_and_then_recovers(
    tmp_path: Path,
) -> None:
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    embedder = FailingEmbedder()
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings, embedder)
    recorder = Recorder(ledger, index, settings)
    said = allowed("i like zydeco", likes("zydeco"))
    assert recorder.submit(turn("i like zydeco"), said).result(60).added
    assert recorder.flush(60) is False
    assert ledger.backlog().depth == 1
    embedder.down = False
    ledger.release_outbox()  # as if the waiting time were over
    assert recorder.flush(60)
    assert index.count() == 1
    recorder.close()
    index.close()
    ledger.close()


def test_without_an_index_the_outbox_waits_for_the_next_start(tmp_path: Path) -> None:
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    ledger = Ledger.open(settings.ledger_url)
    recorder = Recorder(ledger, None, settings)
    recorder.submit(turn("x"), allowed("x", likes("zydeco"))).result(60)
    assert recorder.flush(60) is False
    assert recorder.index_problem == "no index"
    recorder.close()
    ledger.close()
    with open_parts(tmp_path) as parts:
        parts.settled()
        assert parts.index.count() == 1


def test_turn_the_database_refuses_is_tried_again(tmp_path: Path) -> None:
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    ledger = BusyLedger.open(settings.ledger_url)
    recorder = Recorder(ledger, None, settings)
    future = recorder.submit(turn("x"), allowed("x", likes("zydeco")))
    with pytest.raises(OperationalError):
        future.result(60)
    recorder.close()
    assert ledger.count_live("ana") == 1
    ledger.close()


def test_a_turn_waits_while_the_process_has_no_connection_left(
    ledger_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not ledger_url.startswith("postgresql"):
        pytest.skip("SQLite opens a file as often as it likes")
    monkeypatch.setattr("bmo.ledger.engine.POOL_TIMEOUT_S", 0.1)
    ledger = Ledger.open(ledger_url, 2)
    recorder = Recorder(ledger, None, Settings(bmo_home=tmp_path, _env_file=None))  # type: ignore[call-arg]
    recorder.flush(60)
    with ledger.engine.connect(), ledger.engine.connect():
        future = recorder.submit(turn("x"), allowed("x", likes("zydeco")))
        with pytest.raises(OperationalError):
            future.result(60)
    recorder.flush(30)
    assert ledger.count_live("ana") == 1
    recorder.close()
    ledger.close()


def test_turns_behind_a_refused_one_say_so_at_once_and_are_written_in_order(
    tmp_path: Path,
) -> None:
    class FullDisk(Ledger):
        full = True

        def record(self, turn: Turn, decision: Decision, **more: object) -> Recorded:
            if self.full:
                raise OperationalError("INSERT", {}, Exception("database or disk is full"))
            return super().record(turn, decision, **more)  # type: ignore[arg-type]

    ledger = FullDisk.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    assert isinstance(ledger, FullDisk)
    recorder = Recorder(ledger, None, Settings(bmo_home=tmp_path, _env_file=None))  # type: ignore[call-arg]
    said = [turn(words) for words in ("one", "two", "three")]
    for one in said:
        with pytest.raises(OperationalError, match="disk is full"):
            recorder.submit(one, decided("discard", one.text)).result(60)
    ledger.full = False
    recorder.flush(60)
    assert [one.text for one in ledger.turns("ana")] == ["one", "two", "three"]
    recorder.close()
    ledger.close()


def test_an_outage_is_said_once_and_turns_that_are_lost_with_it_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bmo.recorder.writer_thread.LAST_DRAIN_S", 0.5)
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    ledger = BusyLedger.open(settings.ledger_url)
    assert isinstance(ledger, BusyLedger)
    recorder = Recorder(ledger, None, settings)
    said = [recorder.submit(turn("x"), allowed("x", likes("zydeco")))]
    recorder.flush(60)
    ledger.refusals = 1000
    said += [recorder.submit(turn(word), decided("discard", word)) for word in ("y", "z")]
    for future in said:
        with pytest.raises(OperationalError):
            future.result(60)
    recorder.close()
    told = [
        (record.getMessage(), getattr(record, "writes", None))
        for record in caplog.records
        if record.name.startswith("bmo.recorder")
    ]
    assert ledger.refusals < 998, "it was not tried again"
    refused, back = (
        ("the ledger did not take a write", None),
        ("the ledger takes writes again", None),
    )
    assert told == [refused, back, refused, ("writes are lost: the ledger took none", 2)]
    assert ledger.count_live("ana") == 1
    ledger.close()


def test_what_is_noted_of_a_turn_that_waits_is_written_after_it(tmp_path: Path) -> None:
    ledger = BusyLedger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    recorder = Recorder(ledger, None, Settings(bmo_home=tmp_path, _env_file=None))  # type: ignore[call-arg]
    known = ledger.add_imported("ana", likes("zydeco"), at=day(0)).added
    asked = turn("what do i like", at=day(1))
    recorder.submit(asked, decided("hold", asked.text))
    given = tuple(RecalledMemory(one, 0.9, ScoreParts(semantic=0.9), "search") for one in known)
    recorder.note_reply("ana", asked.id, "You like zydeco!", Recall(RecallPlan(True, "own"), given))
    recorder.close()
    (said,) = ledger.turns("ana")
    assert (said.assistant_after, said.verdict) == ("You like zydeco!", "hold")
    assert [fact.use_count for fact in ledger.live_facts("ana")] == [1]
    ledger.close()


@pytest.mark.parametrize("sqlstate", ["", "40001", "40P01"])
def test_a_broken_connection_or_a_deadlock_is_no_failure(tmp_path: Path, sqlstate: str) -> None:
    class Fails(Ledger):
        tries = 0

        def record(self, turn: Turn, decision: Decision, **more: object) -> Recorded:
            self.tries += 1
            if self.tries == 1:
                cause = Exception("as PostgreSQL says it")
                cause.sqlstate = sqlstate  # type: ignore[attr-defined]
                raise OperationalError("INSERT", {}, cause, connection_invalidated=not sqlstate)
            return super().record(turn, decision, **more)  # type: ignore[arg-type]

    ledger = Fails.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    recorder = Recorder(ledger, None, Settings(bmo_home=tmp_path, _env_file=None))  # type: ignore[call-arg]
    assert recorder.submit(turn("x"), allowed("x", likes("zydeco"))).result(10).added
    recorder.close()
    assert (rows_of(ledger, "turns"), rows_of(ledger, "decisions")) == (1, 1)
    ledger.close()


def test_a_turn_whose_commit_was_not_answered_is_written_once(tmp_path: Path) -> None:
    class CutOff(Ledger):
        """Writes a turn, and its connection breaks before it says so."""

        breaks = True

        def record(self, turn: Turn, decision: Decision, **more: object) -> Recorded:
            recorded = super().record(turn, decision, **more)  # type: ignore[arg-type]
            if self.breaks:
                self.breaks = False
                raise OperationalError("COMMIT", {}, Exception("connection closed"))
            return recorded

    ledger = CutOff.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    recorder = Recorder(ledger, None, Settings(bmo_home=tmp_path, _env_file=None))  # type: ignore[call-arg]
    all_of_it = forget("forget everything", gone(text="everything", scope="all"))
    with pytest.raises(OperationalError):
        recorder.submit(turn("forget everything"), all_of_it).result(10)
    recorder.close()
    assert (rows_of(ledger, "turns"), rows_of(ledger, "decisions")) == (1, 1)
    assert len(ledger.pending_erasures("ana")) == 1
    ledger.close()


def test_a_write_that_the_database_never_takes_does_not_hold_up_what_stands_behind_it(
    ledger_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if not ledger_url.startswith("postgresql"):
        pytest.skip("SQLite takes any length")
    ledger = Ledger.open(ledger_url)
    recorder = Recorder(ledger, None, Settings(bmo_home=tmp_path, _env_file=None))  # type: ignore[call-arg]
    long = replace(turn("x"), language="a language of more than sixteen letters")
    with pytest.raises(DataError):
        recorder.submit(long, decided("discard", "x")).result(10)
    recorder.submit(turn("y"), decided("discard", "y"))
    recorder.close()
    assert [said.text for said in ledger.turns("ana")] == ["y"]
    assert [getattr(one, "writes", 0) for one in caplog.records if "lost" in one.message] == [1]
    ledger.close()


def test_a_ledger_that_is_damaged_while_it_runs_is_not_waited_for(tmp_path: Path) -> None:
    class DamagedLedger(Ledger):
        def record(self, turn: Turn, decision: Decision, **more: object) -> Recorded:
            broken = sqlite3.DatabaseError("database disk image is malformed")
            raise DatabaseError("INSERT", {}, broken)

    ledger = DamagedLedger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    recorder = Recorder(ledger, None, Settings(bmo_home=tmp_path, _env_file=None))  # type: ignore[call-arg]
    with pytest.raises(DatabaseError):
        recorder.submit(turn("x"), decided("discard", "x")).result(60)
    ended = threading.Event()

    def end() -> None:
        assert recorder.flush(300.0) is False
        recorder.close(300.0)
        ended.set()

    threading.Thread(target=end, daemon=True).start()
    assert ended.wait(60), "it waits for a database that no waiting mends"
    ledger.close()


def test_failing_call_gets_its_error_and_the_thread_goes_on(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        with pytest.raises(ValueError, match="no request to forget"):
            parts.recorder.call(parts.ledger.confirm_erasure, "ana", "nope").result(60)
        assert parts.say(turn("x"), allowed("x", likes("tea"))).added


def test_close_does_what_was_submitted(tmp_path: Path) -> None:
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings, HashingEmbedder())
    recorder = Recorder(ledger, index, settings)
    hold = threading.Event()
    recorder.call(hold.wait, 10.0)
    for number in range(20):
        recorder.submit(turn(f"t{number}"), allowed(f"t{number}", likes(f"thing{number}")))
    hold.set()
    recorder.close()
    recorder.close()
    assert ledger.count_live("ana") == index.count("ana") == 20
    with pytest.raises(RuntimeError, match="closed"):
        recorder.submit(turn("late"), allowed("late"))
    index.close()
    ledger.close()


def test_reply_counts_the_memories_it_used(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        parts.say(turn("x"), allowed("x", likes("zydeco"), likes("gumbo")))
        asked = turn("what music do i like", at=day(1))
        parts.say(asked, allowed(asked.text))
        memories = tuple(
            RecalledMemory(known, 0.9, ScoreParts(semantic=0.9), "search")
            for known in parts.ledger.live_facts("ana")
        )
        recall = Recall(RecallPlan(True, "own"), memories)
        parts.recorder.note_recall(asked, recall)
        parts.recorder.note_reply("ana", asked.id, "You like Zydeco!", recall)
        parts.recorder.note_reply("ana", "unknown turn", "nothing")
        parts.settled()
        uses = {f.value: f.use_count for f in parts.ledger.live_facts("ana")}
        assert uses == {"zydeco": 1, "gumbo": 0}
        assert parts.ledger.turns("ana")[1].assistant_after == "You like Zydeco!"
        assert rows_of(parts.ledger, "recalls", "ana") == 1


def test_start_heals_what_differs(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        for number in range(5):
            words = f"t{number}"
            parts.say(turn(words), allowed(words, likes(f"thing{number}")))
        parts.settled()
        lost, doubled = parts.ledger.live_facts("ana")[:2]
        parts.index.delete_fact("ana", lost.id)
        with parts.index._writing():
            memory = parts.index.memory()
            memory.add(
                doubled.text,
                user_id="ana",
                metadata={"fact_id": doubled.id, "mode": "gated"},
                infer=False,
            )
            memory.add(
                "Likes nobody knows what",
                user_id="ana",
                metadata={"fact_id": "f" * 32, "mode": "gated"},
                infer=False,
            )
        assert difference(parts.ledger, parts.index) == {lost.id: -1, doubled.id: 1, "f" * 32: 1}
    with open_parts(tmp_path) as again:
        again.mended()
        assert again.index.count() == 5


def test_changed_embedder_fills_a_new_collection_in_the_background(tmp_path: Path) -> None:
    with open_parts(tmp_path) as parts:
        for number in range(30):
            words = f"t{number}"
            parts.say(turn(words), allowed(words, likes(f"thing{number}")))
        parts.settled()
        first = parts.index.collection
    with open_parts(tmp_path, dims=48) as other:
        assert other.index.collection != first
        other.mended()
        assert other.index.count("ana") == 30
        eventually(lambda: not (tmp_path / "qdrant-edge" / first).exists())


def test_rebuild_can_be_interrupted_and_resumed(tmp_path: Path) -> None:
    class Interrupted(Exception):
        pass

    def stop_at_five(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 5:
            raise Interrupted

    seen: list[tuple[int, int]] = []
    with open_parts(tmp_path) as parts:
        for number in range(12):
            words = f"t{number}"
            parts.say(turn(words), allowed(words, likes(f"thing{number}")))
        parts.settled()
        before = {entry.index_id for entry in parts.index.entries()}
        parts.index.remove_entries(sorted(before))
        with pytest.raises(Interrupted):
            rebuild(parts.index, parts.ledger, stop_at_five, piece=5)
        assert parts.index.count() == 5
        kept = {entry.index_id for entry in parts.index.entries()}
        assert (
            rebuild(parts.index, parts.ledger, lambda done, total: seen.append((done, total))) == 7
        )
        assert seen[-1] == (12, 12)
        after = {entry.index_id for entry in parts.index.entries()}
        assert kept < after == before  # a fact's entry has the same id each time
        assert not difference(parts.ledger, parts.index)
        stored = {f.index_id for f in parts.ledger.live_facts("ana")}
        assert stored == after


def test_only_what_an_entry_says_wrong_is_written_again(tmp_path: Path) -> None:
    class Counting(HashingEmbedder):
        asked: ClassVar[list[str]] = []

        def embed(self, texts: Sequence[str], asked: Sequence[str] = ()) -> NDArray[np.float32]:
            self.asked.extend(texts)
            return super().embed(texts, asked)

    with open_parts(tmp_path) as parts:
        for thing in ("tea", "jazz", "rye"):
            parts.say(turn(thing), allowed(thing, likes(thing)))
        parts.settled()
        known = parts.ledger.live_facts("ana")
        settings, said = parts.settings, parts.ledger.gate_metadata("ana", [known[0].turn_id])
        wrong = replace(known[0], text="Likes something else")
        parts.index.add_many([(wrong, said[known[0].turn_id])])
    ledger = Ledger.open(settings.ledger_url)
    owner = IndexOwner(ledger.identity(), ledger.knows)
    index = MemoryIndex.open(settings, Counting(64), owner=owner)
    assert rebuild(index, ledger) == 1
    assert Counting.asked == []  # the ledger has its vector
    assert {entry.text for entry in index.entries()} == {fact.text for fact in known}
    index.close()
    ledger.close()


def test_normal_mode_sends_words_as_they_are(tmp_path: Path) -> None:
    with open_parts(tmp_path, mem0_setting="NORMAL") as parts:
        said = turn("play some zydeco")
        parts.say(said, allowed(said.text))
        parts.say(said, allowed(said.text))
        parts.settled()
        found = parts.index.search("ana", "zydeco", top_k=3, threshold=0.1, raw=True)
        assert [hit.text for hit in found] == ["play some zydeco"]
        assert found[0].metadata["mode"] == "normal"
        assert not difference(parts.ledger, parts.index)


def test_words_of_old_discarded_turns_are_dropped_at_the_start(tmp_path: Path) -> None:
    old = Turn(text="play some zydeco", user_id="ana", at=day(0))
    with open_parts(tmp_path) as parts:
        parts.say(old, decided("discard", old.text))
    with open_parts(tmp_path, bmo_keep_turns_days=36500) as kept:
        kept.say(turn("hello"), decided("discard", "hello"))
        kept.settled()
        assert kept.ledger.turns("ana")[0].text == "play some zydeco"
    with open_parts(tmp_path, bmo_keep_turns_days=29) as dropped:
        dropped.settled()
        assert [said.text for said in dropped.ledger.turns("ana")] == ["", ""]


def test_what_looks_at_all_users_is_done_by_one_process_a_day(
    ledger_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(bmo_home=tmp_path, _env_file=None)  # type: ignore[call-arg]
    ledger = Ledger.open(ledger_url)
    looked: Counter[str] = Counter()

    def dropped(*_: object) -> None:
        looked["words"] += 1

    def measured(*_: object) -> tuple[float, float]:
        looked["drift"] += 1
        return 0.5, 0.1

    monkeypatch.setattr("bmo.ledger.Ledger.drop_old_words", dropped)
    monkeypatch.setattr("bmo.recorder.upkeep.verdict_drift", measured)
    for _ in range(3):
        recorder = Recorder(ledger, None, settings)
        recorder.flush(10)
        recorder.close()
        assert REGISTRY.get_sample_value("bmo_verdict_drift") == 0.5
    assert looked == {"words": 1, "drift": 1}
    ledger.close()
