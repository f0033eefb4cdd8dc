"""Tables of named rows, where each row is code: a test runs once for every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Row = TypeVar("_Row")


class Table(dict[str, _Row]):
    """Name -> row, in the order the rows were added."""

    def row(self, name: str) -> Callable[[_Row], _Row]:
        """Adds what is decorated as the row of that name; two rows of one name are a mistake."""

        def add(row: _Row) -> _Row:
            assert name not in self, f"two rows named {name!r}"
            self[name] = row
            return row

        return add
