"""Many ids in statements that take few: SQLite's parameters are limited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

MOST: Final = 500
"""Ids per statement."""


def chunks(ids: Iterable[str]) -> Iterator[list[str]]:
    """Ids in their order, as many at a time as a statement takes."""
    rest = iter(ids)
    while some := list(islice(rest, MOST)):
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
