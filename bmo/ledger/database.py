"""One database of the ledger: connections, transactions, vacuum."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from bmo.ledger.connections import reading, writing
from bmo.ledger.engine import vacuum

# SQLite has one writer anyway. Two users with the same hash wait for each other, no more.
_ONE_BY_ONE = sa.select(
    sa.func.pg_advisory_xact_lock(7_020_617, sa.func.hashtext(sa.bindparam("whose", type_=sa.Text)))
)


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

    def vacuum(self) -> bool:
        """Has what was deleted leave the database's files; whether all of it did."""
        with self._writer:
            return vacuum(self.engine)

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
    def reading(self) -> Iterator[Connection]:
        """A connection for reading, for the modules beside this one."""
        connection = getattr(self._views, "connection", None)
        if connection is not None:
            yield connection
            return
        with reading(self.engine) as connection:
            yield connection

    @contextmanager
    def writing(self, *whose: str) -> Iterator[Connection]:
        """A writing transaction, for the modules beside this one.

        Args:
            *whose: The users whose memories are written, in order: across processes one such
                transaction of a user runs at a time, and sees what the one before it wrote.
        """
        with self._writer, writing(self.engine) as connection:
            if connection.dialect.name == "postgresql":
                for name in whose:
                    connection.execute(_ONE_BY_ONE, {"whose": name})
            yield connection
