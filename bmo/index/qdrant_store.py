"""Qdrant through qdrant-client: a server, or the client's local mode where Edge has no wheel."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from mem0.vector_stores.qdrant import Qdrant
from qdrant_client import QdrantClient, models

from bmo.index.entries import PAYLOAD_INDEXES, Entry, Filters, conditions
from bmo.index.vector_cache import Page

_PAGE = 1000


class ServerStore(Qdrant):  # type: ignore[misc]  # mem0 ships no types
    """One collection of a Qdrant server or cluster, dense vectors only."""

    def create_col(
        self, vector_size: int, on_disk: bool, distance: Any = models.Distance.COSINE
    ) -> None:
        """Makes the collection and its payload indexes unless they are there.

        Without the sparse vectors of Mem0's own: they are for BM25, which is off here.
        """
        if not self.client.collection_exists(self.collection_name):
            self.client.create_collection(
                self.collection_name,
                vectors_config=models.VectorParams(size=vector_size, distance=distance),
            )
            self._index_payload()

    def keyword_search(self, query: str, top_k: int = 5, filters: Filters | None = None) -> None:
        """None, always: Mem0's BM25 fusion lowered top-1 on short memories from .88 to .78."""

    def find(self, filters: Filters, limit: int) -> list[Entry]:
        """See ``EntryStore.find``."""
        records, _ = self.client.scroll(
            self.collection_name, scroll_filter=_filter(filters), limit=limit, with_payload=True
        )
        return [Entry(str(record.id), record.payload or {}) for record in records]

    def scan(self, filters: Filters) -> Iterator[Entry]:
        """See ``EntryStore.scan``."""
        offset = None
        while True:
            records, offset = self.client.scroll(
                self.collection_name,
                scroll_filter=_filter(filters),
                limit=_PAGE,
                offset=offset,
                with_payload=True,
            )
            for record in records:
                yield Entry(str(record.id), record.payload or {})
            if offset is None:
                return

    def count(self, filters: Filters) -> int:
        """See ``EntryStore.count``."""
        found = self.client.count(self.collection_name, count_filter=_filter(filters), exact=True)
        return int(found.count)

    def delete_many(self, ids: Sequence[str]) -> None:
        """See ``EntryStore.delete_many``."""
        if ids:
            self.client.delete(
                self.collection_name, points_selector=models.PointIdsList(points=list(ids))
            )

    def compact(self) -> bool:
        """False: a server's own optimizer rewrites its segments."""
        return False

    def drop(self) -> None:
        """See ``EntryStore.drop``."""
        self.client.delete_collection(self.collection_name)
        self.create_col(self.embedding_model_dims, False)

    def close(self) -> None:
        """See ``EntryStore.close``."""
        self.client.close()

    def _index_payload(self) -> None:
        for key in PAYLOAD_INDEXES:
            self.client.create_payload_index(
                self.collection_name, key, field_schema=models.PayloadSchemaType.KEYWORD
            )


class LocalStore(ServerStore):
    """qdrant-client's local mode. It is not thread-safe: one lock is around everything."""

    def __init__(self, client: QdrantClient, collection_name: str, dims: int, path: Path) -> None:
        """Wraps an open local client."""
        self._lock = threading.RLock()
        self._path = path
        super().__init__(collection_name, dims, client=client)

    def insert(self, vectors: Any, payloads: Any = None, ids: Any = None) -> None:
        """Writes points."""
        with self._lock:
            super().insert(vectors, payloads, ids)

    def search(self, query: str, vectors: Any, top_k: int = 5, filters: Any = None) -> Any:
        """The nearest points that match."""
        with self._lock:
            return super().search(query, vectors, top_k, filters)

    def get(self, vector_id: Any) -> Any:
        """A point by id, or None."""
        with self._lock:
            return super().get(vector_id)

    def update(self, vector_id: Any, vector: Any = None, payload: Any = None) -> None:
        """Replaces vector, payload or both."""
        with self._lock:
            super().update(vector_id, vector, payload)

    def delete(self, vector_id: Any) -> None:
        """Removes a point."""
        with self._lock:
            super().delete(vector_id)

    def find(self, filters: Filters, limit: int) -> list[Entry]:
        """See ``EntryStore.find``."""
        with self._lock:
            return super().find(filters, limit)

    def scan(self, filters: Filters) -> Iterator[Entry]:
        """See ``EntryStore.scan``."""
        with self._lock:
            yield from list(super().scan(filters))

    def pages(self, filters: Filters) -> Iterator[Page]:
        """See ``OwnStore.pages``."""
        offset = None
        while True:
            with self._lock:
                records, offset = self.client.scroll(
                    self.collection_name,
                    scroll_filter=_filter(filters),
                    limit=_PAGE,
                    offset=offset,
                    with_payload=True,
                    with_vectors=True,
                )
            yield [(str(record.id), record.payload or {}, record.vector) for record in records]
            if offset is None:
                return

    def count(self, filters: Filters) -> int:
        """See ``EntryStore.count``."""
        with self._lock:
            return super().count(filters)

    def delete_many(self, ids: Sequence[str]) -> None:
        """See ``EntryStore.delete_many``."""
        with self._lock:
            super().delete_many(ids)

    def drop(self) -> None:
        """See ``EntryStore.drop``."""
        with self._lock:
            super().drop()

    def compact(self) -> bool:
        """Vacuums the SQLite files in which local mode keeps its points."""
        with self._lock:
            for file in self._path.rglob("storage.sqlite"):
                with closing(sqlite3.connect(file)) as connection:
                    connection.execute("PRAGMA secure_delete = ON")
                    connection.execute("VACUUM")
        return True

    def _index_payload(self) -> None:
        """Local mode has no payload indexes."""


def _filter(filters: Filters) -> models.Filter | None:
    if not filters:
        return None
    return models.Filter(
        must=[
            models.FieldCondition(
                key=key,
                match=models.MatchValue(value=values[0])
                if len(values) == 1
                else models.MatchAny(any=values),
            )
            for key, values in conditions(filters)
        ]
    )
