"""Mem0 around a store: connected when first needed, and again after a failure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bmo import telemetry
from bmo.index.embedders import Embedder
from bmo.index.entries import EntryStore
from bmo.index.errors import IndexLost, IndexOfAnother, IndexUnavailable
from bmo.index.gathering import GatheringStore
from bmo.index.inference import Inference
from bmo.index.last_vectors import LastVectors
from bmo.index.light_mem0 import import_mem0
from bmo.index.ownership import IndexOwner, check_owner
from bmo.index.server_failures import has_lost, meaning_of

if TYPE_CHECKING:
    from mem0 import Memory

FIRST_RETRY_S = 1.0
LAST_RETRY_S = 30.0
"""How long an unreachable server is left alone, from the first failure to the last."""


class Connection:
    """One Mem0 ``Memory`` and its store, for one owner. Safe from any thread.

    Attributes:
        down: Why it cannot be used now, or "".
        last: Vectors of the texts that were compared last.
    """

    def __init__(
        self,
        open_store: Callable[[], EntryStore],
        embedder: Embedder,
        collection: str,
        *,
        server: bool,
        inference: Inference | None = None,
        owner: IndexOwner | None = None,
    ) -> None:
        """Nothing is opened yet.

        Args:
            open_store: Opens the store; may raise what a server that does not answer raises.
            embedder: Makes the vectors.
            collection: Name of the collection.
            server: Whether it is worth trying again later.
            inference: The model of Mem0's own extraction, if it has one.
            owner: The ledger whose copy it is; None asks nobody (to look at it, in tests).
        """
        self.down = ""
        self.last = LastVectors()
        self._open_store = open_store
        self._embedder = embedder
        self._collection = collection
        self._server = server
        self._inference = inference
        self._owner = owner
        self._ready = owner is None
        self._connecting = threading.Lock()
        self._memory: Memory | None = None
        self._gathering: tuple[Memory, GatheringStore, LastVectors] | None = None
        self._retry_at = 0.0
        self._retry_s = FIRST_RETRY_S
        self._closed = False

    @contextmanager
    def parts(self) -> Iterator[tuple[Memory, EntryStore]]:
        """Mem0 and the store.

        Raises:
            IndexLost: The server has lost the collection; it is made again at the next call.
            IndexUnavailable: They cannot be reached, now or in the middle of the work.
        """
        memory = self.connected()
        try:
            yield memory, memory.vector_store
        except self._errors() as error:
            raise self._failed(error) from error
        self.down, self._retry_s = "", FIRST_RETRY_S

    def connected(self) -> Memory:
        """Mem0, connected; an unreachable server is tried again after a while.

        Raises:
            IndexUnavailable: It cannot be reached, or it is too early to try again.
            IndexOfAnother: It belongs to another ledger.
        """
        memory = self._memory
        if self._closed:
            raise IndexUnavailable("The index is closed; open the memory service again.")
        if memory is not None and self._ready and not self.down:
            return memory
        if self.down and time.monotonic() < self._retry_at:
            raise IndexUnavailable(self.down)
        with self._connecting:
            try:
                if self._memory is None:
                    self._memory = self._connect()
                elif not self._ready:
                    self._memory.vector_store.ensure()
            except self._errors() as error:
                raise self._failed(error) from error
            except IndexUnavailable as error:  # a setting is wrong
                self._leave_alone(str(error))
                raise
            if not self._ready:
                self._check_owner(self._memory.vector_store)
            return self._memory

    def end_rest(self) -> None:
        """Lets a server that is left alone for a while be tried again at once."""
        self._retry_at = 0.0

    def gathering(self) -> tuple[Memory, GatheringStore, LastVectors]:
        """Mem0 around what gathers its entries, and where it takes their vectors from.

        For one thread at a time.
        """
        if self._gathering is None:
            gathered, last = GatheringStore(), LastVectors()
            self._gathering = self._built(gathered, last), gathered, last
        return self._gathering

    @property
    def times_made(self) -> int:
        """How often this process made the server's collection."""
        return 0 if self._memory is None else getattr(self._memory.vector_store, "made", 0)

    def confirm_owner(self) -> None:
        """Asks again whose a server's collection is: another process may have taken it over.

        Raises:
            IndexOfAnother: It is another ledger's now.
            IndexUnavailable: It cannot be reached.
        """
        if self._server and self._owner is not None:
            memory = self.connected()
            with self._connecting:
                self._check_owner(memory.vector_store)

    def mark_owner(self, store: EntryStore) -> None:
        """Names the ledger in a collection that was just made anew."""
        if self._owner is not None:
            check_owner(store, self._owner, self._collection, self._embedder.dims)

    def _connect(self) -> Memory:
        if not self._server:
            import_mem0()
        store = self._open_store()
        try:
            self.gathering()
            return self._built(store, self.last, self._inference)
        except BaseException:
            store.close()
            raise

    def _built(
        self,
        store: EntryStore | GatheringStore,
        last: LastVectors,
        inference: Inference | None = None,
    ) -> Memory:
        from bmo.index.mem0_parts import build_memory

        return build_memory(store, self._embedder, self._collection, inference, last)

    def _check_owner(self, store: EntryStore) -> None:
        if self._owner is None:
            return
        try:
            check_owner(store, self._owner, self._collection, self._embedder.dims)
        except IndexOfAnother as error:
            self._ready = False
            self._leave_alone(str(error))
            raise
        except self._errors() as error:
            raise self._failed(error) from error
        self._ready = True

    def _failed(self, error: Exception) -> IndexUnavailable:
        if not self._server:
            reason = str(error).strip().splitlines()[0][:200] if str(error).strip() else repr(error)
            return IndexUnavailable(
                f"The index failed ({reason}); if it stays so, `bmo reindex` rebuilds it from the "
                "ledger."
            )
        if has_lost(error):
            if self._ready:
                telemetry.note_lost_index()
            self.down = (
                f"The Qdrant server of QDRANT_URL has lost the collection {self._collection}; it "
                "is made again and filled from the ledger by itself."
            )
            self._retry_at, self._ready = 0.0, self._owner is None
            return IndexLost(self.down)
        # It may come back without its storage, and somebody else may be first there.
        self._ready = self._owner is None
        wrong, fix = meaning_of(error)
        self._leave_alone(f"The Qdrant server of QDRANT_URL {wrong}; {fix}")
        return IndexUnavailable(self.down)

    def _leave_alone(self, why: str) -> None:
        """For a while, each time twice as long."""
        self.down = why
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
            self.last.clear()
            if self._gathering is not None:
                self._gathering[0].close()
            memory, self._memory = self._memory, None
            if memory is not None:
                memory.close()
                memory.llm.close()
                memory.vector_store.close()
