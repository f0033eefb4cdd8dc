"""A store and Mem0 around it: connected when first needed, and again after a failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from bmo import telemetry
from bmo.index.backends import backend_of, collection_name, inference_of, open_store
from bmo.index.embedders import Embedder
from bmo.index.entries import EntryStore, Filters
from bmo.index.errors import (
    IndexLost,
    IndexOfAnother,
    IndexUnavailable,
    first_line,
    has_lost,
    meaning_of,
)
from bmo.index.ownership import IndexOwner, check_owner
from bmo.settings import Settings

if TYPE_CHECKING:
    from mem0 import Memory

    from bmo.index.mem0_parts import Gathered

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 30.0
"""How long an unreachable server is left alone, from the first failure to the last."""


class IndexAccess:
    """One store and its Mem0 ``Memory``, for readers and for one writer at a time.

    Safe from any thread.

    Attributes:
        collection: Name of the collection: embedder and dimensions are in it.
        embedder: Makes the vectors.
        backend: "edge", "local" (qdrant-client's local mode) or "server".
        inference: The model of Mem0's own extraction (MEM0_SETTING=NORMAL with a key), or None.
        unavailable: Why it cannot be used now, or "".
    """

    def __init__(
        self, settings: Settings, embedder: Embedder, owner: IndexOwner | None = None
    ) -> None:
        """Nothing is opened yet.

        Args:
            settings: Where the store is.
            embedder: Makes the vectors.
            owner: The ledger whose copy it is; None asks nobody (to look at it, in tests).
        """
        self.backend = backend_of(settings)
        self.collection = collection_name(embedder)
        self.embedder = embedder
        self.inference = inference_of(settings)
        self.unavailable = ""
        self._settings = settings
        self._server = self.backend == "server"  # worth trying again later
        self._owner = owner
        self._ready = owner is None
        self._writer = threading.RLock()
        self._connecting = threading.Lock()
        self._store: EntryStore | None = None
        self._mem0: tuple[Memory, Memory, Gathered] | None = None
        self._retry_at = 0.0
        self._retry_s = FIRST_RETRY_S
        self._closed = False

    @contextmanager
    def _reading(self) -> Iterator[EntryStore]:
        """The store, for one call or a few.

        Raises:
            IndexLost: The server has lost the collection; it is made again at the next call.
            IndexUnavailable: It cannot be reached, now or in the middle of the work.
        """
        store = self.connected()
        try:
            yield store
        except self._errors() as error:
            raise self._failed(error) from error
        self.unavailable, self._retry_s = "", FIRST_RETRY_S

    @contextmanager
    def _writing(self) -> Iterator[EntryStore]:
        with self._writer, self._reading() as store:
            yield store

    def _remove(self, filters: Filters) -> int:
        """Removes what matches; returns how much it was."""
        with self._writing() as store:
            return store.delete_matching(filters)

    def connected(self) -> EntryStore:
        """The store, connected; an unreachable server is tried again after a while.

        Raises:
            IndexUnavailable: It cannot be reached, or it is too early to try again.
            IndexOfAnother: It belongs to another ledger.
        """
        store = self._store
        if self._closed:
            raise IndexUnavailable("The index is closed; open the memory service again.")
        if store is not None and self._ready and not self.unavailable:
            return store
        if self.unavailable and time.monotonic() < self._retry_at:
            raise IndexUnavailable(self.unavailable)
        with self._connecting:
            try:
                if self._store is None:
                    self._store = open_store(
                        self._settings, self.backend, self.collection, self.embedder.dims
                    )
                elif not self._ready:
                    self._store.ensure()
            except self._errors() as error:
                raise self._failed(error) from error
            except IndexUnavailable as error:  # a setting is wrong
                self._leave_alone(str(error))
                raise
            if not self._ready:
                self._check_owner(self._store)
            return self._store

    def memory(self) -> Memory:
        """Mem0 around the store."""
        return self._built()[0]

    def gathering(self) -> tuple[Memory, Gathered]:
        """Mem0 around what gathers its entries; for one thread at a time."""
        return self._built()[1:]

    def _built(self) -> tuple[Memory, Memory, Gathered]:
        """Mem0, made when first needed: who only counts does without it."""
        store = self.connected()
        with self._connecting:
            if self._mem0 is None:
                from bmo.index.mem0_parts import Gathered, build_memory

                name, gathered = self.collection, Gathered(self.embedder.dims)
                own = build_memory(store, self.embedder, name, self.inference)
                self._mem0 = own, build_memory(gathered, gathered, name), gathered
            return self._mem0

    @property
    def times_made(self) -> int:
        """How often this process made the server's collection: 0 while there was one."""
        return getattr(self._store, "made", 0)

    def confirm_owner(self) -> None:
        """Asks again whose a server's collection is, before much is written.

        Raises:
            IndexOfAnother: It is another ledger's now.
            IndexUnavailable: It cannot be reached.
        """
        if self._server and self._owner is not None:
            store = self.connected()
            with self._connecting:
                self._check_owner(store)

    def _check_owner(self, store: EntryStore) -> None:
        if self._owner is None:
            return
        try:
            check_owner(store, self._owner, self.collection, self.embedder.dims)
        except IndexOfAnother as error:
            self._ready = False
            self._leave_alone(str(error))
            raise
        except self._errors() as error:
            raise self._failed(error) from error
        self._ready = True

    def _failed(self, error: Exception) -> IndexUnavailable:
        if not self._server:
            return IndexUnavailable(
                f"The index failed ({first_line(error)}); if it stays so, `bmo reindex` rebuilds "
                "it from the ledger."
            )
        if has_lost(error):
            if self._ready:
                telemetry.note("bmo_index_lost")
            self.unavailable = (
                f"The Qdrant server of QDRANT_URL has lost the collection {self.collection}; it "
                "is made again and filled from the ledger by itself."
            )
            self._retry_at, self._ready = 0.0, self._owner is None
            return IndexLost(self.unavailable)
        # It may come back without its storage, and somebody else may be first there.
        self._ready = self._owner is None
        wrong, fix = meaning_of(error)
        self._leave_alone(f"The Qdrant server of QDRANT_URL {wrong}; {fix}")
        return IndexUnavailable(self.unavailable)

    def _leave_alone(self, why: str) -> None:
        """For a while, each time twice as long."""
        self.unavailable = why
        self._retry_at = time.monotonic() + self._retry_s
        self._retry_s = min(self._retry_s * 2, LAST_RETRY_S)

    def _errors(self) -> tuple[type[Exception], ...]:
        """What a store that cannot be reached raises; OSError covers the local files."""
        if not self._server:
            return (OSError,)
        # qdrant-client wraps what httpx raises; without a server it is not imported at all.
        from qdrant_client.http.exceptions import ApiException

        return (ApiException, OSError)

    def close(self) -> None:
        """Closes Mem0, its model and the store. Safe to call twice."""
        with self._connecting:
            if self._closed:
                return
            self._closed = True
            mem0, self._mem0 = self._mem0, None
            with ExitStack() as rest:
                if self._store is not None:
                    rest.callback(self._store.close)
                for memory in mem0[:2] if mem0 is not None else ():
                    rest.callback(memory.llm.close)
                    rest.callback(memory.close)
