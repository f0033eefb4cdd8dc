"""Writing the entries of memories into the index, with the vectors that the ledger keeps."""

from __future__ import annotations

from collections.abc import Sequence

from bmo.index import MemoryIndex, Metadata, point_of
from bmo.ledger import Ledger, Written
from bmo.turn import StoredFact

FactSaid = tuple[StoredFact, Metadata]
"""A memory and what the write gate said of it."""


def write_entries(ledger: Ledger, index: MemoryIndex, facts: Sequence[FactSaid]) -> list[Written]:
    """Writes entries in one write; the embedder makes the vectors that the ledger has not.

    Returns:
        What is to be noted beside the facts, in their order.

    Raises:
        IndexUnavailable: The store cannot be reached.
        EmbedderUnavailable: There are no vectors now; nothing is written.
    """
    kept = ledger.vectors_of(index.collection, [fact.id for fact, _ in facts])
    made = index.add_many(facts, kept)
    return [
        Written(fact, point_of(fact.id), index.collection, made.get(fact.id)) for fact, _ in facts
    ]
