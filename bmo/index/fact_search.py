"""Reading the index: what is near in meaning, what is there, how much."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from bmo.index.connection import IndexAccess
from bmo.index.entries import IndexHit, hit_of, scan
from bmo.index.ownership import OWNER_POINT, is_owner
from bmo.settings import checked_user_id
from bmo.turn import storable

_GATED = {"mode": "gated", "write_verdict": "allow"}
"""Facts that the write gate let through."""

logger = logging.getLogger(__name__)


class FactSearch(IndexAccess):
    """The index's side for whoever reads it; every hit's user is checked again."""

    def search(
        self, user_id: str, query: str, *, top_k: int, threshold: float, raw: bool = False
    ) -> list[IndexHit]:
        """The memories of a user nearest in meaning, by Mem0's own search.

        Args:
            user_id: Whose memories.
            query: Words to search for; without any nothing is found.
            top_k: Hits at most.
            threshold: Least cosine similarity, 0..1.
            raw: Turns as they were said, too, and not only what the write gate let through.

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        checked_user_id(user_id)
        words = storable(query).strip()
        if not words or top_k <= 0:
            return []
        with self._reading():
            found = self.memory().search(
                words,
                top_k=top_k,
                threshold=min(max(threshold, 0.0), 1.0),
                filters={**({} if raw else _GATED), "user_id": user_id},
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

    def near(
        self,
        user_id: str,
        query: str,
        *,
        top_k: int,
        threshold: float,
        domains: Sequence[str] = (),
        asked: str = "",
    ) -> list[tuple[str, float]]:
        """Which facts of a user are near in meaning, and how near, nearest first.

        Args:
            user_id: Whose facts.
            query: Words to search for; without any nothing is found.
            top_k: Facts at most.
            threshold: Least cosine similarity, 0..1.
            domains: Facts of these topics and facts of none; empty means all.
            asked: The words that the query answers, where it means little without them.

        Returns:
            (fact id, cosine).

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        checked_user_id(user_id)
        words = storable(query).strip()
        if not words or top_k <= 0:
            return []
        vector = self.embedder.embed([words], [storable(asked)])[0]
        filters: dict[str, Any] = {**_GATED, "user_id": user_id}
        if domains:
            filters["domain"] = {"in": [*domains, ""]}
        with self._reading() as store:
            entries = store.search(words, vector.tolist(), top_k, filters)
        return [
            (str(entry.payload["fact_id"]), min(float(entry.score), 1.0))
            for entry in entries
            if entry.payload.get("user_id") == user_id and entry.score >= threshold
        ]

    def count(self, user_id: str | None = None) -> int:
        """Number of entries, of one user or of all."""
        with self._reading() as store:
            if user_id is not None:
                return store.count({"user_id": checked_user_id(user_id)})
            return store.count({}) - len(store.found([OWNER_POINT]))

    def entries(self, user_id: str | None = None) -> Iterator[IndexHit]:
        """Every entry of a user, or of all users, in no order; scores are 0."""
        filters = {} if user_id is None else {"user_id": checked_user_id(user_id)}
        with self._reading() as store:
            for entry in scan(store, filters):
                if not is_owner(entry):
                    yield hit_of(entry)
