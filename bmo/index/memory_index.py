"""MemoryIndex: the live facts in Mem0 on Qdrant, for search by meaning."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from types import MappingProxyType
from typing import Final

import numpy as np

from bmo.index.backends import backend_of
from bmo.index.embedded_files import StoreLock, drop_stale_stores, remove_history_files
from bmo.index.embedders import Embedder, EmbedderUnavailable, UnopenedEmbedder, open_embedder
from bmo.index.entries import IndexHit, Metadata, agrees, fact_metadata, hit_of, point_of
from bmo.index.errors import IndexDamaged, IndexUnavailable, first_line
from bmo.index.fact_search import FactSearch
from bmo.index.ownership import IndexOwner, is_owner
from bmo.index.raw_turns import RawTurns
from bmo.settings import Settings, checked_user_id, quiet_third_parties
from bmo.turn import StoredFact, storable

LOCAL_MODE = (
    "Qdrant Edge has no wheel for this platform; using qdrant-client's local mode, "
    "which is slow from some thousand memories on: set QDRANT_URL then."
)


_KEPT: Final = np.dtype("<f2")
"""How a fact's vector is kept and written: at half precision, so that an entry that is made again
of what is kept is the same."""


class MemoryIndex(FactSearch, RawTurns):
    """Mem0 (``infer=False``) on Qdrant Edge, or on a Qdrant server. Safe from any thread.

    Filters are built in the index and nowhere else. Nothing said is kept anywhere but in the
    store: Mem0's own history and messages are not written (see ``NoHistory``).

    Attributes:
        notice: A sentence for people about how it was opened, or "".
    """

    def __init__(
        self,
        settings: Settings,
        embedder: Embedder,
        lock: StoreLock | None,
        owner: IndexOwner | None,
    ) -> None:
        """Use ``open``."""
        super().__init__(settings, embedder, owner)
        self.notice = LOCAL_MODE if self.backend == "local" else ""
        self._store_lock = lock
        self._own_embedder: Embedder | None = None
        self._dropping = threading.Lock()

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
        backend = backend_of(settings)
        embedded = backend != "server"
        lock = StoreLock(settings.bmo_home / f"qdrant-{backend}") if embedded else None
        index = cls(settings, embedder, lock, owner)
        try:
            index.connected()
        except BaseException as error:
            if lock is None and isinstance(error, IndexUnavailable):
                index.notice = str(error)  # a server is tried again
                return index
            index.close()
            raise
        return index

    @classmethod
    def discard_damaged(cls, settings: Settings) -> bool:
        """Removes the embedded store if its files cannot be read; the ledger has what was in it.

        Returns:
            Whether there was one that is removed now; a server's store is left alone.

        Raises:
            StoreInUse: Another process took the store in between.
        """
        if settings.qdrant_url is not None:
            return False
        try:
            cls.open(settings, UnopenedEmbedder(settings)).close()
        except IndexDamaged as damaged:
            with closing(StoreLock(damaged.directory.parent)):
                shutil.rmtree(damaged.directory)
            return True
        except (IndexUnavailable, EmbedderUnavailable):
            pass  # in use, no room, no model: whoever opens it next says so
        return False

    def try_again(self, *, at_once: bool = False) -> bool:
        """Connects again if it is time to, or at once; returns whether the index can be used."""
        if at_once:
            self._retry_at = 0.0
        try:
            self.count()
        except IndexUnavailable:
            return False
        return True

    # -- writing -------------------------------------------------------------------------------

    def add_many(
        self,
        facts: Sequence[tuple[StoredFact, Metadata]],
        kept: Mapping[str, bytes] = MappingProxyType({}),
    ) -> dict[str, bytes]:
        """Writes facts in one write; an entry that one of them has already is replaced.

        Args:
            facts: The ledger's rows, each with what the write gate said (see ``gate_metadata``).
            kept: Fact id -> its vector, where it was made before.

        Returns:
            Fact id -> its vector at half precision, of those that were made now.

        Raises:
            IndexUnavailable: The store cannot be reached.
            EmbedderUnavailable: There are no vectors now; nothing is written.
        """
        users = [checked_user_id(fact.user_id) for fact, _ in facts]
        with self._reading() as store:
            new = [fact for fact, _ in facts if fact.id not in kept]
            made = self._made_vectors(new)
            known = {**kept, **made}
            with self._writer:
                memory, gathered = self.gathering()
                for user_id, (fact, said) in zip(users, facts, strict=True):
                    gathered.next_vector = np.frombuffer(known[fact.id], _KEPT)
                    entry = {**fact_metadata(fact), **said}
                    memory.add(storable(fact.text), user_id=user_id, metadata=entry, infer=False)
                vectors, payloads = gathered.take()
            store.insert(vectors, payloads, [point_of(fact.id) for fact, _ in facts])
        return made

    def _made_vectors(self, facts: Sequence[StoredFact]) -> dict[str, bytes]:
        """Fact id -> the vector of its words."""
        if not facts:
            return {}
        asked, texts = ([storable(getattr(f, name)) for f in facts] for name in ("asked", "text"))
        vectors = self.embedder.embed(texts, asked).astype(_KEPT)
        return {fact.id: made.tobytes() for fact, made in zip(facts, vectors, strict=True)}

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
        with self._reading() as store:
            return store.count({"mode": "gated"})

    def wrong(
        self, facts: Sequence[tuple[StoredFact, Metadata]]
    ) -> list[tuple[StoredFact, Metadata]]:
        """Which of some facts have no entry, or one that says something else."""
        with self._reading() as store:
            entries = store.found([point_of(fact.id) for fact, _ in facts])
        there = {entry.id: entry.payload for entry in entries}
        return [
            (fact, said)
            for fact, said in facts
            if not agrees(there.get(point_of(fact.id), {}), storable(fact.text), fact, said)
        ]

    def entries_after(self, after: str, limit: int) -> tuple[list[IndexHit], str]:
        """Some entries of all users in the order of their ids, and where to go on ("": nowhere)."""
        with self._reading() as store:
            entries, behind = store.page({}, limit, after or None)
        return [hit_of(entry) for entry in entries if not is_owner(entry)], behind or ""

    def remove_entries(self, index_ids: Sequence[str]) -> None:
        """Removes entries that no live fact has."""
        with self._writing() as store:
            store.delete_many(index_ids)

    def compact(self) -> bool:
        """Rewrites the files so that what was deleted before leaves no bytes in them.

        Reading and writing go on meanwhile.

        Returns:
            False for a server, whose own optimizer does that in its time.

        Raises:
            IndexUnavailable: It cannot be done now; the files are as they were.
        """
        with self._reading() as store:
            return store.compact()

    def lay_out(self) -> None:
        """Has files, or a server's collection, laid out as they are made today.

        Raises:
            IndexUnavailable: It cannot be done now; all is as it was.
        """
        with self._reading() as store:
            store.lay_out()

    def drop_stale(self) -> int:
        """Removes embedded stores of another embedder or backend, which nothing uses any more.

        They are copies of the ledger, and nothing that is erased later would be erased there.

        Returns:
            Number of collections removed; those of a running process are left alone.
        """
        with self._dropping:
            return drop_stale_stores(self._settings.bmo_home, self.backend, self.collection)

    def close(self) -> None:
        """Closes Mem0, the store and its own embedder, and gives the lock back; safe twice.

        Raises:
            IndexUnavailable: The store could not write its last; all is closed nevertheless.
        """
        with self._writer, ExitStack() as rest:
            if self._store_lock is not None:
                rest.callback(self._store_lock.close)
            if self._own_embedder is not None:
                rest.callback(self._own_embedder.close)
            try:
                super().close()
            except OSError as error:
                why = first_line(error)[:60]
                raise IndexUnavailable(
                    f"The index could not write its last entries ({why}): see to its disk; the "
                    "next start compares it with the ledger."
                ) from error
