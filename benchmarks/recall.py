"""Read gate and recall: times beside their budgets.

``python -m benchmarks.recall [--server] [SIZE ...]``

Sizes are memories of one user (default 100 1000 10000 50000). Every size is filled into a fresh
home: SQLite ledger, Qdrant Edge, the local embedder. With ``--server`` the index is the tests' fake
of a Qdrant server, over HTTP, in a process of its own: a real one searches faster than its Python
and is further away. Then a session recalls through the same door as a voice agent:

- "cold": a question that was not asked before;
- "prefetched": the same after its interim transcript started the recall;
- "Mem0": an awaited ``Memory.search`` on qdrant-client's local mode over the same texts, what an
  ungated agent does on every turn (not with ``--server``).

Each line shows wall time and processor time, on a busy machine the better measure: of one thread
where one does the work, of the whole process for an awaited recall, which reads the ledger on a
second thread (the recorder's note of the recall before is in it as well). On Linux ``chrt -r 1``
before the command keeps what other processes do out of the wall time.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.ledger_fill import multiply
from bmo.index import MemoryIndex
from bmo.index.entries import PAGE
from bmo.ledger import Ledger
from bmo.memory import MemoryService
from bmo.recall import ReadGate
from bmo.recorder import rebuild
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
PLAN_P99_US = 1000.0
COLD_P95_MS = 40.0
PREFETCHED_P95_MS = 1.0
BUDGET_SIZE = 10_000
ROUNDS = 6
INTERIM_S = 0.5
"""By how much the recogniser's interim words come before its final ones, in seconds."""
_THINGS = "garden kitchen boat piano dog car bicycle roof window lamp phone shelf cellar".split()
_VERBS = "likes owns repaired painted sold wants borrowed forgot planted cleaned".split()
_CATEGORIES: tuple[Category, ...] = ("personal_facts", "preferences", "relationships", "goals")

Spent = list[tuple[float, float]]
"""(wall, processor) time of each call, in milliseconds."""


def plan_times() -> Spent:
    """Times of each plan by the rules, best of five: what a busy machine adds is not the gate's."""
    gate = ReadGate.from_settings(load_settings(), load_encoder=False)
    turns = [Turn(text) for text in SPOKEN]
    spent: Spent = []
    for turn in turns:
        gate.plan_by_rules(turn)
        for _ in range(60):
            runs = [_timed(partial(gate.plan_by_rules, turn)) for _ in range(5)]
            spent.append(min(runs))
    return spent


