"""What every side of the index stands on: the connection, and one writer at a time."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bmo.index.connection import Connection
from bmo.index.embedders import Embedder
from bmo.index.entries import EntryStore, Filters
from bmo.index.inference import Inference

if TYPE_CHECKING:
    from mem0 import Memory


_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


class IndexAccess:
    """Mem0 and the store, for readers and for one writer at a time.

    Attributes:
        backend: "edge", "local" (qdrant-client's local mode) or "server".
        embedder: Makes the vectors.
        inference: The model of Mem0's own extraction (MEM0_SETTING=NORMAL with a key), or None.
    """

    def __init__(
        self,
        connection: Connection,
        backend: str,
        embedder: Embedder,
        inference: Inference | None,
    ) -> None:
        """Works on a connection, which need not be connected yet."""
        self.backend = backend
        self.embedder = embedder
        self.inference = inference
        self._connection = connection
        self._writer = threading.RLock()

    @contextmanager
    def _writing(self) -> Iterator[tuple[Memory, EntryStore]]:
        with self._writer, self._reading() as parts:
            yield parts

    def _remove(self, filters: Filters) -> int:
        """Removes what matches, also from what was compared last; returns how much it was."""
        self._connection.last.clear()
        with self._writing() as (_, store):
            return store.delete_matching(filters)

    @contextmanager
    def _reading(self) -> Iterator[tuple[Memory, EntryStore]]:
        with self._connection.parts() as parts:
            yield parts

    def _add(self, memory: Memory, user_id: str, text: str, entry: dict[str, Any]) -> str:
        """Adds one memory as it is; returns Mem0's id."""
        # One message per add: a list is one memory per message, and only the first id is known.
        result = memory.add(storable(text), user_id=user_id, metadata=entry, infer=False)
        return str(result["results"][0]["id"])


def storable(text: str) -> str:
    """Mem0 hashes the text as UTF-8: a lone surrogate would raise."""
    return _NOT_STORABLE.sub(lambda hit: "" if hit[0] == "\x00" else "\ufffd", text)
