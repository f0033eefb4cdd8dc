"""MemoryIndex: the live facts in Mem0 on Qdrant, for search by meaning."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmo.index.backends import collection_name, has_edge, open_edge, open_local, open_server
from bmo.index.connection import Connection
from bmo.index.embedders import Embedder
from bmo.index.entries import EntryStore
from bmo.index.errors import IndexUnavailable
from bmo.index.hits import IndexHit, Metadata, fact_metadata
from bmo.index.inference import Inference, inference_of
from bmo.index.raw_turns import RawTurns, storable
from bmo.index.store_lock import StoreLock
from bmo.settings import Settings, checked_user_id, quiet_third_parties
from bmo.turn import Category, StoredFact

if TYPE_CHECKING:
    from mem0 import Memory

    from bmo.index.vector_cache import VectorCache

logger = logging.getLogger(__name__)


class MemoryIndex(RawTurns):
    """Mem0 (``infer=False``) on Qdrant Edge, or on a Qdrant server. Safe from any thread.

    Filters are built here and nowhere else; every hit's user is checked again.

    Attributes:
        collection: Name of the collection: embedder and dimensions are in it.
        embedder: Makes the vectors.
        backend: "edge", "local" (qdrant-client's local mode) or "server".
        notice: A sentence for people about how it was opened, or "".
        complete: False while it is being filled from the ledger, after a change of embedder or
            a lost store; search the ledger's words as well then. Set by the recorder.
        inference: The model of Mem0's own extraction (MEM0_SETTING=NORMAL with a key), or None.
    """

    def __init__(
        self,
        embedder: Embedder,
        backend: str,
        history_db: Path,
        open_store: Callable[[], EntryStore],
        lock: StoreLock | None,
        collection: str,
        inference: Inference | None = None,
    ) -> None:
        """Use ``open``."""
        self.collection = collection
        self.embedder = embedder
        self.backend = backend
        self.notice = ""
        self.complete = True
        self.inference = inference
        self._history_db = history_db
        self._store_lock = lock
        self._writer = threading.RLock()
        self._closed = False
        self._connection = Connection(
            open_store,
            embedder,
            collection,
            history_db,
            server=backend == "server",
            inference=inference,
        )

    @classmethod
    def open(cls, settings: Settings, embedder: Embedder) -> MemoryIndex:
        """Opens the index the settings name.

        Args:
            settings: ``QDRANT_URL`` selects a server; otherwise Qdrant Edge in ``BMO_HOME``, or
                qdrant-client's local mode where Edge has no wheel.
            embedder: Makes the vectors; its name and dimensions are in the collection's name.

        Returns:
            The index. A server that cannot be reached gives an index that is ``unavailable`` and
            tries again by itself.

        Raises:
            StoreInUse: Another process owns the embedded store.
            IndexUnavailable: The embedded store is damaged or cannot be written.
        """
        quiet_third_parties(settings.bmo_home)
        collection = collection_name(embedder)
        history_db = settings.bmo_home / "mem0" / f"history-{collection}.db"
        if settings.qdrant_url is not None:
            index = cls(
                embedder,
                "server",
                history_db,
                lambda: open_server(settings, collection, embedder.dims),
                None,
                collection,
                inference_of(settings),
            )
            try:
                index._connection.connected()
            except IndexUnavailable as error:
                index.notice = str(error)
            return index
        return cls._open_embedded(settings, embedder, collection, history_db)

    @classmethod
    def _open_embedded(
        cls, settings: Settings, embedder: Embedder, collection: str, history_db: Path
    ) -> MemoryIndex:
        backend = "edge" if has_edge() else "local"
        directory = settings.bmo_home / f"qdrant-{backend}"
        lock = StoreLock(directory)
        opener = open_edge if backend == "edge" else open_local
        index = cls(
            embedder,
            backend,
            history_db,
            lambda: opener(directory / collection, collection, embedder.dims),
            lock,
            collection,
            inference_of(settings),
        )
        if backend == "local":
            index.notice = (
                "Qdrant Edge has no wheel for this platform; using qdrant-client's local mode, "
                "which is slow from some thousand memories on: set QDRANT_URL then."
            )
        try:
            index._connection.connected()
        except BaseException:
            lock.release()
            raise
        return index

    @property
    def unavailable(self) -> str:
        """Why the index cannot be used now, or ""."""
        return self._connection.down

    def try_again(self) -> bool:
        """Connects again if it is time to; returns whether the index can be used."""
        try:
            self.count()
        except IndexUnavailable:
            return False
        return True

    # -- writing -------------------------------------------------------------------------------

    def add(self, fact: StoredFact, metadata: Metadata) -> str:
        """Writes a fact, once: an entry of the same fact is brought up to date instead.

        Args:
            fact: The ledger's row.
            metadata: What the write gate said (see ``gate_metadata``).

        Returns:
            Mem0's id.

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        user_id = checked_user_id(fact.user_id)
        entry = {**fact_metadata(fact), **metadata}
        with self._writing() as (memory, store):
            found = store.find({"user_id": user_id, "fact_id": fact.id}, 2)
            if found:
                store.delete_many([double.id for double in found[1:]])
                memory.update(found[0].id, text=storable(fact.text), metadata=entry)
                return found[0].id
            return self._add(memory, user_id, fact.text, entry)

    def delete(self, user_id: str, index_id: str, *, purge: bool = False) -> None:
        """Removes an entry; one that is not there is fine.

        Args:
            user_id: Whose entry.
            index_id: Mem0's id.
            purge: Mem0's own history of it goes too. The store's files keep the bytes until
                ``compact``.

        Raises:
            ValueError: The entry is another user's.
            IndexUnavailable: The store cannot be reached.
        """
        checked_user_id(user_id)
        with self._writing() as (memory, store):
            entry = store.get(index_id)
            if entry is not None:
                if (entry.payload or {}).get("user_id") != user_id:
                    raise ValueError(f"memory {index_id!r} does not belong to {user_id!r}")
                memory.delete(index_id)
            if purge:
                self._purge_history([index_id])

    def delete_fact(self, user_id: str, fact_id: str, *, purge: bool = False) -> int:
        """Removes every entry of a fact, by the fact's id; returns how many there were."""
        checked_user_id(user_id)
        with self._writing() as (_, store):
            entries = store.find({"user_id": user_id, "fact_id": fact_id}, 100)
            for entry in entries:
                self.delete(user_id, entry.id, purge=purge)
            return len(entries)

    def delete_user(self, user_id: str) -> dict[str, int]:
        """Removes everything of a user, raw turns and Mem0's history and messages included.

        Returns:
            Place -> number of entries removed there.
        """
        checked_user_id(user_id)
        with self._writing() as (_, store):
            ids = [entry.id for entry in store.scan({"user_id": user_id})]
            for start in range(0, len(ids), 500):
                store.delete_many(ids[start : start + 500])
            return {
                "index": len(ids),
                "mem0_history": self._purge_history(ids),
                "mem0_messages": self._purge_messages(user_id),
            }

    def purge_history(self, index_ids: Sequence[str]) -> int:
        """Removes Mem0's history of entries; returns the number of rows."""
        with self._writer:
            return self._purge_history(index_ids)

    def compact(self) -> bool:
        """Rewrites the files so that deleted entries leave no bytes in them.

        Returns:
            False for a server, whose own optimizer does that in its time.
        """
        from bmo.index.mem0_history import vacuum_history

        with self._writing() as (_, store):
            vacuum_history(self._history_db)
            return store.compact()

    def drop_stale(self) -> int:
        """Removes embedded stores that are no longer used: of another embedder or backend.

        They are copies of the ledger, and nothing that is erased later would be erased there.

        Returns:
            Number of collections removed; those of a running process are left alone.
        """
        home = self._history_db.parent.parent
        removed = 0
        for backend in ("edge", "local"):
            directory = home / f"qdrant-{backend}"
            if not directory.is_dir():
                continue
            try:
                lock = None if backend == self.backend else StoreLock(directory)
            except IndexUnavailable:
                continue
            for stale in directory.glob("bmo-*"):
                if backend != self.backend or stale.name != self.collection:
                    shutil.rmtree(stale)
                    removed += 1
            if lock is not None:
                lock.release()
        for history in self._history_db.parent.glob("history-*.db"):
            if history != self._history_db:
                history.unlink()
        return removed

    def drop(self) -> None:
        """Removes all entries of all users from this collection, and Mem0's history."""
        with self._writing() as (memory, store):
            store.drop()
            memory.db.connection.execute("DELETE FROM history")
            memory.db.connection.commit()

    # -- reading -------------------------------------------------------------------------------

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

        Returns:
            (fact id, cosine).

        Raises:
            IndexUnavailable: The store cannot be reached.
        """
        checked_user_id(user_id)
        words = storable(query).strip()
        if not words or top_k <= 0:
            return []
        cache = self._cache()
        if cache is not None and not cache.has(user_id):
            cache.preload(user_id)
        elif cache is not None:
            found = cache.search(
                user_id,
                self.embedder.embed([words])[0],
                top_k=top_k,
                threshold=min(max(threshold, 0.0), 1.0),
                filters=_gated(categories, domains=domains),
            )
            if found is not None:
                return [(fact_id, score) for fact_id, score in found if fact_id]
        hits = self.search(user_id, query, top_k=top_k, threshold=threshold, categories=categories)
        return [(hit.fact_id, hit.score) for hit in hits if hit.fact_id]

    def search_raw(
        self, user_id: str, query: str, *, top_k: int, threshold: float
    ) -> list[IndexHit]:
        """The memories of a user nearest in meaning, raw turns included."""
        return self._search(user_id, query, top_k, threshold, {})

    def find(self, user_id: str, fact_id: str) -> str | None:
        """Mem0's id of a fact's entry, or None."""
        checked_user_id(user_id)
        with self._reading() as (_, store):
            found = store.find({"user_id": user_id, "fact_id": fact_id}, 1)
        return found[0].id if found else None

    def count(self, user_id: str | None = None) -> int:
        """Number of entries, of one user or of all."""
        filters = {} if user_id is None else {"user_id": checked_user_id(user_id)}
        with self._reading() as (_, store):
            return store.count(filters)

    def entries(self, user_id: str | None = None) -> Iterator[IndexHit]:
        """Every entry of a user, or of all users, in no order; scores are 0."""
        filters = {} if user_id is None else {"user_id": checked_user_id(user_id)}
        with self._reading() as (_, store):
            for entry in store.scan(filters):
                payload = dict(entry.payload)
                text = payload.pop("data", "")
                yield IndexHit(payload.get("fact_id", ""), entry.id, text, 0.0, payload)

    def close(self) -> None:
        """Closes Mem0 and the store, and gives the lock back. Safe to call twice."""
        with self._writer:
            if self._closed:
                return
            self._closed = True
            self._connection.close()
            if self._store_lock is not None:
                self._store_lock.release()

    # -- inside --------------------------------------------------------------------------------

    def _add(self, memory: Memory, user_id: str, text: str, entry: dict[str, Any]) -> str:
        # One message per add: a list is one memory per message, and only the first id is known.
        result = memory.add(storable(text), user_id=user_id, metadata=entry, infer=False)
        return str(result["results"][0]["id"])

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

    def _purge_history(self, index_ids: Sequence[str]) -> int:
        from bmo.index.mem0_history import purge_history

        return purge_history(self._history_db, index_ids)

    def _purge_messages(self, user_id: str) -> int:
        from bmo.index.mem0_history import purge_messages

        return purge_messages(self._history_db, user_id)

    @contextmanager
    def _writing(self) -> Iterator[tuple[Memory, EntryStore]]:
        with self._writer, self._reading() as parts:
            yield parts

    @contextmanager
    def _reading(self) -> Iterator[tuple[Memory, EntryStore]]:
        with self._connection.parts() as parts:
            yield parts


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