def told(n: int) -> Fact:
    """One of many different memories of one user."""
    thing, verb = _THINGS[n % len(_THINGS)], _VERBS[n // len(_THINGS) % len(_VERBS)]
    text = f"{verb.capitalize()} the {thing} number {n} of the house in {n % 97} Elm Street"
    return Fact(text, _CATEGORIES[n % 4], slot="likes" if n % 9 == 0 else None, value=str(n))


def fill(settings: Settings, size: int, at: datetime) -> None:
    """Writes ``size`` memories into the ledger and the index of a home that nobody has open."""
    ledger = Ledger.open(settings.ledger_url)
    index = MemoryIndex.open(settings)
    try:
        first = told(0)
        decision = Decision("allow", ("other",), "", 1.0, facts=(first,), text=first.text)
        stored = ledger.record(Turn(first.text, user_id="local", at=at), decision).added[0]
        multiply(ledger, stored.id, told, range(1, size))
        rebuild(index, ledger, fresh=False)
    finally:
        index.close()
        ledger.close()


async def recall_times(settings: Settings) -> dict[str, Spent]:
    """Times of recall through a session: cold, prefetched, and retrieval alone."""
    service = await MemoryService.open(settings)
    try:
        await asyncio.to_thread(service.warm_up)
        session = service.session(user_id="local", clock=lambda: NOW)
        recaller, gate = service.recaller, service.read_gate
        plans = [gate.plan(Turn(text)) for text in QUESTIONS]
        found: dict[str, Spent] = {"cold": [], "prefetched": [], "retrieval": []}
        for number in range(ROUNDS * len(QUESTIONS)):
            turn, plan = Turn(QUESTIONS[number % len(QUESTIONS)]), plans[number % len(QUESTIONS)]
            session.drop_reads()
            found["cold"].append(await _awaited(partial(session.recall, turn)))
            session.drop_reads()
            session.prefetch(turn.text)
            await asyncio.sleep(INTERIM_S)
            found["prefetched"].append(await _awaited(partial(session.recall, turn)))
            found["retrieval"].append(
                await asyncio.to_thread(_timed, partial(recaller.recall, plan, "local", NOW))
            )
        await session.aclose()
        return found
    finally:
        await service.aclose()


async def mem0_times(settings: Settings) -> Spent:
    """The same texts in qdrant-client's local mode, an awaited search through Mem0 each."""
    from qdrant_client import QdrantClient

    from bmo.index.mem0_parts import build_memory
    from bmo.index.qdrant_store import LocalStore

    index = MemoryIndex.open(settings)
    embedder, own = index.embedder, index.connected()
    with tempfile.TemporaryDirectory() as home:
        store = LocalStore(QdrantClient(path=f"{home}/q"), "bench", embedder.dims, Path(home) / "q")
        memory = build_memory(store, embedder, "bench")
        after: str | None = ""
        while after is not None:
            entries, after = own.page({"user_id": "local"}, PAGE, after or None)
            vectors = embedder.embed([str(entry.payload["data"]) for entry in entries])
            ids, payloads = [one.id for one in entries], [one.payload for one in entries]
            store.insert(vectors.tolist(), payloads, ids)
        index.close()
        spent: Spent = []
        for text in (*QUESTIONS, *QUESTIONS):
            spent.append(
                await asyncio.to_thread(
                    _timed,
                    partial(memory.search, text, filters={"user_id": "local"}, top_k=10),
                )
            )
        memory.close()
        store.close()
        return spent


def _timed(call: Callable[[], Any]) -> tuple[float, float]:
    begun, worked = time.perf_counter(), time.thread_time()
    call()
    return (time.perf_counter() - begun) * 1e3, (time.thread_time() - worked) * 1e3


async def _awaited(call: Callable[[], Any]) -> tuple[float, float]:
    begun, worked = time.perf_counter(), time.process_time()
    await call()
    return (time.perf_counter() - begun) * 1e3, (time.process_time() - worked) * 1e3


def _shown(name: str, spent: Spent, unit: str = "ms", budget: str = "") -> None:
    scale = 1e3 if unit == "us" else 1.0
    wall = np.percentile([w * scale for w, _ in spent], [50, 95, 99])
    line = f"{name:34} p50 {wall[0]:8.2f}  p95 {wall[1]:8.2f}  p99 {wall[2]:8.2f} {unit}"
    cpu = np.percentile([c * scale for _, c in spent], [50, 95])
    line += f"  processor p50 {cpu[0]:.2f} p95 {cpu[1]:.2f}"
    print(f"{line}  {budget}".rstrip(), flush=True)


@contextmanager
def _fake_server() -> Iterator[dict[str, Any]]:
    """Settings of a fake server in a process of its own, whose work is not this one's."""
    from tests.fakes.qdrant_door import API_KEY

    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    server.start()
    try:
        yield {"qdrant_url": ours.recv(), "qdrant_api_key": API_KEY}
    finally:
        ours.send(None)
        server.join()


def _serve(told: Connection) -> None:
    from tests.fakes.qdrant_server import FakeQdrantServer

    server = FakeQdrantServer()
    told.send(server.url)
    told.recv()
    server.close()


@contextmanager
def _home(at_server: bool) -> Iterator[Settings]:
    with tempfile.TemporaryDirectory() as home:
        of_all: dict[str, Any] = {"bmo_home": Path(home), "bmo_recall_deadline_ms": 20_000}
        if not at_server:
            yield load_settings(**of_all)
            return
        with _fake_server() as server:
            yield load_settings(**of_all, **server)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[100, 1000, 10_000, 50_000])
    parser.add_argument("--server", action="store_true")
    wanted = parser.parse_args()
    _shown("plan by rules", plan_times(), "us", f"budget p99 <= {PLAN_P99_US:.0f} us")
    for size in wanted.sizes:
        with _home(wanted.server) as settings:
            fill(settings, size, NOW - timedelta(days=40))
            found = asyncio.run(recall_times(settings))
            at_10k = size == BUDGET_SIZE
            cold = f"budget p95 <= {COLD_P95_MS:.0f} ms" if at_10k else ""
            ready = f"budget p95 <= {PREFETCHED_P95_MS:.0f} ms" if at_10k else ""
            _shown(f"recall, {size}, cold", found["cold"], budget=cold)
            _shown("  of it retrieval to block", found["retrieval"])
            _shown(f"recall, {size}, prefetched", found["prefetched"], budget=ready)
            if wanted.server:
                continue
            peers = asyncio.run(mem0_times(settings))
            _shown(f"Mem0 search, local mode, {size}", peers)
            for name in ("cold", "prefetched"):
                ratio = np.median([w for w, _ in peers]) / np.median([w for w, _ in found[name]])
                print(f"  Mem0 takes {ratio:.1f} times as long as recall {name} (medians)")


if __name__ == "__main__":
    main()
