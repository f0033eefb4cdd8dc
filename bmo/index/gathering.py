"""Many entries in one write: Mem0 makes them one by one, the store gets them all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bmo.index.embedders import Embedder
from bmo.index.entries import EntryStore
from bmo.index.last_vectors import LastVectors


class GatheringStore:
    """What Mem0 writes to while entries are gathered."""

    def __init__(self) -> None:
        """Nothing gathered."""
        self._vectors: list[Sequence[float]] = []
        self._payloads: list[dict[str, Any]] = []
        self._ids: list[str] = []

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Keeps points."""
        self._vectors += vectors
        self._payloads += payloads or ()
        self._ids += ids or ()

    def write_to(self, store: EntryStore) -> None:
        """Writes what was gathered."""
        if self._ids:
            store.insert(self._vectors, self._payloads, self._ids)


def add_together(
    store: EntryStore,
    embedder: Embedder,
    collection: str,
    memories: Sequence[tuple[str, str, dict[str, Any]]],
) -> list[str]:
    """Adds memories that are not in the store yet, with one write.

    The entries are those of Mem0's own ``add``: it makes them here too, one by one.

    Args:
        store: Where they go.
        embedder: Makes the vectors, of all texts in one call.
        collection: Name of the collection.
        memories: (user id, text, metadata).

    Returns:
        Mem0's ids, in the order of ``memories``.
    """
    from bmo.index.mem0_parts import build_memory

    vectors = embedder.embed([text for _, text, _ in memories])
    gathered, last = GatheringStore(), LastVectors()
    memory = build_memory(gathered, embedder, collection, last=last)
    ids = []
    for (user_id, text, metadata), vector in zip(memories, vectors, strict=True):
        last.keep(text, vector)
        made = memory.add(text, user_id=user_id, metadata=metadata, infer=False)
        ids.append(str(made["results"][0]["id"]))
    memory.close()
    gathered.write_to(store)
    return ids
