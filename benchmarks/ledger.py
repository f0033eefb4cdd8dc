"""Figures of ledger, index and recorder, each beside its budget.

Usage: ``python -m benchmarks.ledger [--sizes 1000,10000,50000] [--home DIR]``

Adds whole facts through the recorder (SQLite + Qdrant Edge + local embedder), reconciles against
what is there, searches, erases, reopens. Facts are filled in quickly first and timed afterwards.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bmo.index import MemoryIndex, open_embedder
from bmo.ledger import Ledger
from bmo.recorder import Recorder
from bmo.settings import Settings
from bmo.turn import Decision, Fact, Turn

START = datetime(2026, 1, 1, tzinfo=UTC)
THINGS = ("stamps", "shells", "maps", "clocks", "records", "coins", "posters", "bottles")
PLACES = ("Leeds", "Oslo", "Pune", "Graz", "Lima", "Cork", "Osaka", "Accra", "Turin", "Perth")
TIMED = 200

BUDGETS = {
    "record, new fact, ack (ms)": "p99 <= 20",
    "record to searchable (ms)": "p99 <= 50",
    "record, superseding fact, ack (ms)": "flat with size",
    "record, near duplicate, ack (ms)": "flat with size",
    "search in the index (ms)": "p95 <= 10 at 10,000",
    "search words in the ledger (ms)": "p95 <= 20",
    "erase one fact, receipt complete (ms)": "no budget",
    "open ledger and index (ms)": "<= 1000",
    "fill, whole facts a second": "no budget",
    "resident memory (MB)": "<= 250 at 10,000 (memory part)",
}


def said(number: int, fact: Fact, user: str = "ana") -> tuple[Turn, Decision]:
    """A turn that carries one fact."""
    turn = Turn(text=fact.text, user_id=user, at=START + timedelta(seconds=number))
    decision = Decision("allow", ("personal_fact",), "stated", 0.9, facts=(fact,), text=fact.text)
    return turn, decision


def collects(number: int) -> Fact:
    """One of many values of a slot."""
    thing, place = THINGS[number % len(THINGS)], PLACES[number // 8 % len(PLACES)]
    value = f"{thing} from {place} number {number}"
    return Fact(f"Collects {value}", "preferences", slot="collects", value=value)


def timed(samples: int, run: Callable[[int], object]) -> list[float]:
    """Milliseconds of each call."""
    taken = []
    for number in range(samples):
        started = time.perf_counter()
        run(number)
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def show(name: str, size: int, taken: Sequence[float]) -> None:
    """Prints one line: size, median, p95, p99, budget."""
    ordered = sorted(taken)
    p95, p99 = (ordered[min(int(len(ordered) * q), len(ordered) - 1)] for q in (0.95, 0.99))
    print(
        f"{size:>7,}  {name:<40} median {statistics.median(ordered):8.2f}  "
        f"p95 {p95:8.2f}  p99 {p99:8.2f}   budget: {BUDGETS[name]}",
        flush=True,
    )


def show_one(name: str, size: int, value: float) -> None:
    """Prints one single figure."""
    print(f"{size:>7,}  {name:<40} {value:15.1f}   budget: {BUDGETS[name]}", flush=True)


class Bench:
    """Ledger, index and recorder in one home, filled step by step."""

    def __init__(self, home: Path) -> None:
        """Opens an empty home."""
        self.settings = Settings(bmo_home=home, _env_file=None)  # type: ignore[call-arg]
        self.embedder = open_embedder(self.settings)
        self.next = 0
        self.opened_ms = 0.0
        self.open()

    def open(self) -> None:
        """Opens everything and notes how long it took."""
        started = time.perf_counter()
        self.ledger = Ledger.open(self.settings.ledger_url)
        self.index = MemoryIndex.open(self.settings, self.embedder)
        self.opened_ms = (time.perf_counter() - started) * 1000
        self.recorder = Recorder.open(self.ledger, self.index, self.settings)

    def close(self) -> None:
        """Closes everything."""
        self.recorder.close()
        self.index.close()
        self.ledger.close()

    def add(self) -> tuple[Turn, Decision]:
        """The next new fact."""
        self.next += 1
        return said(self.next, collects(self.next))

    def fill(self, size: int) -> float:
        """Adds facts up to ``size``; returns facts a second, searchable."""
        missing = size - self.next
        started = time.perf_counter()
        while self.next < size:
            futures = [self.recorder.submit(*self.add()) for _ in range(min(500, size - self.next))]
            for future in futures:
                future.result()
        if not self.recorder.flush(3600.0):
            raise RuntimeError(f"the outbox is not empty: {self.recorder.stats()}")
        return missing / (time.perf_counter() - started)

    def ack(self, turn: Turn, decision: Decision) -> None:
        """Records and waits until it is in the ledger."""
        self.recorder.submit(turn, decision).result()

    def searchable(self) -> None:
        """Records a new fact and waits until the index has it."""
        self.ack(*self.add())
        self.recorder.flush(60.0)

    def measure(self, size: int) -> None:
        """Times everything at the present size."""
        show_one("fill, whole facts a second", size, self.fill(size))
        show("record, new fact, ack (ms)", size, timed(TIMED, lambda _: self.ack(*self.add())))
        self.recorder.flush(60.0)
        show("record to searchable (ms)", size, timed(TIMED, lambda _: self.searchable()))

        def move(number: int) -> None:
            place = f"{PLACES[number % len(PLACES)]} {self.next}"
            self.next += 1
            fact = Fact(
                f"Lives in {place}",
                "personal_facts",
                slot="lives_in",
                value=place,
                cardinality="one",
            )
            self.ack(*said(self.next, fact))

        show("record, superseding fact, ack (ms)", size, timed(TIMED, move))

        def repeat(number: int) -> None:
            fact = collects(number + 1)
            self.next += 1
            self.ack(*said(self.next, Fact(f"{fact.text} indeed", "preferences")))

        show("record, near duplicate, ack (ms)", size, timed(TIMED, repeat))
        self.recorder.flush(120.0)

        def search(number: int) -> None:
            query = f"which {THINGS[number % 8]} from {PLACES[number % 10]} do i have"
            self.index.search("ana", query, top_k=10, threshold=0.1)

        show("search in the index (ms)", size, timed(TIMED, search))
        show(
            "search words in the ledger (ms)",
            size,
            timed(TIMED, lambda n: self.ledger.search_words("ana", f"stamps number {n}", 10)),
        )

        def erase(number: int) -> None:
            fact = self.ledger.search_words("ana", f"number {size - number}", 1)[0][0]
            self.recorder.call(self.ledger.erase, "ana", [fact.id]).result()
            self.recorder.flush(120.0)

        show("erase one fact, receipt complete (ms)", size, timed(5, erase))
        self.close()
        self.open()
        show_one("open ledger and index (ms)", size, self.opened_ms)
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        show_one("resident memory (MB)", size, resident)


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,50000")
    parser.add_argument("--home", type=Path, default=None)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(options.home or Path(directory))
        try:
            for size in sizes:
                bench.measure(size)
        finally:
            bench.close()


if __name__ == "__main__":
    main()
