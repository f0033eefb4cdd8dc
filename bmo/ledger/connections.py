"""Connections of an open engine: one that reads, one that writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import Connection, Engine


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
