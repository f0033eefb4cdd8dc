"""Looking at a ledger without changing it: is it there, is it whole, which schema has it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from bmo.ledger.migrating import SCHEMA

CONNECT_TIMEOUT_S = 3
"""Longest wait for a PostgreSQL server, in seconds."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known of a ledger.

    Attributes:
        place: Path or URL without password.
        exists: Whether there is one; it is made at the first start.
        revision: Its schema, or None.
        head: The schema of this BMO.
        size_bytes: Size of the file, 0 for a server.
        problem: What is wrong with it, or "".
    """

    place: str
    exists: bool
    revision: str | None
    head: str
    size_bytes: int = 0
    problem: str = ""


def inspect_ledger(url: str) -> Inspection:
    """Looks at the ledger of a URL. Nothing is made, migrated or written.

    Args:
        url: ``sqlite:///<path>`` or ``postgresql+psycopg://...``.
    """
    head = SCHEMA
    try:
        parsed = make_url(url)
    except ArgumentError:
        return Inspection(url, False, None, head, problem="it is no database URL")
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(Path(parsed.database or ":memory:"), head)
    shown = parsed.render_as_string(hide_password=True)
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    try:
        engine = sa.create_engine(
            parsed, connect_args={"connect_timeout": CONNECT_TIMEOUT_S}, poolclass=sa.NullPool
        )
        with engine.connect() as connection:
            if not sa.inspect(connection).has_table("alembic_version"):
                return Inspection(shown, False, None, head)
            revision = connection.execute(sa.text("SELECT version_num FROM alembic_version"))
            return Inspection(shown, True, revision.scalar(), head)
    except (ImportError, NoSuchModuleError) as error:
        return Inspection(shown, False, None, head, problem=f"no driver for it ({error})")
    except DBAPIError as error:
        first_line = str(error.orig).strip().splitlines()[0]
        return Inspection(shown, False, None, head, problem=f"it does not answer ({first_line})")


def _sqlite(path: Path, head: str) -> Inspection:
    place = str(path)
    if not path.exists():
        return Inspection(place, False, None, head)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            whole = database.execute("PRAGMA quick_check(1)").fetchone()[0]
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
            revision = None
            if "alembic_version" in tables:
                row = database.execute("SELECT version_num FROM alembic_version").fetchone()
                revision = None if row is None else str(row[0])
    except sqlite3.Error as error:
        return Inspection(place, True, None, head, _size(path), str(error))
    problem = "" if whole == "ok" else f"it is damaged ({str(whole).splitlines()[-1]})"
    return Inspection(place, True, revision, head, _size(path), problem)


def _size(path: Path) -> int:
    return path.stat().st_size
