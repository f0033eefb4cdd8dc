"""What a store keeps and how it is asked: entries and filters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Filters = Mapping[str, Any]
"""Payload key -> value, or ``{"in": [values]}``; all must hold. Nothing else is understood."""

PAYLOAD_INDEXES = ("user_id", "fact_id", "category", "write_verdict", "mode")
"""Payload keys that are filtered on."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One point of a store, in the shape Mem0 reads.

    Attributes:
        id: Mem0's id (a UUID).
        payload: Text under ``data``, and the metadata.
        score: Cosine similarity to a query, 0 where there was none.
    """

    id: str
    payload: dict[str, Any] = field(default_factory=dict)
    score: float = 0.0


class EntryStore(Protocol):
    """What MemoryIndex needs beside Mem0's own calls."""

    def search(
        self,
        query: str,
        vectors: Sequence[float],
        top_k: int = 5,
        filters: Filters | None = None,
    ) -> Sequence[Entry]:
        """The nearest entries that match, by cosine similarity."""

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Writes entries."""

    def get(self, vector_id: str) -> Any:
        """The entry of that id, or None."""

    def find(self, filters: Filters, limit: int) -> Sequence[Entry]:
        """Entries that match, in no order."""

    def scan(self, filters: Filters) -> Iterator[Entry]:
        """All entries that match, a page at a time."""

    def count(self, filters: Filters) -> int:
        """Number of entries that match."""

    def delete_many(self, ids: Sequence[str]) -> None:
        """Removes entries; unknown ids are fine."""

    def compact(self) -> bool:
        """Rewrites the files so that deleted entries leave no bytes; False where it cannot."""

    def drop(self) -> None:
        """Removes all entries."""

    def close(self) -> None:
        """Releases files and connections. Safe to call twice."""


def conditions(filters: Filters) -> Iterable[tuple[str, list[Any]]]:
    """Filters as (key, allowed values).

    Raises:
        ValueError: An operator other than ``in``, or a value that is no string, number or bool.
    """
    for key, wanted in filters.items():
        values = [wanted]
        if isinstance(wanted, Mapping):
            if set(wanted) != {"in"}:
                raise ValueError(f"filter on {key!r} uses {sorted(wanted)!r}; only 'in' is known")
            values = list(wanted["in"])
        for value in values:
            if not isinstance(value, str | int | bool):
                raise ValueError(f"filter on {key!r} has the value {value!r}")
        yield key, values
