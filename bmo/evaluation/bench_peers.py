"""What others do in each turn, timed here in a process of its own.

``python -m bmo.evaluation.bench_peers HOME MEMORIES`` prints one JSON object. The peers are a
Mem0 that is searched and added to in every turn (without inference, on qdrant-client's local
mode), awaited before the reply as its published integrations do, and the published pattern gate.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bmo.evaluation.bench import bench_texts
from bmo.evaluation.bench_memory import USER, likes, question
from bmo.settings import Settings, quiet_third_parties

if TYPE_CHECKING:
    from mem0 import Memory

    from bmo.index import Embedder
    from bmo.index.qdrant_store import LocalStore

SEARCHES = 40
ADDS = 20
GATED = 1_000
TOP_K = 10
_BATCH = 256


class PeerTimes(TypedDict):
    """What this prints: milliseconds of each call, microseconds of each gate decision."""

    search_ms: list[float]
    add_ms: list[float]
    gate_us: list[float]


def measure(home: Path, memories: int) -> PeerTimes:
    """Times the peers on a store with so many memories of one user."""
    quiet_third_parties(home)
    from mem0.memory.storage import SQLiteManager
    from qdrant_client import QdrantClient

    from bmo.index import open_embedder
    from bmo.index.mem0_parts import build_memory
    from bmo.index.qdrant_store import LocalStore

    embedder = open_embedder(Settings.model_construct())
    folder = home / "qdrant"
    store = LocalStore(QdrantClient(path=str(folder)), "peer", embedder.dims, folder)
    memory = build_memory(store, embedder, "peer")
    memory.db = SQLiteManager(str(home / "history.db"))  # as Mem0 is on its own
    try:
        _fill(store, embedder, memories)
        return {
            "search_ms": [_search_ms(memory, number) for number in range(SEARCHES)],
            "add_ms": [_add_ms(memory, memories + number) for number in range(ADDS)],
            "gate_us": _gate_us(),
        }
    finally:
        memory.close()
        store.close()


def _fill(store: LocalStore, embedder: Embedder, memories: int) -> None:
    for first in range(0, memories, _BATCH):
        numbers = range(first, min(first + _BATCH, memories))
        texts = [likes(number).text for number in numbers]
        store.insert(
            vectors=embedder.embed(texts).tolist(),
            ids=[f"00000000-0000-4000-8000-{number:012d}" for number in numbers],
            payloads=[{"data": text, "user_id": USER} for text in texts],
        )


def _search_ms(memory: Memory, number: int) -> float:
    started = time.perf_counter()
    memory.search(question(number), filters={"user_id": USER}, top_k=TOP_K)
    return (time.perf_counter() - started) * 1000


def _add_ms(memory: Memory, number: int) -> float:
    said = [{"role": "user", "content": likes(number).text.lower()}]
    started = time.perf_counter()
    memory.add(said, user_id=USER, infer=False)
    return (time.perf_counter() - started) * 1000


def _gate_us() -> list[float]:
    """The published rules, as this package has them for its ``GATEKEEPER_*`` settings."""
    from bmo.gate.published_signals import find_published_signals

    texts = bench_texts()[0][:GATED]
    find_published_signals(texts[0])
    took = []
    for text in texts:
        started = time.perf_counter_ns()
        find_published_signals(text)
        took.append((time.perf_counter_ns() - started) / 1000)
    return took


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
