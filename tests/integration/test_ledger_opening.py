"""Opening: migrations, damaged files, directories, servers that do not answer."""

from __future__ import annotations

import random
import sqlite3
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from bmo.ledger import Ledger, LedgerUnavailable
from bmo.ledger.schema import metadata
from tests.fakes.speaker import allowed, decided, likes, turn
from tests.integration.memory_parts import drop_vectors, rows_of

pytestmark = pytest.mark.integration

FIRST_SCHEMA = Path(__file__).parent / "ledgers" / "schema_0005.sql"


def differences(ledger: Ledger) -> list[object]:
    """What Alembic finds different from the schema the code uses."""
    with ledger.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": False})
        return list(compare_metadata(context, metadata))


def test_a_new_ledger_has_the_schema_the_code_uses(ledger: Ledger) -> None:
    assert differences(ledger) == []


def test_migrations_make_the_same_schema_of_the_first_one(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(FIRST_SCHEMA.read_text("utf-8"))
    connection.close()
    ledger = Ledger.open(f"sqlite:///{path}")
    assert differences(ledger) == []
    assert ledger.record(turn("x"), allowed("x", likes("tea"))).added
    ledger.close()


def test_opening_again_keeps_everything(ledger_url: str) -> None:
    first = Ledger.open(ledger_url)
    first.record(turn("x"), allowed("x", likes("tea")))
    first.close()
    second = Ledger.open(ledger_url)
    assert second.count_live("ana") == 1
    second.close()


def test_a_ledger_of_a_version_before_is_brought_up_to_date(ledger_url: str) -> None:
    """Its memories have no words and no question; by what they are compared is made anew."""
    first = Ledger.open(ledger_url)
    known = first.record(turn("x"), allowed("x", likes("the Cities"))).added[0]
    with first.writing() as connection:
        drop_vectors(connection)
        for name in ("uq_facts_digest", "ix_facts_unnoted"):
            connection.execute(sa.text(f"DROP INDEX {name}"))
        for name in ("said", "asked", "digest"):
            connection.execute(sa.text(f"ALTER TABLE facts DROP COLUMN {name}"))
        for table in ("turns", "facts"):
            for name in ("agent_id", "visibility"):
                connection.execute(sa.text(f"ALTER TABLE {table} DROP COLUMN {name}"))
        connection.execute(sa.text("ALTER TABLE decisions DROP COLUMN mode"))
        for name in ("user_versions", "model_days"):
            connection.execute(sa.text(f"DROP TABLE {name}"))
        connection.execute(sa.text("UPDATE facts SET value_key = 'old'"))
        connection.execute(sa.text("UPDATE fact_words SET word = 'old' WHERE word = 'city'"))
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0005'"))
        connection.execute(sa.text("DELETE FROM meta WHERE key = 'schema'"))
    first.close()
    second = Ledger.open(ledger_url)
    assert second.facts_by_id("ana", [known.id]) == [known]
    assert [f.id for f, _ in second.search_words("ana", "cities", 3)] == [known.id]
    again = second.record(turn("y"), allowed("y", likes("city")))
    assert [f.id for f in again.confirmed] == [known.id]
    second.close()


def test_several_threads_open_and_write_at_once(ledger_url: str) -> None:
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            own = Ledger.open(ledger_url)
            for step in range(5):
                words = f"w{number} {step}"
                own.record(turn(words), allowed(words, likes(words)))
            own.close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    ledger = Ledger.open(ledger_url)
    assert (rows_of(ledger, "turns"), ledger.count_live("ana"), ledger.backlog().depth) == (
        20,
        20,
        20,
    )
    ledger.close()


def test_sqlite_is_set_up_for_crashes_and_privacy(tmp_path: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{tmp_path / 'ledger.sqlite3'}")
    with ledger.reading() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "secure_delete", "busy_timeout")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "secure_delete": 1,
        "busy_timeout": 10000,
    }
    ledger.close()


def test_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(b"this is no database, " * 100)
    with pytest.raises(LedgerUnavailable, match="is damaged") as caught:
        Ledger.open(f"sqlite:///{path}")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes().startswith(b"this is no database")


def test_truncated_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = Ledger.open(f"sqlite:///{path}")
    ledger.record(turn("x"), allowed("x", likes("tea")))
    ledger.vacuum()
    ledger.close()
    content = path.read_bytes()
    path.write_bytes(content[:200] + b"\xff" * (len(content) - 200))
    with pytest.raises(LedgerUnavailable, match="is damaged"):
        Ledger.open(f"sqlite:///{path}")


@pytest.mark.parametrize("page", range(3, 40, 6))
def test_damage_inside_is_found_at_the_start(tmp_path: Path, page: int) -> None:
    path = tmp_path / "ledger.sqlite3"
    ledger = Ledger.open(f"sqlite:///{path}")
    for number in range(60):
        words = f"i like band number {number}"
        ledger.record(turn(words), allowed(words, likes(f"band {number}")))
    ledger.vacuum()
    ledger.close()
    content = bytearray(path.read_bytes())
    assert len(content) > 41 * 4096
    content[page * 4096 : (page + 1) * 4096] = random.Random(page).randbytes(4096)
    path.write_bytes(content)
    with pytest.raises(LedgerUnavailable, match="is damaged") as caught:
        Ledger.open(f"sqlite:///{path}")
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LedgerUnavailable, match="BMO_HOME"):
        Ledger.open(f"sqlite:///{tmp_path / 'file' / 'ledger.sqlite3'}")


def test_directory_instead_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="BMO_HOME"):
        Ledger.open(f"sqlite:///{tmp_path}")


def test_schema_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    Ledger.open(f"sqlite:///{path}").close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(LedgerUnavailable, match="another version of BMO"):
        Ledger.open(f"sqlite:///{path}")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("not a url", "is not a database URL"),
        ("mysql://localhost/x", "'mysql'"),
        ("postgresql+psycopg://bmo:hunter2@127.0.0.1:9/bmo", "does not answer"),
    ],
)
def test_urls_that_do_not_work(url: str, says: str) -> None:
    with pytest.raises(LedgerUnavailable, match=says) as caught:
        Ledger.open(url)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_failed_transaction_leaves_nothing(ledger: Ledger) -> None:
    with pytest.raises(sa.exc.IntegrityError), ledger.writing() as connection:
        connection.exec_driver_sql(
            "INSERT INTO tombstones (digest, user_id, at) VALUES ('x', 'ana', '2026-01-01')"
        )
        connection.exec_driver_sql(
            "INSERT INTO tombstones (digest, user_id, at) VALUES ('x', 'ana', '2026-01-01')"
        )
    assert ledger.record(turn("x"), decided("discard", "x")).added == ()
    with ledger.reading() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM tombstones").scalar()
    assert count == 0
