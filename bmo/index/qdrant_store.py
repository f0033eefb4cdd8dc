"""Qdrant through qdrant-client: a server, or the client's local mode where Edge has no wheel."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Any

from mem0.vector_stores.qdrant import Qdrant
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from bmo.index.entries import PAYLOAD_INDEXES, Entry, Filters, conditions, without_copies

TENANT = "user_id"
"""The payload key that says whose an entry is."""

GRAPHS = models.HnswConfigDiff(m=0, payload_m=16)
"""No graph over all entries, which no search asks for, and one for each user who has many."""


class ServerStore(Qdrant):  # type: ignore[misc]  # mem0 ships no types
    """One collection of a Qdrant server or cluster, dense vectors only.

    It is laid out as Qdrant advises for many users in one collection: a graph for each user
    instead of one for all, and each user's entries beside one another.

    Attributes:
        made: How often the collection was made from here.
    """

    made = 0

    def create_col(
        self, vector_size: int, on_disk: bool, distance: Any = models.Distance.COSINE
    ) -> None:
        """Makes the collection, and the payload indexes that it lacks.

        Without the sparse vectors of Mem0's own: they are for BM25, which is off here.
        """
        known: Mapping[str, models.PayloadIndexInfo] = {}
        if self.client.collection_exists(self.collection_name):
            known = self.client.get_collection(self.collection_name).payload_schema
        else:
            vectors = models.VectorParams(size=vector_size, distance=distance, on_disk=on_disk)
            try:
                self.client.create_collection(
                    self.collection_name, vectors_config=vectors, hnsw_config=GRAPHS
                )
                self.made += 1
            except UnexpectedResponse as error:
                if error.status_code != HTTPStatus.CONFLICT:
                    raise
                # Another process made it in the same moment.
        self._index_payload(key for key in PAYLOAD_INDEXES if key not in known)

    def ensure(self) -> None:
        """See ``EntryStore.ensure``."""
        self.create_col(self.embedding_model_dims, self.on_disk)

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Writes points."""
        batch = models.Batch(
            ids=list(ids or ()),
            vectors=[list(vector) for vector in vectors],
            payloads=[without_copies(payload) for payload in payloads or ()],
        )
        self.client.upsert(self.collection_name, points=batch)

    def keyword_search(self, query: str, top_k: int = 5, filters: Filters | None = None) -> None:
        """None, always: Mem0's BM25 fusion lowered top-1 on short memories from .88 to .78."""

    def found(self, ids: Sequence[str]) -> list[Entry]:
        """See ``EntryStore.found``."""
        records = self.client.retrieve(self.collection_name, ids, with_payload=True)
        return [Entry(str(record.id), record.payload or {}) for record in records]

    def page(
        self, filters: Filters, limit: int, after: str | None = None
    ) -> tuple[Sequence[Entry], str | None]:
        """See ``EntryStore.page``."""
        records, behind = self.client.scroll(
            self.collection_name,
            scroll_filter=_filter(filters),
            limit=limit,
            offset=after,
            with_payload=True,
        )
        entries = [Entry(str(record.id), record.payload or {}) for record in records]
        return entries, None if behind is None else str(behind)

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

    def delete_matching(self, filters: Filters) -> int:
        """See ``EntryStore.delete_matching``; one request, beside that which counts."""
        there = self.count(filters)
        if there:
            chosen = models.FilterSelector(filter=_filter(filters) or models.Filter())
            self.client.delete(self.collection_name, points_selector=chosen)
        return there

    def compact(self) -> bool:
        """False: a server's own optimizer rewrites its segments."""
        return False

    def lay_out(self) -> None:
        """Has the server make graphs for each user, and keep the vectors where they are to be.

        It does so in its own time, and answers meanwhile.
        """
        self.ensure()
        self.client.update_collection(
            self.collection_name,
            vectors_config={"": models.VectorParamsDiff(on_disk=self.on_disk)},
            hnsw_config=GRAPHS,
        )
        schema = self.client.get_collection(self.collection_name).payload_schema[TENANT]
        if not getattr(schema.params, "is_tenant", False):
            self.client.delete_payload_index(self.collection_name, TENANT)
            self._index_payload([TENANT])

    def close(self) -> None:
        """See ``EntryStore.close``."""
        self.client.close()

    def _index_payload(self, keys: Iterable[str]) -> None:
        for key in keys:
            schema = models.KeywordIndexParams(
                type=models.KeywordIndexType.KEYWORD,
                is_tenant=key == TENANT,
                enable_hnsw=key == TENANT,  # nearly all entries have the same mode and verdict
            )
            self.client.create_payload_index(self.collection_name, key, field_schema=schema)


_LOCKED = ("insert", "search", "found", "page", "count", "delete_many")
"""What is called of a store from several threads, and keeps the lock to its end."""


class LocalStore(ServerStore):
    """qdrant-client's local mode. It is not thread-safe: one lock is around everything."""

    def __init__(self, client: QdrantClient, collection_name: str, dims: int, path: Path) -> None:
        """Wraps an open local client."""
        self._lock = threading.RLock()
        self._path = path
        super().__init__(collection_name, dims, client=client)
        for name in _LOCKED:
            setattr(self, name, self._one_by_one(getattr(self, name)))

    def _one_by_one(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def locked(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                return call(*args, **kwargs)

        return locked

    def lay_out(self) -> None:
        """See ``EntryStore.lay_out``."""
        self.compact()

    def compact(self) -> bool:
        """Vacuums the SQLite files in which local mode keeps its points."""
        with self._lock:
            for file in self._path.rglob("storage.sqlite"):
                with closing(sqlite3.connect(file)) as connection:
                    connection.execute("PRAGMA secure_delete = ON")
                    connection.execute("VACUUM")
        return True

    def _index_payload(self, keys: Iterable[str]) -> None:
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
