"""Opening the ledger's database, or looking at it without changing it; what can go wrong."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from bmo.giving_way import YieldingConnection
from bmo.ledger.database import LedgerUnavailable, reading
from bmo.ledger.migrating import SCHEMA, SchemaVersion, migrate, schema_of

POOL_TIMEOUT_S = 10
"""Longest that a thread waits for one of the process's connections, in seconds."""

_BUSY_TIMEOUT_MS = 10_000

# SQLite calls it an I/O error when there is no room for the index of its write-ahead log.
_LEAST_FREE = 1 << 20


def open_engine(
    url: str, connections: int, *, check: bool = True, make_folder: bool = True
) -> Engine:
    """Connects to ``url`` and brings its schema up to date.

    Args:
        url: ``sqlite:///<path>`` or ``postgresql+psycopg://...``.
        connections: Connections to a PostgreSQL server, at most.
        check: Look for damage inside of a SQLite file.
        make_folder: Make the folder of a SQLite file; False for a path that a person typed.

    Returns:
        An engine whose connections are ready for use (see :func:`reading`, :func:`writing`).

    Raises:
        LedgerUnavailable: Unknown kind of URL, unwritable directory, corrupt file, server that
            does not answer, or a schema made by a newer BMO.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise LedgerUnavailable(
            f"BMO_LEDGER_URL={url!r} is not a database URL; use sqlite:///<path> or "
            "postgresql+psycopg://user:password@host/database."
        ) from None
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        return _open_sqlite(parsed, check=check, make_folder=make_folder)
    if backend == "postgresql":
        return _open_postgres(parsed, connections)
    raise LedgerUnavailable(
        f"BMO_LEDGER_URL names the database {backend!r}, which BMO does not use; "
        "use sqlite:///<path> or postgresql+psycopg://user:password@host/database."
    )


def _open_sqlite(url: URL, *, check: bool, make_folder: bool) -> Engine:
    path = Path(url.database or "")
    if not make_folder and not path.parent.is_dir():
        raise LedgerUnavailable(
            f"BMO_LEDGER_URL names a file in {str(path.parent)!r}, and there is no such folder; "
            "correct the path, or make the folder."
        )
    if path.is_dir():
        raise LedgerUnavailable(
            f"The ledger {path} is a folder: move it away, or name another place by BMO_HOME or "
            "BMO_LEDGER_URL."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerUnavailable(
            f"The ledger's directory {path.parent} cannot be made ({error.strerror}); "
            "set BMO_HOME to a directory you may write to."
        ) from None
    engine = sa.create_engine(
        url,
        connect_args={
            "check_same_thread": False,
            "timeout": _BUSY_TIMEOUT_MS / 1000,
            "factory": YieldingConnection,
        },
        pool_size=5,
        max_overflow=20,
        hide_parameters=True,
    )
    sa.event.listen(engine, "connect", _prepare_sqlite)
    return _ready(engine, lambda error: _sqlite_sentence(path, str(error.orig)), check=check)


def _open_postgres(url: URL, connections: int) -> Engine:
    url = with_driver(url)
    shown = url.render_as_string(hide_password=True)
    try:
        engine = sa.create_engine(
            url,
            pool_size=connections,
            max_overflow=0,
            pool_pre_ping=True,
            pool_timeout=POOL_TIMEOUT_S,
            hide_parameters=True,
        )
    except (ImportError, NoSuchModuleError):
        raise LedgerUnavailable(
            f"BMO_LEDGER_URL={shown!r} needs psycopg; install it with "
            "pip install 'psycopg[binary]'."
        ) from None
    return _ready(
        engine,
        lambda error: (
            f"The ledger at {shown} does not answer ({first_line(error)}); "
            "start the server or correct BMO_LEDGER_URL."
        ),
    )


def _ready(engine: Engine, sentence: Callable[[DBAPIError], str], *, check: bool = False) -> Engine:
    """An engine whose database is there, up to date and, where it is looked at, whole.

    Raises:
        LedgerUnavailable: It is not; ``sentence`` says what a driver's error means.
    """
    try:
        migrate(engine)
        if check:
            _check_sqlite(engine)
    except BaseException as error:
        engine.dispose()
        if isinstance(error, DBAPIError):
            raise LedgerUnavailable(sentence(error)) from None
        raise
    return engine


def _check_sqlite(engine: Engine) -> None:
    """Finds damage inside before a conversation does: it reads the file, .3 s for 100,000 facts.

    Raises:
        DBAPIError: There is some.
    """
    with reading(engine) as connection:
        damage = damage_of(connection)
    if damage:
        problem = f"database disk image is malformed: {damage}"
        raise DBAPIError("PRAGMA quick_check", None, sqlite3.DatabaseError(problem))


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Transactions are begun by ``reading`` and ``writing``; the driver must not begin its own.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.close()


def _sqlite_sentence(path: Path, error: str) -> str:
    if "full" in error or ("disk I/O" in error and _free(path) < _LEAST_FREE):
        return (
            f"The disk of the ledger {path} is full; free some space, or set BMO_HOME to a "
            "directory on another disk."
        )
    if "not a database" in error or "malformed" in error or "disk image" in error:
        return (
            f"The ledger {path} is damaged ({error}); move it away (or restore a copy), "
            "or set BMO_HOME to another directory."
        )
    if "unable to open" in error or "readonly" in error or "disk I/O" in error:
        return (
            f"The ledger {path} cannot be written ({error}); give yourself the right to write "
            "there, or set BMO_HOME to a directory you may write to."
        )
    if "locked" in error:
        return f"The ledger {path} is locked by another process; stop it, or set BMO_HOME."
    return f"The ledger {path} cannot be opened ({error}); set BMO_HOME to another directory."


def _free(path: Path) -> int:
    return int(shutil.disk_usage(path.parent).free)


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
        path = Path(parsed.database or "")
        if not path.exists():
            return Inspection(str(path), False)
        if path.is_dir():
            return Inspection(str(path), True, problem="it is a folder")
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
