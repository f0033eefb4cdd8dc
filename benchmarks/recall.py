"""Read gate and recall: times beside their budgets; ``python -m benchmarks.recall [SIZE ...]``.

Sizes are memories of one user (default 100 1000 10000). Every size is filled into a fresh home:
SQLite ledger, Qdrant Edge, the local embedder. "cold" is the first time a question is asked in a
process that is warm; "mem0 search" is an awaited ``Memory.search`` on qdrant-client's local mode
over the same vectors, what an ungated agent does on every turn.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bmo.index import MemoryIndex, open_embedder
from bmo.ledger import Ledger
from bmo.recall import ReadGate, Recaller
from bmo.settings import Settings, load_settings
from bmo.turn import Category, Decision, Fact, Turn

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
QUESTIONS = (
    "where do i work",
    "whats my sisters name",
    "suggest a dinner for me",
    "what should i get my wife for her birthday",
    "did i ever tell you about the garden",
    "which book was it i wanted to read",
    "what did we decide about the kitchen",
    "who has my spare key",
    "plan my saturday",
    "what do i like to drink in the evening",
)
SPOKEN = (*QUESTIONS, "turn off the light", "how tall is a giraffe", "okay thanks", "my knee hurts")
PLAN_P99_US = 200.0
COLD_P95_MS = 10.0
_THINGS = "garden kitchen boat piano dog car bicycle roof window lamp phone shelf cellar".split()
_VERBS = "likes owns repaired painted sold wants borrowed forgot planted cleaned".split()
_CATEGORIES: tuple[Category, ...] = ("personal_facts", "preferences", "relationships", "goals")


def plan_times() -> list[float]:
    """Microseconds of each plan by the rules."""
    gate = ReadGate.from_settings(load_settings(), load_judge=False)
    turns = [Turn(text) for text in SPOKEN]
    for turn in turns:
        gate.plan_by_rules(turn)
    spent = []
    for _ in range(300):
        for turn in turns:
            begun = time.perf_counter()
            gate.plan_by_rules(turn)
            spent.append((time.perf_counter() - begun) * 1e6)
    return spent


def facts(size: int) -> Iterator[Fact]:
    """``size`` different memories of one user."""
    for n in range(size):
        thing, verb = _THINGS[n % len(_THINGS)], _VERBS[n // len(_THINGS) % len(_VERBS)]
        text = f"{verb.capitalize()} the {thing} number {n} of the house in {n % 97} Elm Street"
        yield Fact(text, _CATEGORIES[n % 4], slot="likes" if n % 9 == 0 else None, value=str(n))


@contextmanager
def filled(size: int) -> Iterator[tuple[Settings, Ledger, MemoryIndex]]:
    """Ledger and index with ``size`` memories."""
    with tempfile.TemporaryDirectory() as home:
        settings = load_settings(bmo_home=Path(home))
        ledger = Ledger.open(settings.ledger_url)
        index = MemoryIndex.open(settings, open_embedder(settings))
        batch: list[Fact] = []
        for n, fact in enumerate(facts(size)):
            batch.append(fact)
            if len(batch) == 200 or n == size - 1:
                decision = Decision("allow", ("other",), "", 1.0, facts=tuple(batch), text="x")
                at = NOW - timedelta(days=40)
                for stored in ledger.record(Turn("x", at=at), decision).added:
                    index.add(stored, {})
                batch = []
        yield settings, ledger, index
        index.close()
        ledger.close()


def recall_times(size: int) -> tuple[list[float], list[float], list[float]]:
    """(milliseconds of each recall, of its index search alone, of mem0's search on local mode)."""
    gate = ReadGate.from_settings(load_settings(), load_judge=False)
    with filled(size) as (settings, ledger, index):
        recaller = Recaller(ledger, index, settings)
        plans = [gate.plan(Turn(text)) for text in QUESTIONS]
        recaller.recall(plans[0], "local", NOW)
        whole = _timed(20, lambda n: recaller.recall(plans[n % len(plans)], "local", NOW))
        search = _timed(
            20,
            lambda n: index.search(
                "local", QUESTIONS[n % len(QUESTIONS)], top_k=30, threshold=0.15
            ),
        )
        return whole, search, _local_mode(index) if size <= 10_000 else []


def _timed(rounds: int, call: Callable[[int], Any]) -> list[float]:
    spent = []
    for n in range(rounds * len(QUESTIONS)):
        begun = time.perf_counter()
        call(n)
        spent.append((time.perf_counter() - begun) * 1e3)
    return spent


def _local_mode(index: MemoryIndex) -> list[float]:
    """The same texts in qdrant-client's local mode, searched through Mem0."""
    from qdrant_client import QdrantClient

    from bmo.index.mem0_parts import build_memory
    from bmo.index.qdrant_store import LocalStore

    with tempfile.TemporaryDirectory() as home:
        store = LocalStore(
            QdrantClient(path=f"{home}/q"), "bench", index.embedder.dims, Path(home) / "q"
        )
        memory = build_memory(store, index.embedder, "bench", Path(home) / "history.db")
        rows = list(index.entries("local"))
        for start in range(0, len(rows), 500):
            chunk = rows[start : start + 500]
            store.insert(
                vectors=index.embedder.embed([r.text for r in chunk]).tolist(),
                ids=[r.index_id for r in chunk],
                payloads=[{"data": r.text, "user_id": "local", **r.metadata} for r in chunk],
            )
        spent = _timed(
            1,
            lambda n: memory.search(
                QUESTIONS[n % len(QUESTIONS)], filters={"user_id": "local"}, top_k=10
            ),
        )
        memory.close()
        store.close()
        return spent


def _shown(name: str, spent: list[float], unit: str, budget: str = "") -> None:
    if spent:
        p50, p95, p99 = np.percentile(spent, [50, 95, 99])
        print(f"{name:34} p50 {p50:8.2f}  p95 {p95:8.2f}  p99 {p99:8.2f} {unit}  {budget}")


def main() -> None:
    sizes = [int(argument) for argument in sys.argv[1:]] or [100, 1000, 10_000]
    _shown("plan by rules", plan_times(), "us", f"budget p99 <= {PLAN_P99_US:.0f} us")
    for size in sizes:
        whole, search, local = recall_times(size)
        budget = f"budget p95 <= {COLD_P95_MS:.0f} ms" if size == 10_000 else ""
        _shown(f"recall, {size} memories, cold", whole, "ms", budget)
        _shown(f"  of it the index, {size}", search, "ms")
        _shown(f"mem0 search, local mode, {size}", local, "ms")


if __name__ == "__main__":
    main()
