"""Two versions of BMO on one ledger: while a fleet is upgraded, and when it is taken back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bmo.ledger import Ledger, LedgerUnavailable, inspect_ledger, migrating
from bmo.ledger.fact_writing import rewrite_keys
from bmo.ledger.migrating import STEPS
from tests.fakes.speaker import allowed, day, likes, live, turn

pytestmark = pytest.mark.integration

FIRST_SCHEMA = Path(__file__).parent / "ledgers" / "schema_0005.sql"
OURS = migrating.SCHEMA

EXPANDS = "ALTER TABLE facts ADD COLUMN mood TEXT DEFAULT '' NOT NULL"
CONTRACTS = "DROP TABLE feedback"


class Versions:
    """BMOs of today and of two versions to come, on one ledger."""

    def __init__(self, url: str, patch: pytest.MonkeyPatch) -> None:
        self._url = url
        self._patch = patch
        self._to_come = {"8001": (EXPANDS,), "8002": (CONTRACTS,)}

    @contextmanager
    def of(self, schema: str, oldest: str = migrating.OLDEST) -> Iterator[Ledger]:
        """A ledger as the BMO of that schema opens it."""
        steps = {**STEPS, **self._to_come}
        with self._patch.context() as then:
            known = {name: step for name, step in steps.items() if name <= schema}
            then.setattr(migrating, "STEPS", known)
            then.setattr(migrating, "SCHEMA", schema)
            then.setattr(migrating, "OLDEST", oldest)
            ledger = Ledger.open(self._url)
        try:
            yield ledger
        finally:
            ledger.close()


@pytest.fixture
def versions(ledger_url: str, monkeypatch: pytest.MonkeyPatch) -> Versions:
    return Versions(ledger_url, monkeypatch)


def say(ledger: Ledger, word: str, number: int) -> None:
    words = f"i like {word}"
    assert ledger.record(turn(words, at=day(number)), allowed(words, likes(word))).added


def test_an_older_worker_goes_on_and_starts_anew_after_a_newer_one_migrated(
    versions: Versions, ledger_url: str
) -> None:
    with versions.of(OURS) as running:
        say(running, "okra", 0)
        with versions.of("8001") as newer:
            say(running, "gumbo", 1)
            say(newer, "zydeco", 2)
            with versions.of(OURS) as started:
                say(started, "jazz", 3)
                known = [fact for fact in started.live_facts("ana") if fact.value == "zydeco"]
                assert started.erase("ana", [known[0].id]).places["facts"] == 1
            told = {"Likes okra", "Likes gumbo", "Likes jazz"}
            assert live(newer, "ana") == live(running, "ana") == told
    seen = inspect_ledger(ledger_url).schema
    assert seen is not None and seen.fits
    assert (seen.newest, seen.oldest) == ("8001", max(migrating.OLDEST, migrating.COMPARING))


def test_what_an_older_worker_needs_goes_one_version_later(versions: Versions) -> None:
    with versions.of("8001") as newer:
        say(newer, "okra", 0)
    with versions.of("8002", oldest="8001"):
        pass
    with pytest.raises(LedgerUnavailable, match="use that version"), versions.of(OURS):
        pass
    with versions.of("8001") as still:
        say(still, "gumbo", 1)
        assert live(still, "ana") == {"Likes okra", "Likes gumbo"}


def test_a_ledger_keeps_the_number_that_a_worker_before_it_looks_for(tmp_path: Path) -> None:
    """A BMO of ``COMPARING`` and before works with its own number only, in Alembic's table."""
    for schema in ("0005", "0006"):
        path = first_ledger(tmp_path, schema)
        Ledger.open(f"sqlite:///{path}").close()
        with sqlite3.connect(path) as connection:
            shown = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        connection.close()
        assert shown == [(schema,)]
        ledger = Ledger.open(f"sqlite:///{path}")
        say(ledger, "tea", 0)
        ledger.close()


def test_keys_are_made_anew_in_pieces_that_survive_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{first_ledger(tmp_path, '0005')}"
    ledger = Ledger.open(url)
    for number in range(5):
        say(ledger, f"thing {number}", number)
    with ledger.writing() as connection:
        connection.execute(sa.text("UPDATE facts SET text_key = 'old'"))
        connection.execute(sa.text("INSERT INTO meta VALUES ('keys_from', '')"))
    ledger.close()
    monkeypatch.setattr(migrating, "_KEYS_AT_ONCE", 2)
    pieces: list[str] = []

    def killed(connection: sa.engine.Connection, after: str, most: int) -> str | None:
        pieces.append(after)
        if len(pieces) == 2:
            raise KeyboardInterrupt
        return rewrite_keys(connection, after, most)

    monkeypatch.setattr(migrating, "rewrite_keys", killed)
    with pytest.raises(KeyboardInterrupt):
        Ledger.open(url)
    ledger = Ledger.open(url)
    assert len(pieces) == len(set(pieces)) + 1 == 4  # the piece that was killed, and no other
    with ledger.reading() as connection:
        old = connection.execute(sa.text("SELECT count(*) FROM facts WHERE text_key = 'old'"))
        assert old.scalar() == 0
    ledger.close()


def test_migrations_only_add_what_an_older_worker_need_not_write(tmp_path: Path) -> None:
    """What a migration takes away or makes a must raises ``OLDEST``, one version later."""
    path = first_ledger(tmp_path, migrating.OLDEST)
    before = columns(path)
    Ledger.open(f"sqlite:///{path}").close()
    after = columns(path)
    for table, known in before.items():
        assert set(known) <= set(after[table]), f"{table} lost a column"
        for name, column in after[table].items():
            if name in known:
                assert (str(column["type"]), column["nullable"], column["unique"]) == (
                    str(known[name]["type"]),
                    known[name]["nullable"],
                    known[name]["unique"],
                ), f"{table}.{name} is another"
            else:
                left_out = column["nullable"] or column["default"] is not None
                assert left_out, f"{table}.{name} must be written"


def first_ledger(folder: Path, schema: str) -> Path:
    """A SQLite ledger as a BMO of that schema made it."""
    path = folder / f"ledger-{schema}.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.executescript(FIRST_SCHEMA.read_text("utf-8"))
    connection.close()
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as opened:
        for name in (one for one in STEPS if one <= schema):
            migrating.apply_step(opened, name)
        opened.execute(sa.text("UPDATE alembic_version SET version_num = :now"), {"now": schema})
    engine.dispose()
    return path


def columns(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Table -> column -> what it is, and which unique indexes it is in."""
    engine = sa.create_engine(f"sqlite:///{path}")
    seen = sa.inspect(engine)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for table in seen.get_table_names():
        names: list[Any] = [index for index in seen.get_indexes(table) if index["unique"]]
        names += seen.get_unique_constraints(table)
        found[table] = {
            column["name"]: {
                **column,
                "unique": [one["name"] for one in names if column["name"] in one["column_names"]],
            }
            for column in seen.get_columns(table)
        }
    engine.dispose()
    return found
