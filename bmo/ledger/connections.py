"""Connections of an open engine: one that reads, one that writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.engine import Connection, Engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one consistent state and writes nothing."""
    with engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            # Straight on the driver, which begins nothing by itself: this cannot fail, and a
            # listener that did it would be asked for at every statement.
            driver: Any = connection.connection.driver_connection
            driver.execute("BEGIN")
        yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A connection inside one transaction: all of it is kept, or nothing."""
    with engine.connect() as connection, connection.begin():
        if connection.dialect.name == "sqlite":
            # Take the write lock at the start. A transaction that reads first and then writes
            # fails at once when another one wrote in between, busy timeout or not.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield connection
