"""Looking at a ledger without changing it: is it there, is it whole, which schema has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from bmo.ledger.migrating import SCHEMA, SchemaVersion, schema_of

CONNECT_TIMEOUT_S = 3
"""Longest wait for a PostgreSQL server, in seconds."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What is known of a ledger.

    Attributes:
        place: Path or URL without password.
        exists: Whether there is one; it is made at the first start.
        schema: What it says of its schema, or None.
        head: The schema of this BMO.
        size_bytes: Size of the file, 0 for a server.
        problem: What is wrong with it, or "".
    """

    place: str
    exists: bool
    schema: SchemaVersion | None = None
    head: str = SCHEMA
    size_bytes: int = 0
    problem: str = ""


def inspect_ledger(url: str) -> Inspection:
    """Looks at the ledger of a URL. Nothing is made, migrated or written.

    Args:
        url: ``sqlite:///<path>`` or ``postgresql+psycopg://...``.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        return Inspection(url, False, problem="it is no database URL")
    if parsed.get_backend_name() == "sqlite":
        path = Path(parsed.database or ":memory:")
        if not path.exists():
            return Inspection(str(path), False)
        size = path.stat().st_size
        read_only = URL.create("sqlite", database=path.absolute().as_uri())
        return _look(str(path), read_only.update_query_dict({"mode": "ro", "uri": "true"}), size)
    shown = parsed.render_as_string(hide_password=True)
    wait = {"connect_timeout": str(CONNECT_TIMEOUT_S)}
    return _look(shown, with_driver(parsed).update_query_dict(wait), 0)


def with_driver(url: URL) -> URL:
    """A PostgreSQL server's URL with the driver that is used, where it names none."""
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def damage_of(connection: Connection) -> str:
    """What is damaged inside of a SQLite file, or ""; it reads the file."""
    found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    return "" if found == "ok" else found.splitlines()[-1]


def first_line(error: DBAPIError) -> str:
    """The first line of what a driver says."""
    return str(error.orig).strip().splitlines()[0]


def _look(place: str, url: URL, size: int) -> Inspection:
    is_file = url.get_backend_name() == "sqlite"
    try:
        engine = sa.create_engine(url, poolclass=sa.NullPool)
        with engine.connect() as connection:
            damage = damage_of(connection) if is_file else ""
            problem = f"it is damaged ({damage})" if damage else ""
            found = schema_of(connection)
            return Inspection(place, is_file or found is not None, found, SCHEMA, size, problem)
    except (ImportError, NoSuchModuleError) as error:
        return Inspection(place, False, problem=f"no driver for it ({error})")
    except DBAPIError as error:
        why = first_line(error)
        problem = why if is_file else f"it does not answer ({why})"
        return Inspection(place, is_file, size_bytes=size, problem=problem)
