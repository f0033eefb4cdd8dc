"""MemoryIndex: the live facts in Mem0 on Qdrant, for search by meaning."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bmo.index.access import storable
from bmo.index.backends import collection_name, has_edge, open_edge, open_local, open_server
from bmo.index.connection import Connection
from bmo.index.embedders import Embedder, open_embedder
from bmo.index.entries import EntryStore, point_of
from bmo.index.errors import IndexUnavailable
from bmo.index.fact_search import FactSearch
from bmo.index.hits import IndexHit, Metadata, fact_metadata, hit_of
from bmo.index.inference import Inference, inference_of
from bmo.index.mem0_history import remove_history_files
from bmo.index.ownership import IndexOwner, is_owner
from bmo.index.raw_turns import RawTurns
from bmo.index.stale_stores import drop_stale_stores
from bmo.index.store_lock import StoreLock
from bmo.settings import Settings, checked_user_id, quiet_third_parties
from bmo.turn import StoredFact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MemoryIndex(FactSearch, RawTurns):
    """Mem0 (``infer=False``) on Qdrant Edge, or on a Qdrant server. Safe from any thread.

    Filters are built in the index and nowhere else. Nothing said is kept anywhere but in the
    store: Mem0's own history and messages are not written (see ``mem0_history``).

    Attributes:
        collection: Name of the collection: embedder and dimensions are in it.
        embedder: Makes the vectors.
        backend: "edge", "local" (qdrant-client's local mode) or "server".
        notice: A sentence for people about how it was opened, or "".
        inference: The model of Mem0's own extraction (MEM0_SETTING=NORMAL with a key), or None.
    """

    def __init__(
        self,
        embedder: Embedder,
        backend: str,
        home: Path,
        open_store: Callable[[], EntryStore],
        lock: StoreLock | None,
        collection: str,
        inference: Inference | None = None,
        owner: IndexOwner | None = None,
    ) -> None:
        """Use ``open``."""
        connection = Connection(
            open_store,
            embedder,
            collection,
            server=backend == "server",
            inference=inference,
            owner=owner,
        )
        super().__init__(connection, backend, embedder, inference)
        self.collection = collection
        self.notice = ""
        self._home = home
        self._store_lock = lock
        self._own_embedder: Embedder | None = None
        self._dropping = threading.Lock()
        self._closed = False

    @classmethod
    def open(
        cls,
        settings: Settings,
        embedder: Embedder | None = None,
        *,
        owner: IndexOwner | None = None,
    ) -> MemoryIndex:
        """Opens the index the settings name.

        Args:
            settings: ``QDRANT_URL`` selects a server; otherwise Qdrant Edge in ``BMO_HOME``, or
                qdrant-client's local mode where Edge has no wheel.
            embedder: Makes the vectors; its name and dimensions are in the collection's name. It
                stays its owner's. None opens the one that the settings name, which is closed with
                the index.
            owner: The ledger whose copy it is to be; None for a look from outside, which must not
                write.

        Returns:
            The index. A server that cannot be reached, or holds another ledger's index, gives an
            index that is ``unavailable`` and tries again by itself.

        Raises:
            StoreInUse: Another process owns the embedded store.
            IndexOfAnother: The embedded store is another ledger's.
            IndexUnavailable: The embedded store is damaged or cannot be written.
            EmbedderUnavailable: There is none of the name in the settings.
        """
        quiet_third_parties(settings.bmo_home)
        remove_history_files(settings.bmo_home / "mem0")
        if embedder is not None:
            return cls._open(settings, embedder, owner)
        own = open_embedder(settings)
        try:
            index = cls._open(settings, own, owner)
        except BaseException:
            own.close()
            raise
        index._own_embedder = own
        return index

    @classmethod
    def _open(cls, settings: Settings, embedder: Embedder, owner: IndexOwner | None) -> MemoryIndex:
        collection = collection_name(embedder)
        if settings.qdrant_url is not None:
            return cls._open_server(settings, embedder, collection, owner)
        return cls._open_embedded(settings, embedder, collection, owner)

    @classmethod
    def _open_server(
        cls, settings: Settings, embedder: Embedder, collection: str, owner: IndexOwner | None
    ) -> MemoryIndex:
        index = cls(
            embedder,
            "server",
            settings.bmo_home,
            lambda: open_server(settings, collection, embedder.dims),
            None,
            collection,
            inference_of(settings),
            owner,
        )
        try:
            index._connection.connected()
        except IndexUnavailable as error:
            index.notice = str(error)
        return index

    @classmethod
    def _open_embedded(
        cls, settings: Settings, embedder: Embedder, collection: str, owner: IndexOwner | None
    ) -> MemoryIndex:
        backend = "edge" if has_edge() else "local"
        directory = settings.bmo_home / f"qdrant-{backend}"
        lock = StoreLock(directory)
        opener = open_edge if backend == "edge" else open_local
        index = cls(
            embedder,
            backend,
            settings.bmo_home,
            lambda: opener(directory / collection, collection, embedder.dims),
            lock,
            collection,
            inference_of(settings),
            owner,
        )
        if backend == "local":
            index.notice = (
                "Qdrant Edge has no wheel for this platform; using qdrant-client's local mode, "
                "which is slow from some thousand memories on: set QDRANT_URL then."
            )
        try:
            index._connection.connected()
        except BaseException:
            index._connection.close()
            lock.release()
            raise
        return index

    @property
    def unavailable(self) -> str:
        """Why the index cannot be used now, or ""."""
        return self._connection.down

    def try_again(self, *, at_once: bool = False) -> bool:
        """Connects again if it is time to, or at once; returns whether the index can be used."""
        if at_once:
            self._connection.end_rest()
        try:
            self.count()
        except IndexUnavailable:
            return False
        return True

    def confirm_owner(self) -> None:
        """Asks a server again whose the collection is; to be called before much is written.

        Raises:
            IndexOfAnother: Another ledger has taken it over.
            IndexUnavailable: The server cannot be reached.
        """
        self._connection.confirm_owner()

    # -- writing -------------------------------------------------------------------------------

    def add(self, fact: StoredFact, metadata: Metadata) -> str:
        """Writes a fact, once: see ``add_many``."""
        return self.add_many([(fact, metadata)])[0]

    def add_many(self, facts: Sequence[tuple[StoredFact, Metadata]]) -> list[str]:
        """Writes facts in one write; an entry that one of them has already is replaced.

        Args:
            facts: The ledger's rows, each with what the write gate said (see ``gate_metadata``).

        Returns:
            Ids of the entries, in the order of ``facts``.

        Raises:
            IndexUnavailable: The store cannot be reached.
            EmbedderUnavailable: There are no vectors now; nothing is written.
        """
        texts = [storable(fact.text) for fact, _ in facts]
        points = [point_of(fact.id) for fact, _ in facts]
        for fact, _ in facts:
            checked_user_id(fact.user_id)
        with self._reading() as (_, store):
            vectors = self._vectors(texts)
            with self._writer:
                memory, gathered, last = self._connection.gathering()
                for (fact, metadata), text, vector in zip(facts, texts, vectors, strict=True):
                    last.keep(text, vector)
                    self._add(memory, fact.user_id, text, {**fact_metadata(fact), **metadata})
                made, payloads = gathered.take()
            store.insert(made, payloads, points)
            # An earlier version gave entries ids of their own.
            old = {fact.index_id for fact, _ in facts if fact.index_id} - set(points)
            store.delete_many(sorted(old))
        return points

    def delete_fact(self, user_id: str, fact_id: str) -> int:
        """Removes every entry of a fact, by the fact's id; returns how many there were.

        The store's files keep its bytes until ``compact``.
        """
        return self._remove({"user_id": checked_user_id(user_id), "fact_id": fact_id})

    def delete_user(self, user_id: str) -> int:
        """Removes everything of a user, raw turns included; returns how many entries."""
        return self._remove({"user_id": checked_user_id(user_id)})

    # -- comparing with the ledger -------------------------------------------------------------

    def count_facts(self) -> int:
        """Number of the facts' entries, of all users; raw turns are left out."""
        with self._reading() as (_, store):
            return store.count({"mode": "gated"})

    def lacks(self, facts: Sequence[StoredFact]) -> list[StoredFact]:
        """Which of some facts have no entry."""
        ids = {fact.id: fact.index_id or point_of(fact.id) for fact in facts}
        with self._reading() as (_, store):
            there = store.present(sorted(ids.values()))
        return [fact for fact in facts if ids[fact.id] not in there]

    def entries_after(self, after: str, limit: int) -> tuple[list[IndexHit], str]:
        """Some entries of all users in the order of their ids, and where to go on ("": nowhere)."""
        with self._reading() as (_, store):
            entries, behind = store.page({}, limit, after or None)
        return [hit_of(entry) for entry in entries if not is_owner(entry)], behind or ""

    def remove_entries(self, index_ids: Sequence[str]) -> None:
        """Removes entries that no live fact has."""
        self._connection.last.clear()
        with self._writing() as (_, store):
            store.delete_many(index_ids)

    @property
    def times_made(self) -> int:
        """How often this process made the server's collection: 0 while there was one."""
        return self._connection.times_made

    def compact(self) -> bool:
        """Rewrites the files so that what was deleted before leaves no bytes in them.

        Reading and writing go on meanwhile.

        Returns:
            False for a server, whose own optimizer does that in its time.

        Raises:
            IndexUnavailable: It cannot be done now; the files are as they were.
        """
        self._connection.last.clear()
        with self._reading() as (_, store):
            return store.compact()

    def _vectors(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Vectors of texts; one that was compared a moment ago has its vector already."""
        known = {text: self._connection.last.take(text) for text in dict.fromkeys(texts)}
        new = [text for text, vector in known.items() if vector is None]
        made = dict(zip(new, self.embedder.embed(new), strict=True)) if new else {}
        return [made[text] if (vector := known[text]) is None else vector for text in texts]

    def drop_stale(self) -> int:
        """Removes embedded stores of another embedder or backend, which nothing uses any more.

        They are copies of the ledger, and nothing that is erased later would be erased there.

        Returns:
            Number of collections removed; those of a running process are left alone.
        """
        with self._dropping:
            return drop_stale_stores(self._home, self.backend, self.collection)

    def drop(self) -> None:
        """Removes all entries of all users from this collection."""
        with self._writing() as (_, store):
            store.drop()
            self._connection.mark_owner(store)

    def close(self) -> None:
        """Closes Mem0, the store and its own embedder, and gives the lock back; safe twice."""
        with self._writer:
            if self._closed:
                return
            self._closed = True
            self._connection.close()
            if self._own_embedder is not None:
                self._own_embedder.close()
            if self._store_lock is not None:
                self._store_lock.release()
