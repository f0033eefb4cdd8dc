"""Word lists of single stages, read from the packs: a frozen dataclass names the lists of a file.

A list is written as a string of words or, where entries have several, as an array. ``examples``
and ``non_examples`` of a file belong to the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from bmo.gate.pack_tables import read_table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Lists = TypeVar("_Lists", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class Declared:
    """A table that a stage has declared.

    Attributes:
        shape: The dataclass that names its lists.
        file: The English pack's file.
        read: Reads it, or gives what was read.
    """

    shape: type[Any]
    file: str
    read: Callable[[], object]


_declared: list[Declared] = []


def word_lists(shape: type[_Lists], language: str, file: str) -> _Lists:
    """Reads the lists of ``packs/<language>/<file>``.

    Args:
        shape: A dataclass whose fields are lists of the file, all of type ``frozenset[str]``.
        language: Whose pack.
        file: Name with its ending ("own_people.toml").

    Returns:
        The lists; empty where the pack has none of that name, or no such file.
    """
    raw = read_table(language, file)
    return shape(**{f.name: word_list(raw, f.name) for f in fields(shape)})


def word_list(raw: Mapping[str, Any], name: str) -> frozenset[str]:
    """One list of a table: a string of words, or an array of entries; empty where it is not."""
    written = raw.get(name, "")
    return frozenset(written.split() if isinstance(written, str) else written)


def word_table(shape: type[_Lists], file: str) -> Callable[[], _Lists]:
    """Declares a stage's English table: it is read once, on first use or in the warm-up.

    Args:
        shape: As for :func:`word_lists`.
        file: As there.

    Returns:
        What gives the lists; the call costs no more than looking up a name.
    """

    @lru_cache(maxsize=1)
    def read() -> _Lists:
        return word_lists(shape, "en", file)

    _declared.append(Declared(shape, file, read))
    return read


def declared_tables() -> tuple[Declared, ...]:
    """All tables that the imported stages have declared."""
    return tuple(_declared)


def load_word_tables() -> None:
    """Reads them all, so that no turn waits for a file."""
    for table in _declared:
        table.read()
