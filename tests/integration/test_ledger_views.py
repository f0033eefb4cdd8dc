"""What reads and writes beside the voice path need: one view, a rehearsal, a log that is moved."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from bmo.ledger import Ledger
from bmo.turn import Turn
from tests.fakes.speaker import allowed, brother, day, likes, of_brother, turn
from tests.integration.memory_parts import rows_of

pytestmark = pytest.mark.integration


def test_one_view_is_of_one_moment_and_only_this_thread_s(ledger: Ledger) -> None:
    ledger.record(turn("x"), allowed("x", likes("tea")))
    seen: list[int] = []
    with ledger.one_view():
        assert ledger.count_live("ana") == 1

        def write_and_count() -> None:
            ledger.record(turn("y", at=day(1)), allowed("y", likes("jazz")))
            seen.append(ledger.count_live("ana"))

        other = threading.Thread(target=write_and_count)
        other.start()
        other.join()
        with ledger.one_view():  # inside another it is the same
            inside = ledger.count_live("ana")
    assert seen == [2]
    if ledger.engine.dialect.name == "sqlite":
        assert inside == 1  # PostgreSQL, at its own level of isolation, sees what was committed
    assert ledger.count_live("ana") == 2


def test_one_view_is_given_back_when_what_is_inside_fails(ledger: Ledger) -> None:
    with pytest.raises(KeyError, match="inside"), ledger.one_view():
        raise KeyError("inside")
    ledger.record(turn("x"), allowed("x", likes("tea")))
    assert ledger.count_live("ana") == 1


def test_a_rehearsal_leaves_nothing(ledger: Ledger) -> None:
    ledger.rehearse(Turn("i like tea", user_id="ana"), allowed("i like tea", likes("tea")))
    assert not any(rows_of(ledger, one) for one in ("turns", "facts", "outbox", "decisions"))
    assert ledger.users() == []
    recorded = ledger.record(turn("i like tea"), allowed("i like tea", likes("tea")))
    assert len(recorded.added) == 1


def test_a_rehearsed_word_is_in_no_file(tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    ledger.rehearse(Turn("zanzibar", user_id="ana"), allowed("zanzibar", likes("zanzibar")))
    ledger.close()
    assert not [f for f in tmp_path.iterdir() if b"zanzibar" in f.read_bytes()]


def test_names_are_found_by_the_index_of_people(tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    statements: list[tuple[str, object]] = []
    sa.event.listen(
        ledger.engine,
        "before_cursor_execute",
        lambda _c, _k, statement, given, *_: statements.append((statement, given)),
    )
    lives = of_brother("Sam", "lives_in", "Leeds", "Brother Sam lives in Leeds")
    ledger.record(turn("x"), allowed("x", likes("tea"), brother("Sam"), lives))
    statements.clear()
    assert ledger.known_subjects("ana") == {"sam": "user.brother:sam"}
    (asked,) = [one for one in statements if one[0].startswith("SELECT")]
    with ledger.reading() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked[0]}", asked[1])  # type: ignore[arg-type]
        assert "ix_facts_people" in " ".join(str(row) for row in plan)
    ledger.close()
