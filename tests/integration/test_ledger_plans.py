"""Looking facts up costs the same however many there are: no statement reads all of a user's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from benchmarks.ledger_fill import multiply
from bmo.ledger import Ledger, word_search
from bmo.turn import Fact
from tests.fakes.speaker import (
    allowed,
    brother,
    day,
    fact,
    forget,
    gone,
    likes,
    lives_in,
    of_brother,
    turn,
    words,
)

pytestmark = pytest.mark.integration

MANY = 300

TOLD = (
    likes("green tea"),
    likes("green tea", polarity="negative"),
    likes("thing 7", polarity="negative"),
    fact("Dislikes thing 8", "preferences", slot="dislikes", value="thing 8"),
    lives_in("Leeds"),
    brother("Sam"),
    of_brother("Sam", "lives_in", "Leeds", "Brother Sam lives in Leeds"),
    words("the second one", "Which thing was it?"),
    words("thing 9 is gone", ends=("0" * 32,)),
    fact("thing 11", op="retract", ends=("0" * 32,)),
)


def thing(number: int) -> Fact:
    return likes(f"thing {number}")


@contextmanager
def filled(home: Path) -> Iterator[tuple[Ledger, list[str]]]:
    """A ledger of some hundred facts in one slot, and the statements that run from then on."""
    ledger = Ledger.open(f"sqlite:///{home / 'ledger.sqlite3'}")
    first = ledger.record(turn("thing 0"), allowed("thing 0", thing(0))).added[0]
    multiply(ledger, first.id, thing, range(1, MANY))
    plans: list[str] = []

    def note(_c: Any, cursor: Any, statement: str, given: Any, _x: Any, many: bool) -> None:
        if not many and statement.split()[0] in ("SELECT", "UPDATE", "DELETE", "WITH"):
            beside = cursor.connection.cursor()
            rows = beside.execute(f"EXPLAIN QUERY PLAN {statement}", given).fetchall()
            plans.extend(f"{row[3]}   <- {statement}" for row in rows)
            beside.close()

    sa.event.listen(ledger.engine, "before_cursor_execute", note)
    try:
        yield ledger, plans
    finally:
        ledger.close()


def reads_everything(plans: list[str]) -> list[str]:
    everything = (
        "SCAN facts",
        "SCAN turns",
        "SCAN decisions",
        "SCAN fact_words",
        "SCAN fact_turns",
        "SEARCH decisions USING INDEX ix_decisions_user_verdict (user_id=?)   ",
        "SEARCH turns USING INDEX ix_turns_user_at (user_id=?)   ",
        "SEARCH turns USING INDEX ix_turns_user_session (user_id=?)   ",
        "SEARCH facts USING INDEX ix_facts_live (user_id=? AND valid_until=?)   ",
        "SEARCH facts USING INDEX ix_facts_user_id (user_id=?)   ",
        "SEARCH facts USING INDEX ix_facts_slot (user_id=?)   ",
    )
    return [plan for plan in plans if plan.startswith(everything)]


@pytest.mark.parametrize("told", TOLD, ids=lambda one: f"{one.op} {one.text}")
def test_recording_reads_no_more_than_it_needs(tmp_path: Path, told: Fact) -> None:
    with filled(tmp_path) as (ledger, plans):
        for number, before in enumerate((brother("Sam"), lives_in("Graz"), told)):
            said = turn(before.text, at=day(number + 1))
            ledger.record(said, allowed(before.text, before), near=lambda *_: ())
        assert plans
        assert reads_everything(plans) == []


def test_what_the_index_asks_for_reads_no_more_than_it_needs(tmp_path: Path) -> None:
    with filled(tmp_path) as (ledger, plans):
        known = ledger.search_words("ana", "thing 5", 1)[0][0]
        ledger.gate_metadata("ana", [known.turn_id])
        ledger.gate_metadata("ana", [known.turn_id, "another"])
        ledger.live_by_ids("ana", [known.id])
        ledger.history("ana", known.id)
        ledger.why("ana", known.id)
        assert reads_everything(plans) == []


def test_forgetting_reads_turns_but_no_other_facts(tmp_path: Path) -> None:
    with filled(tmp_path) as (ledger, plans):
        (known,) = [f for f in ledger.live_facts("ana") if f.value == "thing 5"]
        plans.clear()
        request = gone(known, text="thing 5", scope="memory")
        ledger.record(turn("forget thing 5"), forget("forget", request))
        assert reads_everything(plans) == []
        assert [f.value for f in ledger.live_facts("ana") if f.value == "thing 5"] == []
        assert ledger.count_live("ana") == MANY - 1


@pytest.mark.parametrize(
    "told",
    [
        thing(1),
        fact("Has thing 1", "personal_facts", value="thing 1"),
        fact("Owns thing 1", "goals"),
    ],
    ids=lambda one: one.text,
)
def test_facts_made_in_bulk_are_those_the_recorder_writes(tmp_path: Path, told: Fact) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    first = ledger.record(turn("thing 0"), allowed("thing 0", thing(0))).added[0]
    multiply(ledger, first.id, lambda _: told, [1])
    said = turn(told.text, user="bea")
    ledger.record(said, allowed(said.text, told))

    def rows(user: str) -> dict[str, list[tuple[Any, ...]]]:
        with ledger.reading() as connection:
            return {
                name: [
                    tuple(row)
                    for row in connection.exec_driver_sql(
                        f"SELECT {columns} FROM {name} WHERE {where} ORDER BY 1", (user,)
                    )
                ]
                for name, columns, where in (
                    (
                        "facts",
                        "text, text_key, value, value_key, slot, subject, category, cardinality,"
                        " polarity, confidence, entities, source_type, rule_id, valid_until",
                        "user_id = ? AND text LIKE '%thing 1'",
                    ),
                    ("fact_words", "word", "user_id = ? AND fact_id IN " + OF_ONE),
                    (
                        "fact_turns",
                        "role",
                        "fact_id IN (SELECT id FROM facts WHERE user_id = ?"
                        " AND text LIKE '%thing 1')",
                    ),
                    ("turns", "text, redacted", "user_id = ? AND text LIKE '%thing 1'"),
                    (
                        "decisions",
                        "verdict, facts_extracted",
                        "user_id = ? AND turn_id IN "
                        "(SELECT id FROM turns WHERE text LIKE '%thing 1')",
                    ),
                )
            }

    assert rows("ana") == rows("bea")
    ledger.close()


OF_ONE = "(SELECT id FROM facts WHERE text LIKE '%thing 1')"


def test_common_words_are_not_counted_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_search, "COUNTED", 20)
    with filled(tmp_path) as (ledger, plans):
        assert ledger.word_counts("ana", ["like", "7", "nowhere"]) == {"like": 20, "7": 1}
        many = [str(number) for number in range(MANY)]
        assert ledger.word_counts("ana", many) == dict.fromkeys(many, 1)
        assert ledger.word_counts("bea", ["like"]) == {}
        said = turn("no more thing 7")
        (known,) = [f for f in ledger.live_facts("ana") if f.value == "thing 7"]
        plans.clear()
        ledger.record(said, allowed(said.text, gone(known)))
        assert ledger.count_live("ana") == MANY - 1
        assert not any(fact.value == "thing 7" for fact in ledger.live_facts("ana"))
        assert reads_everything(plans[:4]) == []
