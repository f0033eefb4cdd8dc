"""MemoryIndex: the live facts in Mem0 on Qdrant, for search by meaning."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from bmo.index.access import storable
from bmo.index.backends import collection_name, has_edge, open_edge, open_local, open_server
from bmo.index.connection import Connection
from bmo.index.embedders import Embedder, open_embedder
from bmo.index.entries import EntryStore
from bmo.index.errors import IndexUnavailable
from bmo.index.fact_search import FactSearch
from bmo.index.gathering import add_together
from bmo.index.hits import Metadata, fact_metadata
from bmo.index.inference import Inference, inference_of
from bmo.index.mem0_history import remove_history_files
from bmo.index.ownership import IndexOwner
from bmo.index.raw_turns import RawTurns
from bmo.index.stale_stores import drop_stale_stores
from bmo.index.store_lock import StoreLock
from bmo.settings import Settings, checked_user_id, quiet_third_parties
from bmo.turn import StoredFact


class MemoryIndex(FactSearch, RawTurns):
    """Mem0 (``infer=False``) on Qdrant Edge, or on a Qdrant server. Safe from any thread.

    Filters are built in the index and nowhere else. Nothing said is kept anywhere but in the
    store: Mem0's own history and messages are not written (see ``mem0_history``).

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
        self.complete = True
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

    def add_many(self, facts: Sequence[tuple[StoredFact, Metadata]]) -> list[str]:
        """Writes facts that have no entry yet, in one write.

        Args:
            facts: The ledger's rows, each with what the write gate said.

        Returns:
            Mem0's ids, in the order of ``facts``.

        Raises:
            IndexUnavailable: The store cannot be reached.
            EmbedderUnavailable: There are no vectors now; nothing is written.
        """
        entries = [
            (
                checked_user_id(fact.user_id),
                storable(fact.text),
                {**fact_metadata(fact), **metadata},
            )
            for fact, metadata in facts
        ]
        with self._writing() as (_, store):
            return add_together(store, self.embedder, self.collection, entries)

    def delete(self, user_id: str, index_id: str) -> None:
        """Removes an entry; one that is not there is fine.

        The store's files keep its bytes until ``compact``.

        Args:
            user_id: Whose entry.
            index_id: Mem0's id.

        Raises:
            ValueError: The entry is another user's.
            IndexUnavailable: The store cannot be reached.
        """
        checked_user_id(user_id)
        self._connection.last.clear()
        with self._writing() as (memory, store):
            entry = store.get(index_id)
            if entry is not None:
                if (entry.payload or {}).get("user_id") != user_id:
                    raise ValueError(f"memory {index_id!r} does not belong to {user_id!r}")
                memory.delete(index_id)

    def delete_fact(self, user_id: str, fact_id: str) -> int:
        """Removes every entry of a fact, by the fact's id; returns how many there were."""
        checked_user_id(user_id)
        self._connection.last.clear()
        with self._writing() as (_, store):
            entries = store.find({"user_id": user_id, "fact_id": fact_id}, 100)
            for entry in entries:
                self.delete(user_id, entry.id)
            return len(entries)

    def delete_user(self, user_id: str) -> int:
        """Removes everything of a user, raw turns included; returns how many entries."""
        checked_user_id(user_id)
        self._connection.last.clear()
        with self._writing() as (_, store):
            ids = [entry.id for entry in store.scan({"user_id": user_id})]
            for start in range(0, len(ids), 500):
                store.delete_many(ids[start : start + 500])
            return len(ids)

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
