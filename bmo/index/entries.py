"""What a store keeps and how it is asked: entries, filters, and what an entry says of its fact."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bmo.turn import StoredFact

Filters = Mapping[str, Any]
"""Payload key -> value, or ``{"in": [values]}``; all must hold. Nothing else is understood."""

PAYLOAD_INDEXES = ("user_id", "fact_id", "write_verdict", "mode", "domain")
"""Payload keys that are filtered on."""

PAGE = 500
"""Entries read at a time."""


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
    """What every kind of store can do. Mem0 calls ``search`` and ``insert``."""

    def ensure(self) -> None:
        """Makes what a server lacks of the collection; an embedded store lacks nothing."""

    def search(
        self, query: str, vectors: Sequence[float], top_k: int = 5, filters: Filters | None = None
    ) -> Sequence[Entry]:
        """The nearest entries that match, by cosine similarity."""

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Writes entries; one of the same id is replaced."""

    def found(self, ids: Sequence[str]) -> list[Entry]:
        """The entries of some ids, those that there are."""

    def page(
        self, filters: Filters, limit: int, after: str | None = None
    ) -> tuple[Sequence[Entry], str | None]:
        """Some entries that match, in the order of their ids, and where to go on; None: nowhere."""

    def count(self, filters: Filters) -> int:
        """Number of entries that match."""

    def delete_many(self, ids: Sequence[str]) -> None:
        """Removes entries; unknown ids are fine."""

    def delete_matching(self, filters: Filters) -> int:
        """Removes the entries that match; returns how many there were."""

    def compact(self) -> bool:
        """Rewrites the files so that deleted entries leave no bytes; False where it cannot."""

    def lay_out(self) -> None:
        """Brings files, or a server's collection, to how they are made today."""

    def close(self) -> None:
        """Releases files and connections. Safe to call twice."""


def scan(store: EntryStore, filters: Filters) -> Iterator[Entry]:
    """All entries of a store that match, a page at a time."""
    after: str | None = None
    while True:
        entries, after = store.page(filters, PAGE, after)
        yield from entries
        if after is None:
            return


def point_of(fact_id: str) -> str:
    """Id of a fact's entry: always the same, so that no fact has two."""
    try:
        return str(uuid.UUID(fact_id))
    except ValueError:  # an imported id of another shape
        return str(uuid.uuid5(uuid.NAMESPACE_OID, fact_id))


def without_copies(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A payload without Mem0's second copy of the text, which only its BM25 search reads."""
    return {key: value for key, value in payload.items() if key != "text_lemmatized"}


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


Metadata = Mapping[str, str | float | bool]
"""What is written beside a memory's text."""


@dataclass(frozen=True, slots=True)
class IndexHit:
    """One entry that a search found.

    Attributes:
        fact_id: The ledger's id; "" for a raw turn.
        index_id: Mem0's id.
        text: The memory's text.
        score: Cosine similarity to the query.
        metadata: Everything else on the entry.
    """

    fact_id: str
    index_id: str
    text: str
    score: float
    metadata: Mapping[str, Any]


def hit_of(entry: Entry) -> IndexHit:
    """An entry as it is, which no search scored."""
    payload = dict(entry.payload)
    text = payload.pop("data", "")
    return IndexHit(payload.get("fact_id", ""), entry.id, text, 0.0, payload)


def fact_metadata(fact: StoredFact) -> dict[str, str | float | bool]:
    """What every entry says of its fact; what the write gate said comes beside it."""
    return {
        "fact_id": fact.id,
        "mode": "gated",
        "category": fact.category,
        "kind": fact.kind,
        "slot": fact.slot or "",
        "subject": fact.subject,
        "polarity": fact.polarity,
        "domain": fact.domain or "",
        "valid_from": fact.valid_from.isoformat(),
        "turn_id": fact.turn_id or "",
        "extraction_version": fact.extraction_version,
        "source_type": fact.source_type,
        "write_verdict": "allow",
    }


def agrees(payload: Mapping[str, Any], text: str, fact: StoredFact, said: Metadata) -> bool:
    """Whether an entry says of a fact what is to be written of it.

    Args:
        payload: The entry's; empty where there is none.
        text: The fact's, as it is written.
        fact: The ledger's row.
        said: What the write gate said.
    """
    wanted = {**fact_metadata(fact), **said, "user_id": fact.user_id, "data": text}
    return all(_same(payload.get(key), value) for key, value in wanted.items())


def _same(there: object, wanted: object) -> bool:
    """Equal; a number may have lost its last digit on its way through a server."""
    if isinstance(wanted, float) and isinstance(there, float):
        return math.isclose(there, wanted)
    return there == wanted
