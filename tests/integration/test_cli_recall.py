"""``bmo held``, ``recall``, ``feedback``, ``reindex`` and ``reprocess`` on a real store."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli import bmo, bmo_process
from tests.homes import copy_home
from tests.seeding import Said, brother, held, home_in, likes, opened, remember

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that no test of this module changes."""
    home = tmp_path_factory.mktemp("filled")
    remember(
        home,
        [
            brother(),
            home_in("Oslo"),
            likes("jazz"),
            home_in("Leeds"),
            held("biscotti the cat was mine from the start"),
            held("someone might move in with us one day"),
            held("a secret of eve", "eve"),
        ],
    )
    return home


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    copy_home(filled, tmp_path / "home")
    return tmp_path / "home"


def index_texts(home: Path) -> list[str]:
    with opened(home) as stores:
        assert stores.index is not None
        return sorted(entry.text for entry in stores.index.entries("local"))


def live_texts(home: Path) -> list[str]:
    return sorted(row["text"] for row in bmo(home, "memories", "list", "--json").rows)


# -- held ------------------------------------------------------------------------------------------


def test_held_lists_newest_first_and_only_mine(filled: Path) -> None:
    ran = bmo(filled, "held", "--json")
    assert ran.code == 0, ran.err
    assert [row["text"] for row in ran.rows] == [
        "someone might move in with us one day",
        "biscotti the cat was mine from the start",
    ]
    assert {row["reason"] for row in ran.rows} == {"no rule vouches"}
    table = bmo(filled, "held")
    assert max(len(line) for line in table.out.splitlines()) <= 60
    assert "--limit 2" in bmo(filled, "held", "--limit", "1").out


def test_an_allowed_turn_is_remembered_and_recalled(home: Path) -> None:
    cat = next(row for row in bmo(home, "held", "--json").rows if "biscotti" in row["text"])
    ran = bmo(home, "held", "--allow", cat["id"][:8], "--as", "Has a cat named Biscotti", "--json")
    assert ran.code == 0, ran.err
    assert [row["text"] for row in ran.rows] == ["Has a cat named Biscotti"]
    assert ran.rows[0]["source_type"] == "manual"
    assert "Has a cat named Biscotti" in index_texts(home)
    assert cat["id"] not in [row["id"] for row in bmo(home, "held", "--json").rows]
    why = bmo(home, "memories", "why", ran.rows[0]["id"], "--json").rows[0]
    assert [turn["text"] for turn in why["said"]] == ["biscotti the cat was mine from the start"]
    again = bmo(home, "held", "--allow", cat["id"])
    assert again.code == 2
    assert "no held turn" in again.sentence


def test_an_allowed_turn_without_words_of_ours_keeps_its_own(home: Path) -> None:
    cat = next(row for row in bmo(home, "held", "--json").rows if "biscotti" in row["text"])
    ran = bmo(home, "held", "--allow", cat["id"], "--category", "relationships", "--json")
    assert ran.code == 0, ran.err
    assert ran.rows[0]["category"] == "relationships"
    assert "biscotti" in ran.rows[0]["text"].lower()


