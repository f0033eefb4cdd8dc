"""Connections of an open engine: one that reads, one that writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree


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


def _connected(engine: Engine) -> Connection:
    """A connection of the pool.

    Raises:
        OperationalError: None was free in time: to a turn that is as a server that is away.
    """
    try:
        return engine.connect()
    except NoneFree as error:
        raise OperationalError(None, None, error) from error
