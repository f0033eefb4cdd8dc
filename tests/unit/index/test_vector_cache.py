"""Vectors in memory: the same answers as the store, whatever is written while they are read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bmo.index import vector_cache
from bmo.index.vector_cache import FILTERED, Page, UserVectors, VectorCache

pytestmark = pytest.mark.unit

DIMS = 24
GATED = {"mode": "gated", "write_verdict": {"in": ["allow"]}}


def vector(seed: int) -> NDArray[np.float32]:
    found = np.random.default_rng(seed).standard_normal(DIMS).astype(np.float32)
    unit: NDArray[np.float32] = found / np.float32(np.linalg.norm(found))
    return unit


def payload(fact: str, user: str = "ana", **more: str) -> dict[str, str]:
    return {
        "user_id": user,
        "fact_id": fact,
        "mode": "gated",
        "write_verdict": "allow",
        "category": "preferences",
        **more,
    }


def loaded(cache: VectorCache, user: str = "ana") -> VectorCache:
    future = cache.preload(user)
    if future is not None:
        future.result(10)
    return cache


def found(cache: VectorCache, query: NDArray[np.float32], **more: Any) -> list[str] | None:
    asked = {"top_k": 50, "threshold": -1.0, "filters": GATED, **more}
    hits = cache.search("ana", query, **asked)
    return None if hits is None else [fact for fact, _ in hits]


def empty(_user: str) -> Iterator[Page]:
    yield []


writes = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "page"]), st.integers(0, 11), st.integers(0, 5)),
    max_size=40,
)


@given(writes=writes)
def test_what_is_written_while_reading_wins_over_what_was_read(
    writes: Sequence[tuple[str, int, int]],
) -> None:
    """A page may be older than a write that came while it was on its way."""
    old = {n: vector(n) for n in range(12)}
    kept = UserVectors(DIMS)
    truth: dict[int, NDArray[np.float32]] = {}
    touched: set[int] = set()
    for op, point, version in writes:
        if op == "put":
            truth[point] = vector(100 + 10 * point + version)
            kept.put(str(point), payload(f"f{point}"), truth[point].tolist())
            touched.add(point)
        elif op == "remove":
            truth.pop(point, None)
            kept.remove(str(point))
            touched.add(point)
        else:
            kept.load([(str(point), payload(f"f{point}"), old[point].tolist())])
            if point not in touched:
                truth[point] = old[point]
    kept.loaded()
    query = vector(999)
    hits = kept.search(query, 50, -1.0, GATED)
    assert {fact for fact, _ in hits} == {f"f{point}" for point in truth}
    for fact, cosine in hits:
        assert cosine == pytest.approx(float(truth[int(fact[1:])] @ query), abs=0.01)
    assert [c for _, c in hits] == sorted((c for _, c in hits), reverse=True)


def test_rows_of_what_is_removed_are_overwritten() -> None:
    kept = UserVectors(DIMS)
    for n in range(3):
        kept.put(str(n), payload(f"f{n}"), vector(n).tolist())
    kept.remove("2")
    kept.remove("0")
    codes = kept._codes
    assert not codes[1:].any() and codes[0].any()


some_of = st.lists(st.sampled_from(["goals", "preferences", "policies", ""]), max_size=3)


@given(
    changes=st.lists(
        st.tuples(
            st.integers(0, 11),
            st.sampled_from(["goals", "preferences", "removed"]),
            st.sampled_from(["allow", "hold"]),
        ),
        max_size=40,
    ),
    categories=some_of,
    verdicts=st.sampled_from([["allow"], ["allow", "hold"], ["deny"]]),
)
def test_filters_give_what_looking_at_every_entry_would(
    changes: Sequence[tuple[int, str, str]], categories: list[str], verdicts: list[str]
) -> None:
    kept = UserVectors(DIMS)
    truth: dict[int, tuple[str, str]] = {}
    for point, category, verdict in changes:
        if category == "removed":
            truth.pop(point, None)
            kept.remove(str(point))
        else:
            # Written for the first time it has its vector; later only what is filtered on changes.
            first = point not in truth
            truth[point] = category, verdict
            told = payload(f"f{point}", category=category, write_verdict=verdict)
            kept.put(str(point), told, vector(point).tolist() if first else None)
    kept.loaded()
    filters = {"write_verdict": {"in": verdicts}, "category": {"in": categories}}
    hits = kept.search(vector(999), 50, -1.0, filters)
    assert {fact for fact, _ in hits} == {
        f"f{point}"
        for point, (category, verdict) in truth.items()
        if category in categories and verdict in verdicts
    }


@pytest.mark.parametrize("category", ["preferences", "goals"])
def test_two_threads_find_what_one_finds(monkeypatch: pytest.MonkeyPatch, category: str) -> None:
    monkeypatch.setattr(vector_cache, "SHARED", 8)
    monkeypatch.setattr(vector_cache, "BLOCK", 4)
    kept = UserVectors(DIMS)
    for n in range(61):
        of = "goals" if n % 3 == 0 else "preferences"
        kept.put(str(n), payload(f"f{n}", category=of), vector(n).tolist())
    kept.loaded()
    filters = {**GATED, "category": category}
    alone = kept.search(vector(999), 15, 0.0, filters)
    with ThreadPoolExecutor(1) as beside:
        assert kept.search(vector(999), 15, 0.0, filters, beside) == alone
    assert len(alone) > 5


def test_filters_users_and_limits() -> None:
    cache = loaded(VectorCache(DIMS, empty))
    cache.put("1", payload("mine"), vector(1).tolist())
    cache.put("2", payload("held", write_verdict="hold"), vector(1).tolist())
    cache.put("3", payload("raw", mode="normal"), vector(1).tolist())
    cache.put("4", payload("goal", category="goals"), vector(2).tolist())
    cache.put("5", payload("theirs", user="bob"), vector(1).tolist())
    assert sorted(found(cache, vector(1)) or []) == ["goal", "mine"]
    assert found(cache, vector(1), filters={**GATED, "category": "goals"}) == ["goal"]
    assert found(cache, vector(1), filters={**GATED, "category": "policies"}) == []
    assert found(cache, vector(1), threshold=0.99) == ["mine"]
    assert found(cache, vector(1), top_k=1) == ["mine"]
    assert cache.search("bob", vector(1), top_k=5, threshold=0.0, filters=GATED) is None


def test_nothing_is_answered_before_all_is_read() -> None:
    go_on = threading.Event()

    def slowly(_user: str) -> Iterator[Page]:
        yield [("1", payload("a"), vector(1).tolist())]
        go_on.wait(10)
        yield [("2", payload("b"), vector(2).tolist()), ("3", payload("c"), vector(3).tolist())]

    cache = VectorCache(DIMS, slowly)
    reading = cache.preload("ana")
    assert reading is not None and found(cache, vector(1)) is None
    cache.remove(["2"])
    go_on.set()
    reading.result(10)
    assert sorted(found(cache, vector(1)) or []) == ["a", "c"]
    cache.close()
    assert found(cache, vector(1)) is None and cache.preload("ana") is None


def test_a_failing_store_leaves_the_user_to_it() -> None:
    def broken(_user: str) -> Iterator[Page]:
        yield [("1", payload("a"), vector(1).tolist())]
        raise OSError("gone")

    cache = loaded(VectorCache(DIMS, broken))
    assert found(cache, vector(1)) is None
    assert cache.nbytes == 0


def test_memory_is_bounded_and_who_was_not_asked_for_goes_first() -> None:
    def entries(user: str) -> Iterator[Page]:
        count = 5000 if user == "large" else 60
        row: Mapping[str, Any] = payload("f", user)
        yield [(f"{user}{n}", row, vector(n % 7).tolist()) for n in range(count)]

    room = 2 * 64 * (DIMS + 4 + 2 * len(FILTERED))
    cache = VectorCache(DIMS, entries, most_bytes=room)
    for user in ("ana", "bob"):
        loaded(cache, user)
    assert cache.has("ana") and cache.has("bob")
    assert found(cache, vector(1))
    loaded(cache, "cem")
    assert cache.has("ana") and cache.has("cem") and not cache.has("bob")
    loaded(cache, "large")
    assert not cache.has("large")
    assert cache.nbytes <= room
    cache.clear()
    assert cache.nbytes == 0
