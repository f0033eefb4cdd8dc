"""Opening the ledger's database: connections, pragmas, migrations, and what can go wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

_BUSY_TIMEOUT_MS = 10_000
_MIGRATIONS = Path(__file__).parent / "migrations"
# Any number, the same in every process: PostgreSQL lets one process migrate at a time.
_MIGRATION_LOCK = 7_020_617_001

logger = logging.getLogger(__name__)


class LedgerUnavailable(RuntimeError):
    """The ledger cannot be opened; the message is one sentence that names the fix."""


def open_engine(url: str) -> Engine:
    """Connects to ``url`` and brings its schema up to date.

    Args:
        url: ``sqlite:///<path>`` or ``postgresql+psycopg://...``.

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
        return _open_sqlite(parsed)
    if backend == "postgresql":
        return _open_postgres(parsed)
    raise LedgerUnavailable(
        f"BMO_LEDGER_URL names the database {backend!r}, which BMO does not use; "
        "use sqlite:///<path> or postgresql+psycopg://user:password@host/database."
    )


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one consistent state and writes nothing."""
    with engine.connect() as connection:
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A connection inside one transaction: all of it is kept, or nothing."""
    # SQLite: take the write lock at the start. A transaction that reads first and then writes
    # fails at once when another one wrote in between, busy timeout or not.
    with engine.connect().execution_options(bmo_writes=True) as connection, connection.begin():
        yield connection


def vacuum(engine: Engine) -> None:
    """Rewrites the database without its free pages; on SQLite the write-ahead log is emptied too.

    Raises:
        DBAPIError: Another process is in the middle of a transaction.
    """
    # VACUUM runs outside any transaction: straight on the driver, past SQLAlchemy's own BEGIN.
    with closing(engine.raw_connection()) as raw:
        cursor = raw.cursor()
        if engine.dialect.name == "sqlite":
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.fetchall()
        else:
            driver: Any = raw.driver_connection
            driver.autocommit = True
            cursor.execute("VACUUM")
            driver.autocommit = False
        cursor.close()


def schema_head() -> str:
    """The newest schema this BMO knows."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return str(ScriptDirectory.from_config(config).get_current_head())


def _open_sqlite(url: URL) -> Engine:
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
        connect_args={"check_same_thread": False, "timeout": _BUSY_TIMEOUT_MS / 1000},
        pool_size=5,
        max_overflow=20,
    )
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    try:
        _migrate(engine)
    except DBAPIError as error:
        engine.dispose()
        raise LedgerUnavailable(_sqlite_sentence(path, str(error.orig))) from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def _open_postgres(url: URL) -> Engine:
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    shown = url.render_as_string(hide_password=True)
    try:
        engine = sa.create_engine(
            url, pool_size=5, max_overflow=20, pool_pre_ping=True, pool_timeout=10
        )
    except (ImportError, NoSuchModuleError):
        raise LedgerUnavailable(
            f"BMO_LEDGER_URL={shown!r} needs psycopg; install it with "
            "pip install 'bmo-voice[postgres]'."
        ) from None
    try:
        _migrate(engine)
    except DBAPIError as error:
        engine.dispose()
        first_line = str(error.orig).strip().splitlines()[0]
        raise LedgerUnavailable(
            f"The ledger at {shown} does not answer ({first_line}); "
            "start the server or correct BMO_LEDGER_URL."
        ) from None
    except BaseException:
        engine.dispose()
        raise
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    # Transactions are begun by _begin_sqlite; the driver must not begin its own.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("bmo_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _migrate(engine: Engine) -> None:
    """Applies the migrations that are missing, in one transaction."""
    # Alembic takes 0.1 s to import: only when the ledger is opened.
    from alembic import command
    from alembic.config import Config
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    head = ScriptDirectory.from_config(config).get_current_head()
    with reading(engine) as connection:
        if MigrationContext.configure(connection).get_current_revision() == head:
            return
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        found = MigrationContext.configure(connection).get_current_revision()
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise LedgerUnavailable(
                f"The ledger's schema {found!r} was made by another version of BMO; "
                "use that version, or set BMO_LEDGER_URL (or BMO_HOME) to another ledger."
            ) from None
    logger.debug("ledger schema", extra={"now": head, "was": found})


def _sqlite_sentence(path: Path, error: str) -> str:
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