def test_a_discarded_turn_is_gone_from_the_list(home: Path) -> None:
    first = bmo(home, "held", "--json").rows[0]
    ran = bmo(home, "held", "--discard", first["id"][:8])
    assert ran.code == 0
    assert first["id"] not in [row["id"] for row in bmo(home, "held", "--json").rows]
    assert first["text"] not in live_texts(home)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["held", "--allow", "zzzz"], "'zzzz'"),
        (["held", "--discard", "%"], "'%'"),
        (["held", "--allow", "a", "--discard", "b"], "one at a time"),
        (["held", "--as", "Has a cat"], "belong to --allow"),
        (["held", "--allow", "a", "--category", "x"], "'x' is not one of"),
        (["held", "--user", ""], "user id ''"),
        (["recall", "  "], "empty"),
        (["feedback", "zzzz", "good"], "'zzzz'"),
        (["feedback", "zzzz", "maybe"], "'maybe'"),
        (["reprocess", "--since", "soon"], "'soon'"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(
    filled: Path, arguments: list[str], says: str
) -> None:
    ran = bmo(filled, *arguments)
    assert ran.code == 2
    assert says in ran.sentence


# -- recall ----------------------------------------------------------------------------------------


def test_recall_gives_the_memory_that_answers(filled: Path) -> None:
    ran = bmo(filled, "recall", "where do i live", "--json")
    assert ran.code == 0, ran.err
    found = ran.rows[0]
    assert found["plan"]["recall"] is True
    assert found["memories"][0]["text"] == "Lives in Leeds"
    assert "Lives in Leeds" in found["context"]
    for memory in found["memories"] + found["left_out"]:
        assert memory["score"] == pytest.approx(sum(memory["parts"].values()), abs=1e-3)
        assert memory["why"]


def test_explain_shows_parts_and_reasons_on_sixty_columns(filled: Path) -> None:
    ran = bmo(filled, "recall", "where do i live", "--explain")
    assert ran.code == 0, ran.err
    assert max(len(line) for line in ran.out.splitlines()) <= 60
    assert "Lives in Leeds" in ran.out
    assert "semantic" in ran.out and "slot" in ran.out


def test_a_question_that_needs_no_memory_gets_none(filled: Path) -> None:
    found = bmo(filled, "recall", "what is the capital of france", "--json").rows[0]
    assert found["plan"]["recall"] is False
    assert found["memories"] == []
    assert found["context"] == ""


def test_without_gates_every_question_searches_the_stored_turns(tmp_path: Path) -> None:
    normal = {"MEM0_SETTING": "NORMAL"}
    said = bmo(tmp_path, "chat", stdin="the van is white\n/quit\n", **normal)
    assert said.code == 0, said.err
    found = bmo(tmp_path, "recall", "what colour is the van", "--json", **normal).rows[0]
    assert found["plan"]["trigger"] == "normal"
    assert [memory["text"] for memory in found["memories"]] == ["the van is white"]
    listed = bmo(tmp_path, "memories", "list", **normal)
    assert "1 turn is stored; bmo recall searches them" in listed.err and listed.out == ""
    shown = " ".join(bmo(tmp_path, "chat", stdin="/memories\n", **normal).out.split())
    assert "1 turn is stored" in shown and "Nothing is stored" not in shown
    for command in ("show", "why", "forget"):
        unknown = bmo(tmp_path, "memories", command, found["memories"][0]["id"][:8], **normal)
        assert unknown.code == 2
        assert "under MEM0_SETTING=NORMAL are stored turns" in unknown.sentence


def test_without_gates_a_lost_index_is_made_anew_from_the_turns(tmp_path: Path) -> None:
    normal = {"MEM0_SETTING": "NORMAL"}
    bmo(tmp_path, "chat", stdin="the van is white\nthe cat is black\n/quit\n", **normal)
    shutil.rmtree(tmp_path / "qdrant-edge")
    for _ in range(2):  # the second finds them there
        made = bmo(tmp_path, "reindex", **normal)
        assert made.code == 0, made.err
        assert "2 stored turns looked for" in made.out and "holds 2" in made.out
    found = bmo(tmp_path, "recall", "what colour is the van", "--json", **normal).rows[0]
    assert [memory["text"] for memory in found["memories"]][:1] == ["the van is white"]


def test_held_turns_are_shown_only_when_asked_for(filled: Path) -> None:
    asked = "who is biscotti"
    found = bmo(filled, "recall", asked, "--include-held", "--json").rows[0]
    assert [row["text"] for row in found["held"]] == ["biscotti the cat was mine from the start"]
    assert all("biscotti" not in memory["text"].lower() for memory in found["memories"])
    assert bmo(filled, "recall", asked, "--json").rows[0]["held"] == []


def test_recall_reads_only_the_users_own(filled: Path) -> None:
    found = bmo(filled, "recall", "where do i live", "--user", "eve", "--json").rows[0]
    assert found["memories"] == [] and found["left_out"] == []


def test_beside_a_running_bmo_the_ledger_answers(home: Path) -> None:
    with opened(home):
        ran = bmo_process(home, "recall", "where do i live", "--json")
        assert ran.code == 0
        assert ran.rows[0]["memories"][0]["text"] == "Lives in Leeds"
        assert "in use by process" in ran.err
        assert bmo(home, "held", "--json").code == 0
        assert bmo(home, "reprocess").code == 0
        refused = bmo_process(home, "reindex")
        assert refused.code == 1
        assert "in use by process" in refused.sentence


def test_feedback_is_written_beside_a_running_bmo(home: Path) -> None:
    import sqlite3
    from contextlib import closing

    row = bmo(home, "memories", "list", "--json").rows[0]
    with opened(home):
        assert bmo_process(home, "feedback", row["id"][:8], "bad").code == 0
    assert bmo(home, "feedback", row["id"][:8], "good").code == 0
    with closing(sqlite3.connect(home / "ledger.sqlite3")) as database:
        written = database.execute("SELECT fact_id, helpful FROM feedback ORDER BY id").fetchall()
    assert written == [(row["id"], 0), (row["id"], 1)]


# -- reindex ---------------------------------------------------------------------------------------


def test_reindex_makes_the_index_anew(home: Path) -> None:
    shutil.rmtree(home / "qdrant-edge")
    ran = bmo(home, "reindex")
    assert ran.code == 0, ran.err
    assert "3 memories written" in ran.out
    assert index_texts(home) == live_texts(home)
    again = bmo(home, "reindex", "--missing")
    assert again.code == 0
    assert "0 memories written" in again.out


def test_reindex_makes_an_index_anew_that_cannot_be_opened(home: Path) -> None:
    assert bmo(home, "reindex").code == 0
    (config,) = (home / "qdrant-edge").rglob("edge_config.json")
    config.write_text("{ not json")
    ran = bmo(home, "reindex")
    assert (ran.code, "could not be read" in ran.err) == (0, True)
    assert "could not be read" not in bmo(home, "reindex", "--missing").err


def test_an_interrupted_reindex_goes_on(home: Path) -> None:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger
    from bmo.recorder import rebuild
    from bmo.settings import load_settings

    class Stopped(Exception):
        pass

    def stop_after_two(done: int, _total: int) -> None:
        if done == 2:
            raise Stopped

    settings = load_settings(bmo_home=home, qdrant_url=None)
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings)
    index.remove_entries([entry.index_id for entry in index.entries()])
    with pytest.raises(Stopped):
        rebuild(index, ledger, stop_after_two, piece=2)
    index.close()
    ledger.close()
    ran = bmo(home, "reindex")
    assert ran.code == 0, ran.err
    assert "1 memories written" in ran.out
    assert index_texts(home) == live_texts(home)


