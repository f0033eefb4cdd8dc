"""Vectors of the users who are here, in memory: search by meaning without asking the store.

Qdrant Edge holds Python's global lock while it searches and copies every payload it returns, so a
search on another thread still stalls the event loop. What recall needs of a search is which facts
are near and how near. That is one product of a matrix with a vector, for which numpy gives the
lock away.

A vector is kept as 8-bit integers with one scale (384 bytes instead of 1,536): at 10,000 memories
3.8 MB and .6 ms a search, where 32-bit floats are bound by the memory bus (about 1.5 ms). Cosines
differ from the store's by less than .005.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bmo.index.entries import Filters, conditions
from bmo.index.free_pages import release_free_pages

MOST_BYTES: Final = 64 << 20
"""Bytes of vectors kept, of all users: 170,000 memories at 384 dimensions."""

FILTERED: Final = ("mode", "write_verdict", "category", "domain")
"""Payload keys that a search may filter on, beside the user."""

BLOCK: Final = 1024
"""Rows turned into floats at a time: a block stays in the processor's cache."""

PAUSE_S: Final = 0.002
"""Between two pages of a load: reading a page holds Python's lock."""

SHARED: Final = 8_192
"""Vectors that each of two threads compares at least, about .6 ms: for fewer the other thread
costs as much to wake as it saves (10,000: 0.1 ms sooner or none)."""

UNTOLD: Final = -1
"""Class of an entry whose payload is not read yet."""

GATHERED: Final = 0.6
"""Share of the vectors below which only those that pass the filters are compared: bringing them
together costs a third of comparing them."""

LARGE: Final = 2_000
"""From so many vectors on what reading them took is worth giving back."""

Page = Sequence[tuple[str, Mapping[str, Any], Sequence[float]]]
"""(point id, payload, vector) of some entries of one user."""

logger = logging.getLogger(__name__)


