"""A store of this process whose vectors are kept in memory as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from mem0.vector_stores.base import VectorStoreBase

from bmo.index.entries import PAGE, Entry, Filters, PointStore, scan
from bmo.index.vector_cache import Page, VectorCache


class OwnStore(PointStore, Protocol):
    """An embedded store: what Mem0 calls, what MemoryIndex calls, and its vectors."""

    update: Any
    delete: Any
    list: Any
    list_cols: Any
    delete_col: Any
    col_info: Any
    reset: Any

    def pages(self, filters: Filters) -> Iterator[Page]:
        """Entries that match, with their vectors, some at a time."""


class CachedStore(VectorStoreBase):  # type: ignore[misc]  # mem0 ships no types
    """Writes go to the store first and then to the cache; reads of entries go to the store.

    Attributes:
        cache: The vectors of the users who are here.
    """

    def __init__(self, store: OwnStore, dims: int) -> None:
        """Wraps an open store.

        Args:
            store: A store that nobody else writes to.
            dims: Length of its vectors.
        """
        self._store = store
        self.cache = VectorCache(dims, lambda user_id: store.pages({"user_id": user_id}))

    # -- what Mem0 calls -----------------------------------------------------------------------

    def create_col(self, name: str, vector_size: int, distance: str) -> None:
        """Nothing to do: the store is open."""

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Writes points."""
        self._store.insert(vectors, payloads, ids)
        for point, vector, payload in zip(ids or (), vectors, payloads or (), strict=True):
            self.cache.put(point, payload, vector)

    def search(
        self,
        query: str,
        vectors: Sequence[float],
        top_k: int = 5,
        filters: Filters | None = None,
    ) -> Sequence[Entry]:
        """The nearest points that match, whole: from the store."""
        found: Sequence[Entry] = self._store.search(query, vectors, top_k, filters)
        return found

    def keyword_search(self, query: str, top_k: int = 5, filters: Filters | None = None) -> None:
        """None, always: Mem0's BM25 fusion lowered top-1 on short memories from .88 to .78."""

    def delete(self, vector_id: str) -> None:
        """Removes a point."""
        self.delete_many([vector_id])

    def update(
        self,
        vector_id: str,
        vector: Sequence[float] | None = None,
        payload: dict[str, Any] | None = None,
    ) -> None:
        """Replaces vector, payload or both."""
        self._store.update(vector_id, vector, payload)
        if payload is None:
            entry = self._store.get(vector_id)
            payload = dict(entry.payload) if entry is not None else {}
        self.cache.put(vector_id, payload, vector)

    def get(self, vector_id: str) -> Any:
        """A point by id, or None."""
        return self._store.get(vector_id)

    def list(
        self, filters: Filters | None = None, top_k: int | None = None
    ) -> Sequence[Sequence[Entry]]:
        """Points that match, wrapped as Mem0 expects."""
        return [self._store.page(filters or {}, top_k or 100)[0]]

    def list_cols(self) -> Any:
        """The collections there are."""
        return self._store.list_cols()

    def delete_col(self) -> None:
        """Removes all points."""
        self.drop()

    def col_info(self) -> Any:
        """Name and size."""
        return self._store.col_info()

    def reset(self) -> None:
        """Removes all points."""
        self.drop()

    # -- what MemoryIndex calls ----------------------------------------------------------------

    def ensure(self) -> None:
        """See ``PointStore.ensure``."""

    def present(self, ids: Sequence[str]) -> set[str]:
        """See ``PointStore.present``."""
        return self._store.present(ids)

    def page(
        self, filters: Filters, limit: int, after: str | None = None
    ) -> tuple[Sequence[Entry], str | None]:
        """See ``PointStore.page``."""
        return self._store.page(filters, limit, after)

    def count(self, filters: Filters) -> int:
        """See ``PointStore.count``."""
        return self._store.count(filters)

    def delete_many(self, ids: Sequence[str]) -> None:
        """See ``PointStore.delete_many``."""
        # The cache first: what is forgotten is not found from this moment on.
        self.cache.remove(ids)
        self._store.delete_many(ids)
        self.cache.remove(ids)

    def delete_matching(self, filters: Filters) -> int:
        """See ``EntryStore.delete_matching``."""
        ids = [entry.id for entry in scan(self._store, filters)]
        for start in range(0, len(ids), PAGE):
            self.delete_many(ids[start : start + PAGE])
        return len(ids)

    def compact(self) -> bool:
        """See ``PointStore.compact``; the entries stay what they are."""
        return self._store.compact()

    def drop(self) -> None:
        """See ``PointStore.drop``."""
        self._store.drop()
        self.cache.clear()

    def close(self) -> None:
        """See ``PointStore.close``."""
        self.cache.close()
        self._store.close()