# -- reprocess -------------------------------------------------------------------------------------


def test_reprocess_shows_the_difference_and_writes_nothing(tmp_path: Path) -> None:
    wrong = replace(likes("the weather today").facts[0], slot="likes", value="weather")
    remember(
        tmp_path,
        [
            held("i live in leeds"),
            Said("what time is it", (wrong,)),
            brother(),
        ],
    )
    before = bmo(tmp_path, "memories", "list", "--past", "--json").rows
    ran = bmo(tmp_path, "reprocess", "--json")
    assert ran.code == 0, ran.err
    *changes, summary = ran.rows
    assert [fact["text"] for row in changes for fact in row["added"]] == ["Lives in Leeds"]
    assert [fact["text"] for row in changes for fact in row["removed"]] == [
        "Likes the weather today"
    ]
    assert summary["turns"] == 3
    assert summary["applied"] is False
    assert summary["reclassified"]["hold->allow"] == 1
    assert bmo(tmp_path, "memories", "list", "--past", "--json").rows == before
    shown = bmo(tmp_path, "reprocess")
    assert "+ Lives in Leeds" in shown.out and "- Likes the weather today" in shown.out
    assert "--apply" in shown.out


def test_reprocess_applies_once_with_the_turns_own_date(tmp_path: Path) -> None:
    remember(tmp_path, [held("i live in leeds"), brother()])
    first = bmo(tmp_path, "reprocess", "--held", "--apply", "--json")
    assert first.code == 0, first.err
    assert first.rows[-1]["added"] == 1 and first.rows[-1]["turns"] == 1
    rows = bmo(tmp_path, "memories", "list", "--json").rows
    leeds = next(row for row in rows if row["slot"] == "lives_in")
    assert leeds["valid_from"] == "2026-03-01T09:00:00+00:00"
    assert "Lives in Leeds" in index_texts(tmp_path)
    again = bmo(tmp_path, "reprocess", "--apply", "--json").rows[-1]
    assert (again["added"], again["removed"], again["changed"]) == (0, 0, 0)
    assert bmo(tmp_path, "memories", "list", "--json").rows == rows


