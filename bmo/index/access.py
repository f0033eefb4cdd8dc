"""What every side of the index stands on: the connection, and one writer at a time."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from bmo.index.connection import Connection
from bmo.index.embedders import Embedder
from bmo.index.entries import EntryStore, Filters
from bmo.index.inference import Inference

_NOT_STORABLE = re.compile("[\x00\ud800-\udfff]")


class IndexAccess:
    """The store and Mem0 around it, for readers and for one writer at a time.

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

    def _reading(self) -> AbstractContextManager[EntryStore]:
        return self._connection.using()

    @contextmanager
    def _writing(self) -> Iterator[EntryStore]:
        with self._writer, self._reading() as store:
            yield store

    def _remove(self, filters: Filters) -> int:
        """Removes what matches; returns how much it was."""
        with self._writing() as store:
            return store.delete_matching(filters)


def storable(text: str) -> str:
    """Mem0 hashes the text as UTF-8: a lone surrogate would raise."""
    return _NOT_STORABLE.sub(lambda hit: "" if hit[0] == "\x00" else "\ufffd", text)
