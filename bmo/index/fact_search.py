"""Reading the index: what is near in meaning, what is there, how much."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bmo.index.access import IndexAccess, storable
from bmo.index.entries import scan
from bmo.index.errors import IndexUnavailable
from bmo.index.hits import IndexHit, hit_of
from bmo.index.ownership import OWNER_POINT, is_owner
from bmo.settings import checked_user_id
from bmo.turn import Category

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bmo.index.vector_cache import VectorCache

    Vector = NDArray[np.float32]

logger = logging.getLogger(__name__)


class FactSearch(IndexAccess):
    """The index's side for whoever reads it; every hit's user is checked again."""

    def search(
        self,
        user_id: str,
        query: str,
        *,
        top_k: int,
        threshold: float,
        categories: Sequence[Category] = (),
        include_held: bool = False,
    ) -> list[IndexHit]:
        """The facts of a user nearest in meaning.

        Args:
            user_id: Whose facts.
            query: Words to search for; without any nothing is found.
            top_k: Hits at most.
            threshold: Least cosine similarity, 0..1.
            categories: Only these; empty means all.
            include_held: Also entries the write gate held.

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        filters = _gated(categories, include_held=include_held)
        return self._search(user_id, query, top_k, threshold, filters)

    def preload(self, user_id: str) -> None:
        """Starts to read a user's vectors into memory; returns at once and never raises.

        ``near`` asks the store until they are there. Nothing happens with a server, whose
        entries other processes change too, nor once the index is closed.
        """
        if self.backend == "server":
            return
        try:
            cache = self._cache()
        except IndexUnavailable:
            return
        if cache is not None:
            cache.preload(user_id)

    def in_memory(self, user_id: str) -> bool:
        """Whether ``near`` answers for a user without asking the store."""
        cache = None if self.backend == "server" else self._cache()
        return cache is not None and cache.has(user_id)

    def near(
        self,
        user_id: str,
        query: str,
        *,
        top_k: int,
        threshold: float,
        categories: Sequence[Category] = (),
        domains: Sequence[str] = (),
        turned: Callable[[Vector], Vector] | None = None,
    ) -> list[tuple[str, float]]:
        """Which facts of a user are near in meaning, and how near, nearest first.

        The same as ``search`` without the entries: from the vectors in memory if they are there.

        Args:
            user_id: Whose facts.
            query: Words to search for; without any nothing is found.
            top_k: Facts at most.
            threshold: Least cosine similarity, 0..1.
            categories: Only these; empty means all.
            domains: Facts of these topics and facts of none; empty means all. The store, which
                answers until the vectors are in memory, has no index for topics and gives all.
            turned: What is done to the query's vector first.

        Returns:
            (fact id, cosine).

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        checked_user_id(user_id)
        words = storable(query).strip()
        if not words or top_k <= 0:
            return []
        found = self._near_in_memory(user_id, words, top_k, threshold, categories, domains, turned)
        if found is not None:
            return found
        if turned is not None:
            vector = turned(self.embedder.embed([words])[0])
            return self._near_in_store(user_id, words, vector, top_k, threshold, categories)
        hits = self.search(user_id, query, top_k=top_k, threshold=threshold, categories=categories)
        return [(hit.fact_id, hit.score) for hit in hits if hit.fact_id]

    def _near_in_memory(
        self,
        user_id: str,
        words: str,
        top_k: int,
        threshold: float,
        categories: Sequence[Category],
        domains: Sequence[str],
        turned: Callable[[Vector], Vector] | None,
    ) -> list[tuple[str, float]] | None:
        """The answer of the vectors in memory; None, and they are on their way, without them."""
        cache = self._cache()
        if cache is None:
            return None
        if not cache.has(user_id):
            cache.preload(user_id)
            return None
        vector = self.embedder.embed([words])[0]
        self._connection.last.keep(words, vector)
        found = cache.search(
            user_id,
            vector if turned is None else turned(vector),
            top_k=top_k,
            threshold=min(max(threshold, 0.0), 1.0),
            filters=_gated(categories, domains=domains),
        )
        return None if found is None else [(fact_id, score) for fact_id, score in found if fact_id]

    def _near_in_store(
        self,
        user_id: str,
        words: str,
        vector: Vector,
        top_k: int,
        threshold: float,
        categories: Sequence[Category],
    ) -> list[tuple[str, float]]:
        """The store's answer for a vector that is not the words' own, which Mem0 would make."""
        filters = {**_gated(categories), "user_id": user_id}
        with self._reading() as (_, store):
            entries = store.search(words, vector.tolist(), top_k, filters)
        return [
            (str(entry.payload["fact_id"]), float(entry.score))
            for entry in entries
            if entry.payload.get("user_id") == user_id
            and entry.payload.get("fact_id")
            and entry.score >= threshold
        ]

    def search_raw(
        self, user_id: str, query: str, *, top_k: int, threshold: float
    ) -> list[IndexHit]:
        """The memories of a user nearest in meaning, raw turns included."""
        return self._search(user_id, query, top_k, threshold, {})

    def count(self, user_id: str | None = None) -> int:
        """Number of entries, of one user or of all."""
        with self._reading() as (_, store):
            if user_id is not None:
                return store.count({"user_id": checked_user_id(user_id)})
            return store.count({}) - (store.get(OWNER_POINT) is not None)

    def entries(self, user_id: str | None = None) -> Iterator[IndexHit]:
        """Every entry of a user, or of all users, in no order; scores are 0."""
        filters = {} if user_id is None else {"user_id": checked_user_id(user_id)}
        with self._reading() as (_, store):
            for entry in scan(store, filters):
                if not is_owner(entry):
                    yield hit_of(entry)

    def _search(
        self, user_id: str, query: str, top_k: int, threshold: float, filters: dict[str, Any]
    ) -> list[IndexHit]:
        checked_user_id(user_id)
        words = storable(query).strip()
        if not words or top_k <= 0:
            return []
        with self._reading() as (memory, _):
            found = memory.search(
                words,
                top_k=top_k,
                threshold=min(max(threshold, 0.0), 1.0),
                filters={**filters, "user_id": user_id},
            )
        hits = []
        for item in found["results"]:
            if item.get("user_id") != user_id:
                logger.error("the store gave an entry of another user", extra={"id": item["id"]})
                continue
            metadata = item.get("metadata") or {}
            hits.append(
                IndexHit(
                    metadata.get("fact_id", ""),
                    str(item["id"]),
                    item["memory"],
                    float(item["score"]),
                    metadata,
                )
            )
        return hits

    def _cache(self) -> VectorCache | None:
        from bmo.index.cached_store import CachedStore

        store = self._connection.connected().vector_store
        return store.cache if isinstance(store, CachedStore) else None


def _gated(
    categories: Sequence[Category], *, include_held: bool = False, domains: Sequence[str] = ()
) -> dict[str, Any]:
    """Filters for facts that the write gate let through."""
    verdicts = ["allow", "hold"] if include_held else ["allow"]
    filters: dict[str, Any] = {"mode": "gated", "write_verdict": {"in": verdicts}}
    if categories:
        filters["category"] = {"in": list(categories)}
    if domains:
        filters["domain"] = {"in": [*domains, ""]}
    return filters