def test_reprocess_leaves_alone_what_a_person_decided(tmp_path: Path) -> None:
    remember(tmp_path, [held("maybe ill move to spain"), held("i live in leeds")])
    spain = next(row for row in bmo(tmp_path, "held", "--json").rows if "spain" in row["text"])
    assert bmo(tmp_path, "held", "--allow", spain["id"], "--as", "May move to Spain").code == 0
    done = bmo(tmp_path, "reprocess", "--apply", "--json")
    assert done.code == 0, done.err
    assert done.rows[-1]["settled"] == 1
    assert done.rows[-1]["reclassified"] == {"hold->allow": 1}
    assert live_texts(tmp_path) == ["Lives in Leeds", "May move to Spain"]


def test_a_held_turn_that_the_gate_now_drops_is_held_no_longer(tmp_path: Path) -> None:
    remember(tmp_path, [held("thanks a lot"), held("maybe ill move to spain")])
    done = bmo(tmp_path, "reprocess", "--held", "--apply", "--json")
    assert done.code == 0, done.err
    assert done.rows[-1]["reclassified"] == {"hold->discard": 1}
    assert [row["text"] for row in bmo(tmp_path, "held", "--json").rows] == [
        "maybe ill move to spain"
    ]
    again = bmo(tmp_path, "reprocess", "--json")
    assert again.rows[-1]["reclassified"] == {}


def test_reprocess_keeps_what_happened_since(tmp_path: Path) -> None:
    """Superseded, edited, by hand, forgotten: no pass of the gate brings them back."""
    oslo, leeds, sam, _ = remember(
        tmp_path, [home_in("Oslo"), home_in("Leeds"), brother(), likes("jazz")]
    )
    edited = bmo(tmp_path, "memories", "edit", leeds, "--text", "Lives in York", "--value", "York")
    assert edited.code == 0, edited.err
    assert bmo(tmp_path, "memories", "forget", sam).code == 0
    live = live_texts(tmp_path)
    for options in ([], ["--version", "rules-test"], ["--since", "2026-01-01"]):
        ran = bmo(tmp_path, "reprocess", "--apply", "--json", *options)
        assert ran.code == 0, ran.err
        assert ran.rows[-1]["added"] == 0, ran.out
    assert live_texts(tmp_path) == live
    assert bmo(tmp_path, "memories", "show", oslo, "--json").rows[0]["superseded_by"]


def test_reprocess_filters(tmp_path: Path) -> None:
    remember(tmp_path, [held("i live in leeds"), brother()])
    for options, turns in (
        (["--version", "rules-other"], 0),
        (["--since", "2026-03-02"], 0),
        (["--held"], 1),
        (["--since", "2026-03-01T09:00:30Z"], 1),
    ):
        assert bmo(tmp_path, "reprocess", "--json", *options).rows[-1]["turns"] == turns