class UserVectors:
    """The vectors of one user. Not locked; see ``VectorCache``.

    Attributes:
        ready: Every entry of the store is in it.
    """

    def __init__(self, dims: int) -> None:
        """Empty.

        Args:
            dims: Length of a vector.
        """
        self.ready = False
        self._codes = np.zeros((0, dims), dtype=np.int8)
        self._scales = np.zeros(0, dtype=np.float32)
        self._classes = [np.zeros(0, dtype=np.int16) for _ in FILTERED]
        # Entries of each class by key: a filter that lets all of them through is not looked at.
        self._sizes: list[Counter[int]] = [Counter() for _ in FILTERED]
        self._points: list[str] = []
        self._facts: list[str] = []
        self._row: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._touched: set[str] = set()

    def __len__(self) -> int:
        """Number of vectors."""
        return len(self._points)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self._arrays())

    def load(self, page: Page) -> None:
        """Takes entries read from the store, but for those written or removed since."""
        for point, payload, vector in page:
            if point not in self._touched:
                self._set(point, payload, np.asarray(vector, dtype=np.float32))

    def loaded(self) -> None:
        """The store was read to its end."""
        self.ready = True
        self._touched.clear()

    def put(self, point: str, payload: Mapping[str, Any], vector: Sequence[float] | None) -> None:
        """Takes an entry that was written; without a vector only what is filtered on changes."""
        if not self.ready:
            self._touched.add(point)
        if vector is not None:
            self._set(point, payload, np.asarray(vector, dtype=np.float32))
        elif point in self._row:
            self._describe(self._row[point], payload)
        else:
            # Changed while its page is being read: the old page may be applied after all.
            self._touched.discard(point)

    def remove(self, point: str) -> None:
        """Forgets an entry; its bytes are overwritten."""
        if not self.ready:
            self._touched.add(point)
        row = self._row.pop(point, None)
        if row is None:
            return
        for column, sizes in zip(self._classes, self._sizes, strict=True):
            sizes[int(column[row])] -= 1
        last = len(self._points) - 1
        if row != last:
            for array in self._arrays():
                array[row] = array[last]
            self._points[row], self._facts[row] = self._points[last], self._facts[last]
            self._row[self._points[row]] = row
        self._points.pop()
        self._facts.pop()
        self._codes[last] = 0

    def search(
        self,
        query: NDArray[np.float32],
        top_k: int,
        threshold: float,
        filters: Filters,
        beside: Executor | None = None,
    ) -> list[tuple[str, float]]:
        """(fact id, cosine) of the entries nearest to ``query``, nearest first.

        Args:
            query: A vector of length 1.
            top_k: Entries at most.
            threshold: Least cosine.
            filters: On ``FILTERED`` only.
            beside: Compares half of many vectors on another thread.
        """
        keep = self._kept(filters)
        rows: NDArray[np.intp] | None = None
        if keep is not None and np.count_nonzero(keep) < GATHERED * len(keep):
            rows, keep = np.flatnonzero(keep), None
        count = len(self) if rows is None else len(rows)
        scores = np.empty(count, dtype=np.float32)
        if beside is not None and count >= 2 * SHARED:
            middle = -(-count // (2 * BLOCK)) * BLOCK
            other = beside.submit(self._compare, query, rows, scores, middle, count)
            self._compare(query, rows, scores, 0, middle)
            other.result()
        else:
            self._compare(query, rows, scores, 0, count)
        scores *= self._scales[:count] if rows is None else self._scales[rows]
        near = np.flatnonzero(scores >= threshold if keep is None else (scores >= threshold) & keep)
        if len(near) > top_k:
            near = near[np.argpartition(-scores[near], top_k - 1)[:top_k]]
        places = near if rows is None else rows[near]
        found = [
            (self._facts[place], min(float(score), 1.0))
            for place, score in zip(places, scores[near], strict=True)
        ]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))

    def _kept(self, filters: Filters) -> NDArray[np.bool_] | None:
        """Which rows ``filters`` let through; None is all."""
        count = len(self)
        keep: NDArray[np.bool_] | None = None
        for key, values in conditions(filters):
            column = FILTERED.index(key)
            classes = {self._names.get(str(value), UNTOLD) for value in values} - {UNTOLD}
            if sum(self._sizes[column][one] for one in classes) == count:
                continue
            through = np.zeros(len(self._names), dtype=np.bool_)
            through[sorted(classes)] = True
            passed = through[self._classes[column][:count]]
            keep = passed if keep is None else keep & passed
        return keep

    def _compare(
        self,
        query: NDArray[np.float32],
        rows: NDArray[np.intp] | None,
        scores: NDArray[np.float32],
        start: int,
        end: int,
    ) -> None:
        """Writes products of the codes with ``query`` into ``scores`` from ``start`` to ``end``.

        Args:
            query: A vector.
            rows: The rows that ``scores`` is of; None is all, in their order.
            scores: Not scaled yet.
            start: First of the scores to write.
            end: Behind the last one.
        """
        block = np.empty((min(BLOCK, end - start), query.shape[0]), dtype=np.float32)
        for first in range(start, end, BLOCK):
            behind = min(first + BLOCK, end)
            part = block[: behind - first]
            part[...] = self._codes[slice(first, behind) if rows is None else rows[first:behind]]
            np.dot(part, query, out=scores[first:behind])

    def _arrays(self) -> list[NDArray[Any]]:
        return [self._codes, self._scales, *self._classes]

    def _set(self, point: str, payload: Mapping[str, Any], vector: NDArray[np.float32]) -> None:
        row = self._row.get(point)
        if row is None:
            row = len(self._points)
            if row == len(self._codes):
                self._grow()
            self._row[point] = row
            self._points.append(point)
            self._facts.append("")
            for sizes in self._sizes:
                sizes[UNTOLD] += 1
            for column in self._classes:
                column[row] = UNTOLD
        if not np.isfinite(vector).all():
            vector = np.zeros_like(vector)  # damaged in the store: it is near to nothing
        largest = float(np.abs(vector).max()) or 1.0
        self._codes[row] = np.rint(vector * (127.0 / largest)).astype(np.int8)
        self._scales[row] = largest / 127.0
        self._describe(row, payload)

    def _describe(self, row: int, payload: Mapping[str, Any]) -> None:
        self._facts[row] = str(payload.get("fact_id") or "")
        for column, sizes, key in zip(self._classes, self._sizes, FILTERED, strict=True):
            name = str(payload.get(key, ""))
            sizes[int(column[row])] -= 1
            column[row] = self._names.setdefault(name, len(self._names))
            sizes[int(column[row])] += 1

    def _grow(self) -> None:
        """Room for half as many again, at least 64."""
        more = max(64, len(self._codes) // 2)
        self._codes = np.concatenate([self._codes, np.zeros((more, self._codes.shape[1]), np.int8)])
        self._scales = np.concatenate([self._scales, np.zeros(more, np.float32)])
        empty = np.zeros(more, np.int16)
        self._classes = [np.concatenate([column, empty]) for column in self._classes]


class VectorCache:
    """Vectors by user, read from the store in the background. Safe from any thread.

    For an embedded store only, whose one owner is this process: what others write to a server
    would not be seen here.
    """

    def __init__(
        self, dims: int, read: Callable[[str], Iterator[Page]], *, most_bytes: int = MOST_BYTES
    ) -> None:
        """Nothing is read yet.

        Args:
            dims: Length of a vector.
            read: User id -> pages of the user's entries in the store.
            most_bytes: Bytes of vectors kept; the users longest not asked for go first.
        """
        self._dims = dims
        self._read = read
        self._most = most_bytes
        self._users: OrderedDict[str, UserVectors] = OrderedDict()
        self._too_large: set[str] = set()
        self._lock = threading.RLock()
        self._pool: ThreadPoolExecutor | None = None
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="bmo-vectors-beside")
        self._closed = False

    @property
    def nbytes(self) -> int:
        """Bytes of all vectors."""
        with self._lock:
            return sum(user.nbytes for user in self._users.values())

    def preload(self, user_id: str) -> Future[None] | None:
        """Starts to read a user's vectors unless they are here; returns at once.

        Returns:
            Done when they are; None when there is nothing to do.
        """
        with self._lock:
            if self._closed or user_id in self._users or user_id in self._too_large:
                return None
            self._users[user_id] = UserVectors(self._dims)
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="bmo-vectors")
            return self._pool.submit(self._load, user_id, self._users[user_id])

    def has(self, user_id: str) -> bool:
        """Whether all vectors of a user are here."""
        with self._lock:
            user = self._users.get(user_id)
            return user is not None and user.ready

    def search(
        self,
        user_id: str,
        query: NDArray[np.float32],
        *,
        top_k: int,
        threshold: float,
        filters: Filters,
    ) -> list[tuple[str, float]] | None:
        """See ``UserVectors.search``; None when the user's vectors are not all here."""
        with self._lock:
            user = self._users.get(user_id)
            if user is None or not user.ready:
                return None
            self._users.move_to_end(user_id)
            return user.search(query, top_k, threshold, filters, self._beside)

    # -- what the store tells of its writes -------------------------------------------------------

    def put(
        self, point: str, payload: Mapping[str, Any], vector: Sequence[float] | None = None
    ) -> None:
        """An entry was written."""
        with self._lock:
            user_id = str(payload.get("user_id") or "")
            user = self._users.get(user_id)
            if user is not None:
                user.put(point, payload, vector)
                self._fits(user_id)

    def remove(self, points: Iterable[str]) -> None:
        """Entries were removed."""
        with self._lock:
            for point in points:
                # Whose it is may not be read yet: every load must leave it out.
                for user in self._users.values():
                    user.remove(point)

    def clear(self) -> None:
        """Forgets everything; users are read again when they are asked for."""
        with self._lock:
            self._users.clear()
            self._too_large.clear()

    def close(self) -> None:
        """Forgets everything and stops reading. Safe to call twice."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
            self.clear()
        self._beside.shutdown(wait=True)
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    # -- inside -----------------------------------------------------------------------------------

    def _load(self, user_id: str, user: UserVectors) -> None:
        try:
            for page in self._read(user_id):
                with self._lock:
                    if self._users.get(user_id) is not user:
                        return  # forgotten or closed meanwhile
                    user.load(page)
                    if not self._fits(user_id):
                        return
                time.sleep(PAUSE_S)
            with self._lock:
                user.loaded()
            if len(user) >= LARGE:
                release_free_pages()
        except Exception as error:  # the store answers searches itself
            logger.warning("vectors not loaded", extra={"error": type(error).__name__})
            with self._lock:
                if self._users.get(user_id) is user:
                    del self._users[user_id]

    def _fits(self, user_id: str) -> bool:
        """Makes room for a user; False when he alone is too much, and is left to the store."""
        while self.nbytes > self._most:
            oldest = next(iter(self._users))
            if oldest == user_id:
                if len(self._users) == 1:
                    self._too_large.add(user_id)
                    del self._users[user_id]
                    return False
                self._users.move_to_end(oldest)
                continue
            del self._users[oldest]
        return True
