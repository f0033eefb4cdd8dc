"""Qdrant Edge, Qdrant's own engine inside this process, as a vector store for Mem0."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from bmo.index.embedded_files import bytes_of, check_room
from bmo.index.entries import (
    PAGE,
    PAYLOAD_INDEXES,
    Entry,
    Filters,
    conditions,
    scan,
    without_copies,
)
from bmo.index.errors import IndexDamaged, IndexUnavailable, first_line

_COPY_PAGE = 64
_COPY_PAUSE_S = 0.0001
"""Entries copied at a time, and the pause after them, in which whoever waits gets Python's lock:
Edge keeps it for 2 ms to write them, for 30 ms to write a thousand."""

_CONFIG = "edge_config.json"
_WHOLE = "entry"
"""Payload key that holds all of an entry's payload."""
_FILTERED = (*PAYLOAD_INDEXES, "turn_id")
"""Payload keys that may be filtered on, and stand for themselves as well: of a fact all but its
turn, by which raw turns alone are asked for."""


class EdgeFailed(OSError):
    """Qdrant Edge could not do it; the message is its first line."""


@contextmanager
def edge_failures() -> Iterator[None]:
    """Raises ``EdgeFailed`` for what Qdrant Edge raises; our own mistakes pass as they are.

    It raises bare ``Exception`` for everything that goes wrong in it, and where it panics (files
    that are damaged inside) a ``PanicException``, which is no ``Exception`` and would end a thread.
    """
    try:
        yield
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        raise
    except Exception as error:  # see above
        if type(error) is not Exception:
            raise
        raise EdgeFailed(first_line(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise EdgeFailed(f"Qdrant Edge panicked: {first_line(error)}") from error


class EdgeStore:
    """One shard in one directory.

    Edge itself is safe from several threads, and holds Python's own lock in every call. The lock
    here is for ``compact``, which replaces the shard while searches run.
    """

    def __init__(self, directory: Path, dims: int) -> None:
        """Opens the shard, or makes it.

        Args:
            directory: Its own directory; the caller holds the lock on the parent.
            dims: Length of the vectors.

        Raises:
            IndexDamaged: The files cannot be read.
            IndexUnavailable: They cannot be written.
        """
        self._directory = directory
        self._dims = dims
        self._swap = threading.RLock()
        self._compacting = threading.Lock()
        # Points written while the shard is copied, or None while it is not.
        self._changed: set[str] | None = None
        self._closing = False
        self._closed = False
        self._recover()
        try:
            check_room(directory)
            with edge_failures():
                self._shard = _open_shard(directory, dims)
        except IndexUnavailable:
            raise
        except Exception as error:  # whatever it is, the ledger can build it anew
            raise IndexDamaged(
                f"The index in {directory} cannot be opened ({first_line(error)}); "
                "run `bmo reindex` to rebuild it from the ledger.",
                directory,
            ) from None

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[dict[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """See ``EntryStore.insert``."""
        points = [
            edge.Point(point_id, list(vector), _packed(payload))
            for point_id, vector, payload in zip(ids or (), vectors, payloads or (), strict=True)
        ]
        self._update(edge.UpdateOperation.upsert_points(points), ids or ())

    def search(
        self, query: str, vectors: Sequence[float], top_k: int = 5, filters: Filters | None = None
    ) -> Sequence[Entry]:
        """See ``EntryStore.search``."""
        request = edge.QueryRequest(
            limit=top_k,
            query=edge.Query.Nearest(list(vectors)),
            filter=_filter(filters),
            with_payload=True,
        )
        with self._swap, edge_failures():
            points = self._shard.query(request)
        return [Entry(str(point.id), _unpacked(point.payload), point.score) for point in points]

    def keyword_search(self, query: str, top_k: int = 5, filters: Filters | None = None) -> None:
        """None, always: Mem0's BM25 fusion lowered top-1 on short memories from .88 to .78."""

    def ensure(self) -> None:
        """See ``EntryStore.ensure``."""

    def found(self, ids: Sequence[str]) -> list[Entry]:
        """See ``EntryStore.found``."""
        with self._swap, edge_failures():
            # All three arguments: the stubs' defaults are wrong in 0.9.0.
            points = self._shard.retrieve(list(ids), True, False)
        return [Entry(str(point.id), _unpacked(point.payload)) for point in points]

    def page(
        self, filters: Filters, limit: int, after: str | None = None
    ) -> tuple[Sequence[Entry], str | None]:
        """See ``EntryStore.page``."""
        request = edge.ScrollRequest(
            offset=after, limit=limit, filter=_filter(filters), with_payload=True
        )
        with self._swap, edge_failures():
            records, behind = self._shard.scroll(request)
        entries = [Entry(str(record.id), _unpacked(record.payload)) for record in records]
        return entries, None if behind is None else str(behind)

    def count(self, filters: Filters) -> int:
        """See ``EntryStore.count``."""
        with self._swap, edge_failures():
            return int(self._shard.count(edge.CountRequest(filter=_filter(filters), exact=True)))

    def delete_many(self, ids: Sequence[str]) -> None:
        """See ``EntryStore.delete_many``."""
        if ids:
            self._update(edge.UpdateOperation.delete_points(list(ids)), ids)

    def delete_matching(self, filters: Filters) -> int:
        """See ``EntryStore.delete_matching``."""
        ids = [entry.id for entry in scan(self, filters)]
        for start in range(0, len(ids), PAGE):
            self.delete_many(ids[start : start + PAGE])
        return len(ids)

    def lay_out(self) -> None:
        """See ``EntryStore.lay_out``."""
        self.compact()

    def compact(self) -> bool:
        """Copies the living points into a new shard and removes the old one's files.

        Deleting leaves the text in Edge's payload pages and write-ahead log (seen in 0.9.0, also
        after ``optimize`` and ``close``). Searches and writes go on during the copy and wait for
        the swap alone. What is deleted during the copy may leave its bytes in the new shard.

        Raises:
            IndexUnavailable: The disk is full, or the store is closed meanwhile; the old shard
                stands.
        """
        with self._compacting:
            check_room(self._directory, bytes_of(self._directory))
            copy, old = self._beside("compacting"), self._beside("old")
            for left_over in (copy, old):
                shutil.rmtree(left_over, ignore_errors=True)
            with edge_failures():
                fresh = _open_shard(copy, self._dims)
            self._changed = set()
            try:
                self._copy_all(fresh)
                self._copy_changed(fresh)
                with edge_failures():
                    fresh.flush()
                with self._swap, edge_failures():
                    self._copy_changed(fresh)
                    fresh.flush()
                    fresh.close()
                    self._shard.close()
                    self._directory.rename(old)
                    copy.rename(self._directory)
                    self._shard = _open_shard(self._directory, self._dims)
            finally:
                self._changed = None
                shutil.rmtree(copy, ignore_errors=True)
            shutil.rmtree(old)
            return True

    def _copy_all(self, fresh: Any) -> None:
        offset = None
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_COPY_PAGE, with_payload=True, with_vector=True
            )
            with self._swap, edge_failures():
                self._check_open()
                records, offset = self._shard.scroll(request)
            _put(fresh, records)
            if offset is None:
                return
            time.sleep(_COPY_PAUSE_S)

    def _copy_changed(self, fresh: Any) -> None:
        """Brings what was written since into the copy as well."""
        with self._swap:
            changed, self._changed = sorted(self._changed or ()), set()
        for start in range(0, len(changed), _COPY_PAGE):
            ids = changed[start : start + _COPY_PAGE]
            with self._swap, edge_failures():
                self._check_open()
                records = self._shard.retrieve(ids, True, True)
            gone: list[Any] = sorted(set(ids) - {str(record.id) for record in records})
            _put(fresh, records)
            if gone:
                with edge_failures():
                    fresh.update(edge.UpdateOperation.delete_points(gone))

    def _check_open(self) -> None:
        if self._closing:
            raise IndexUnavailable("The index is being closed; its files are rewritten later.")

    def close(self) -> None:
        """See ``EntryStore.close``."""
        self._closing = True
        with self._compacting, self._swap, edge_failures():
            if not self._closed:
                self._closed = True
                try:
                    self._shard.flush()
                finally:
                    self._shard.close()

    def _update(self, operation: Any, ids: Sequence[str]) -> None:
        check_room(self._directory)
        with self._swap, edge_failures():
            self._shard.update(operation)
            if self._changed is not None:
                self._changed.update(ids)

    def _beside(self, ending: str) -> Path:
        return self._directory.with_name(f"{self._directory.name}.{ending}")

    def _recover(self) -> None:
        """Ends a compaction that a crash interrupted: the old shard stands until the swap."""
        old = self._beside("old")
        if old.exists() and not self._directory.exists():
            old.rename(self._directory)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(self._beside("compacting"), ignore_errors=True)


def _open_shard(directory: Path, dims: int) -> Any:
    if (directory / _CONFIG).exists():
        return edge.EdgeShard.load(str(directory), None)
    directory.mkdir(parents=True, exist_ok=True)
    # Cold: read from the files when needed; cached, Edge maps 32 MB more than it uses and touches
    # all of it.
    cold = edge.Memory.Cold
    vectors = edge.EdgeVectorParams(size=dims, distance=edge.Distance.Cosine, memory=cold)
    config = edge.EdgeConfig(vectors=vectors, payload_memory=cold, id_tracker_memory=cold)
    shard = edge.EdgeShard.create(str(directory), config)
    for key in PAYLOAD_INDEXES:
        shard.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword))
    return shard


def _put(shard: Any, records: Sequence[Any]) -> None:
    points = []
    for record in records:
        payload = record.payload  # made anew at each access: 12 us
        if _WHOLE not in payload:
            payload = _packed(_unpacked(payload))
        points.append(edge.Point(record.id, record.vector, payload))
    if points:
        with edge_failures():
            shard.update(edge.UpdateOperation.upsert_points(points))


def _packed(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload in one value, beside what is filtered on: Edge takes 2.5 us for every value."""
    asked = PAYLOAD_INDEXES if payload.get("mode") == "gated" else _FILTERED
    kept = {key: payload[key] for key in asked if key in payload}
    return {**kept, _WHOLE: json.dumps(without_copies(payload), ensure_ascii=False)}


def _unpacked(payload: dict[str, Any] | None) -> dict[str, Any]:
    """The payload again; entries of versions before are not packed."""
    whole = (payload or {}).get(_WHOLE)
    return dict(json.loads(whole)) if whole is not None else payload or {}


def _filter(filters: Filters | None) -> Any:
    if not filters:
        return None
    must: list[Any] = []
    for key, values in conditions(filters):
        if key not in _FILTERED:
            raise ValueError(f"filter on {key!r}: entries are filtered on {', '.join(_FILTERED)}")
        one = len(values) == 1
        match = edge.MatchValue(values[0]) if one else edge.MatchAny(any=values)
        must.append(edge.FieldCondition(key=key, match=match))
    return edge.Filter(must=must)
