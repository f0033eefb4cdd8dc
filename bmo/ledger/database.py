"""One database of the ledger: connections, transactions, locks, many ids at once, vacuum."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, Row
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree

from bmo.ledger.schema import metadata
from bmo.settings import checked_user_id

# Two users with the same hash wait for each other, no more.
_ONE_BY_ONE = sa.select(
    sa.func.pg_advisory_xact_lock(7_020_617, sa.func.hashtext(sa.bindparam("whose", type_=sa.Text)))
)

_MOST_IDS = 500
"""Ids per statement: SQLite's parameters are limited."""

_TRUNCATE_TRIES = 20
_TRUNCATE_PAUSE_S = 0.1


class LedgerUnavailable(RuntimeError):
    """The ledger cannot be opened; the message is one sentence that names the fix."""


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one consistent state and writes nothing."""
    with _connected(engine) as connection:
        if connection.dialect.name == "sqlite":
            # Straight on the driver, which begins nothing by itself: this cannot fail, and a
            # listener that did it would be asked for at every statement.
            driver: Any = connection.connection.driver_connection
            driver.execute("BEGIN")
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A connection inside one transaction: all of it is kept, or nothing."""
    with _connected(engine) as connection, connection.begin():
        if connection.dialect.name == "sqlite":
            # Take the write lock at the start. A transaction that reads first and then writes
            # fails at once when another one wrote in between, busy timeout or not.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection


def hold_user(connection: Connection, user_id: str) -> None:
    """Waits until no other transaction writes a user's rows, and keeps others from it to its end.

    SQLite has one writer anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_ONE_BY_ONE, {"whose": user_id})


def _connected(engine: Engine) -> Connection:
    """A connection of the pool.

    Raises:
        OperationalError: None was free in time: to a turn that is as a server that is away.
    """
    try:
        return engine.connect()
    except NoneFree as error:
        raise OperationalError(None, None, error) from error


class Database:
    """Connections to one database; safe from any thread."""

    def __init__(self, engine: Engine) -> None:
        """Use ``open``."""
        self.engine = engine
        # SQLite has one writer: waiting here is fair, waiting there is a busy loop.
        self._writer = threading.RLock()
        self._views = threading.local()

    def close(self) -> None:
        """Closes all connections. Safe to call twice."""
        self.engine.dispose()

    @contextmanager
    def one_view(self) -> Iterator[None]:
        """What this thread reads inside is of one moment, and over one connection.

        What it writes inside goes over a connection of its own and is not seen until the end.
        """
        if getattr(self._views, "connection", None) is not None:
            yield
            return
        with reading(self.engine) as connection:
            self._views.connection = connection
            try:
                yield
            finally:
                self._views.connection = None

    @contextmanager
    def reading(self, *whose: str) -> Iterator[Connection]:
        """A connection for reading, for the modules beside this one.

        Args:
            *whose: The users whose memories are read.

        Raises:
            ValueError: An id that no user may have.
        """
        for name in whose:
            checked_user_id(name)
        connection = getattr(self._views, "connection", None)
        if connection is not None:
            yield connection
            return
        with reading(self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self, *whose: str) -> Iterator[Connection]:
        """A writing transaction, for the modules beside this one.

        Whoever writes rows of a user names him. A transaction over users that it cannot name
        leaves out rows that another holds (``FOR UPDATE SKIP LOCKED``). So no two of them ever
        wait for each other.

        Args:
            *whose: The users whose memories are written: across processes one such transaction
                of a user runs at a time, and sees what the one before it wrote.

        Raises:
            ValueError: An id that no user may have.
        """
        users = sorted({checked_user_id(name) for name in whose})
        with self._writer, writing(self.engine) as connection:
            for name in users:
                hold_user(connection, name)
            yield connection

    def vacuum(self) -> bool:
        """Rewrites a SQLite database without its free pages, and empties its write-ahead log.

        PostgreSQL is only told to use the pages of its tables again: to rewrite a table it locks
        it.

        Returns:
            Whether no deleted bytes are left.

        Raises:
            DBAPIError: Another process is in the middle of a transaction.
        """
        is_file = self.engine.dialect.name == "sqlite"
        # VACUUM runs outside any transaction: straight on the driver, past SQLAlchemy's own BEGIN.
        with (
            self._writer,
            closing(self.engine.raw_connection()) as raw,
            closing(raw.cursor()) as cursor,
        ):
            if is_file:
                cursor.execute("VACUUM")
                for _ in range(_TRUNCATE_TRIES):
                    if not cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                        break
                    # Another process moves its log: SQLite does not wait for that by itself.
                    time.sleep(_TRUNCATE_PAUSE_S)
            else:
                driver: Any = raw.driver_connection
                driver.autocommit = True
                cursor.execute(f"VACUUM {', '.join(metadata.tables)}")
                driver.autocommit = False
        return is_file


def chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    """Ids in their order, as many at a time as a statement takes."""
    rest = iter(ids)
    while some := list(islice(rest, _MOST_IDS)):
        yield some


def rows_among(
    connection: Connection, query: sa.Select[Any], column: sa.Column[Any], ids: Iterable[str]
) -> Iterator[Row[Any]]:
    """The rows of a query whose column is one of some ids."""
    for some in chunks(ids):
        yield from connection.execute(query.where(column.in_(some)))


def count_changed(
    connection: Connection,
    change: sa.Update | sa.Delete,
    column: sa.Column[Any],
    ids: Iterable[str],
) -> int:
    """Changes or deletes the rows whose column is one of some ids; returns how many."""
    return sum(connection.execute(change.where(column.in_(some))).rowcount for some in chunks(ids))
