"""Opening the ledger's database: connections, pragmas, migrations, and what can go wrong."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from bmo.giving_way import YieldingConnection
from bmo.ledger.connections import reading
from bmo.ledger.errors import LedgerUnavailable
from bmo.ledger.inspection import damage_of, first_line, with_driver
from bmo.ledger.migrating import migrate
from bmo.ledger.schema import metadata

POOL_TIMEOUT_S = 10
"""Longest that a thread waits for one of the process's connections, in seconds."""

_BUSY_TIMEOUT_MS = 10_000
_TRUNCATE_TRIES = 20
_TRUNCATE_PAUSE_S = 0.1

# SQLite calls it an I/O error when there is no room for the index of its write-ahead log.
_LEAST_FREE = 1 << 20


def open_engine(url: str, connections: int, *, check: bool = True) -> Engine:
    """Connects to ``url`` and brings its schema up to date.

    Args:
        url: ``sqlite:///<path>`` or ``postgresql+psycopg://...``.
        connections: Connections to a PostgreSQL server, at most.
        check: Look for damage inside of a SQLite file.

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
        return _open_sqlite(parsed, check=check)
    if backend == "postgresql":
        return _open_postgres(parsed, connections)
    raise LedgerUnavailable(
        f"BMO_LEDGER_URL names the database {backend!r}, which BMO does not use; "
        "use sqlite:///<path> or postgresql+psycopg://user:password@host/database."
    )


def vacuum(engine: Engine) -> bool:
    """Rewrites a SQLite database without its free pages, and empties its write-ahead log.

    PostgreSQL is only told to use the pages of its tables again: to rewrite a table it locks it.

    Returns:
        Whether no deleted bytes are left.

    Raises:
        DBAPIError: Another process is in the middle of a transaction.
    """
    # VACUUM runs outside any transaction: straight on the driver, past SQLAlchemy's own BEGIN.
    with closing(engine.raw_connection()) as raw:
        cursor = raw.cursor()
        if engine.dialect.name == "sqlite":
            cursor.execute("VACUUM")
            for _ in range(_TRUNCATE_TRIES):
                busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if not busy:
                    break
                # Another process moves its log: SQLite does not wait for that by itself.
                time.sleep(_TRUNCATE_PAUSE_S)
        else:
            driver: Any = raw.driver_connection
            driver.autocommit = True
            cursor.execute(f"VACUUM {', '.join(metadata.tables)}")
            driver.autocommit = False
        cursor.close()
        return engine.dialect.name == "sqlite"


def _open_sqlite(url: URL, *, check: bool) -> Engine:
    path = Path(url.database or ":memory:")
    if str(path) == ":memory:":
        raise LedgerUnavailable(
            "BMO_LEDGER_URL='sqlite://' would forget everything at exit; "
            "name a file: sqlite:///<path>."
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
    try:
        migrate(engine)
        if check:
            _check_sqlite(engine)
    except DBAPIError as error:
        engine.dispose()
        raise LedgerUnavailable(_sqlite_sentence(path, str(error.orig))) from None
    except BaseException:
        engine.dispose()
        raise
    return engine


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
            "pip install 'bmo-voice[postgres]'."
        ) from None
    try:
        migrate(engine)
    except DBAPIError as error:
        engine.dispose()
        raise LedgerUnavailable(
            f"The ledger at {shown} does not answer ({first_line(error)}); "
            "start the server or correct BMO_LEDGER_URL."
        ) from None
    except BaseException:
        engine.dispose()
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
