"""Figures of ledger, index and recorder, each beside its budget.

Usage: ``python -m benchmarks.ledger [--sizes 1000,10000,50000] [--home DIR]``

Adds whole facts through the recorder (SQLite + Qdrant Edge + local embedder), reconciles against
what is there, searches, erases, reopens. Facts are filled in at once first (see ``ledger_fill``;
a home that is filled already is used as it is) and timed afterwards, each the real way.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from benchmarks.ledger_fill import multiply
from bmo.index import MemoryIndex, open_embedder
from bmo.ledger import Ledger
from bmo.recorder import Recorder, rebuild
from bmo.settings import Settings
from bmo.turn import Decision, Fact, Turn

START = datetime(2026, 1, 1, tzinfo=UTC)
THINGS = ("stamps", "shells", "maps", "clocks", "records", "coins", "posters", "bottles")
PLACES = ("Leeds", "Oslo", "Pune", "Graz", "Lima", "Cork", "Osaka", "Accra", "Turin", "Perth")
TIMED = 200

BUDGETS = {
    "record, new fact, ack (ms)": "p99 <= 20",
    "record to searchable (ms)": "p99 <= 50",
    "superseding fact, ack (ms)": "flat with size",
    "near duplicate, ack (ms)": "flat with size",
    "about a person, ack (ms)": "flat with size",
    "ended by its id, ack (ms)": "flat with size",
    "search in the index (ms)": "p95 <= 10 at 10,000",
    "search words in the ledger (ms)": "p95 <= 20",
    "erase one fact, gone from ledger (ms)": "no budget",
    "erase one fact, receipt complete (ms)": "<= 1000 at 10,000",
    "turn recorded during an erasure (ms)": "as without",
    "open ledger and index (ms)": "<= 1000",
    "fill at once, facts a second": "no budget",
    "resident memory (MB)": "<= 250 at 10,000 (memory part)",
}


_GONE = Fact("gone", "preferences", op="retract")


def said(number: int, fact: Fact, user: str = "ana") -> tuple[Turn, Decision]:
    """A turn that carries one fact."""
    turn = Turn(text=fact.text, user_id=user, at=START + timedelta(seconds=number))
    decision = Decision("allow", ("personal_fact",), "stated", 0.9, facts=(fact,), text=fact.text)
    return turn, decision


def home(subject: str, who: str, value: str) -> Fact:
    """Where somebody lives; a new place takes the place of the old one."""
    return Fact(
        f"{who} in {value}",
        "personal_facts",
        slot="lives_in",
        value=value,
        subject=subject,
        cardinality="one",
    )


def collects(number: int) -> Fact:
    """One of many values of a slot."""
    thing, place = THINGS[number % len(THINGS)], PLACES[number // 8 % len(PLACES)]
    value = f"{thing} from {place} number {number}"
    return Fact(f"Collects {value}", "preferences", slot="collects", value=value)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of some calls, on the clock and of the processor (all threads of BMO)."""

    wall: list[float]
    processor: list[float]

    def extend(self, others: Times) -> None:
        """Adds those of other calls."""
        self.wall.extend(others.wall)
        self.processor.extend(others.processor)


def timed(samples: int, run: Callable[[int], object]) -> Times:
    """Times each call."""
    times = Times([], [])
    for number in range(samples):
        busy, started = time.process_time(), time.perf_counter()
        run(number)
        times.wall.append((time.perf_counter() - started) * 1000)
        times.processor.append((time.process_time() - busy) * 1000)
    return times


def show(name: str, size: int, times: Times) -> None:
    """Prints one line: size, median, p95, p99, processor time, budget."""
    ordered = sorted(times.wall)
    p95, p99 = (ordered[min(int(len(ordered) * q), len(ordered) - 1)] for q in (0.95, 0.99))
    print(
        f"{size:>7,}  {name:<40} median {statistics.median(ordered):8.2f}  p95 {p95:8.2f}  "
        f"p99 {p99:8.2f}  processor: median {statistics.median(times.processor):8.2f}, "
        f"least {min(times.processor):8.2f}   budget: {BUDGETS[name]}",
        flush=True,
    )


def show_one(name: str, size: int, value: float) -> None:
    """Prints one single figure."""
    print(f"{size:>7,}  {name:<40} {value:15.1f}   budget: {BUDGETS[name]}", flush=True)


class Bench:
    """Ledger, index and recorder in one home, filled step by step."""

    def __init__(self, home: Path) -> None:
        """Opens an empty home."""
        home.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(bmo_home=home, _env_file=None)  # type: ignore[call-arg]
        self.embedder = open_embedder(self.settings)
        self.opened_ms = 0.0
        self.open()
        self.next = self.ledger.count_live("ana")

    def open(self) -> None:
        """Opens everything and notes how long it took."""
        started = time.perf_counter()
        self.ledger = Ledger.open(self.settings.ledger_url)
        self.index = MemoryIndex.open(self.settings, self.embedder)
        self.opened_ms = (time.perf_counter() - started) * 1000
        self.recorder = Recorder(self.ledger, self.index, self.settings)

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
        if missing > 0:
            pattern = self.recorder.submit(*self.add()).result().added[0]
            self.recorder.flush(60.0)
            multiply(self.ledger, pattern.id, collects, range(self.next + 1, size + 1))
            rebuild(self.index, self.ledger, fresh=False)
            self.next = size
        return max(missing, 0) / (time.perf_counter() - started)

    def ack(self, turn: Turn, decision: Decision) -> None:
        """Records and waits until it is in the ledger."""
        self.recorder.submit(turn, decision).result()

    def searchable(self) -> None:
        """Records a new fact and waits until the index has it."""
        self.ack(*self.add())
        self.recorder.flush(60.0)

    def measure(self, size: int) -> None:
        """Times everything at the present size."""
        show_one("fill at once, facts a second", size, self.fill(size))
        self.measure_recording(size)
        self.measure_searching(size)
        self.measure_erasing(size)
        self.close()
        self.open()
        show_one("open ledger and index (ms)", size, self.opened_ms)
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        show_one("resident memory (MB)", size, resident)

    def measure_recording(self, size: int) -> None:
        """Times new facts, and facts that change what is known."""
        show("record, new fact, ack (ms)", size, timed(TIMED, lambda _: self.ack(*self.add())))
        self.recorder.flush(60.0)
        show("record to searchable (ms)", size, timed(TIMED, lambda _: self.searchable()))
        for name, made in self.reconciled().items():
            show(f"{name}, ack (ms)", size, timed(TIMED, partial(self.tell, made)))
            self.recorder.flush(120.0)

    def reconciled(self) -> dict[str, Callable[[int], Fact]]:
        """What a fact does to known ones -> what makes such a fact of a number."""

        def place(number: int) -> str:
            return f"{PLACES[number % len(PLACES)]} {self.next}"

        return {
            "superseding fact": lambda n: home("user", "Lives", place(n)),
            "near duplicate": lambda n: Fact(f"{collects(n + 1).text} indeed", "preferences"),
            "about a person": lambda n: home("user.brother:sam", "Brother Sam lives", place(n)),
            "ended by its id": lambda _: replace(_GONE, ends=self.newest()),
        }

    def newest(self) -> tuple[str, ...]:
        """The id of a live fact."""
        return tuple(fact.id for fact in self.ledger.live_facts("ana", limit=1))

    def tell(self, made: Callable[[int], Fact], number: int) -> None:
        """Records the fact that ``made`` makes of a number."""
        fact = made(number)
        self.next += 1
        self.ack(*said(self.next, fact))

    def measure_searching(self, size: int) -> None:
        """Times the index and the ledger's words."""

        def search(number: int) -> None:
            query = f"which {THINGS[number % 8]} from {PLACES[number % 10]} do i have"
            self.index.search("ana", query, top_k=10, threshold=0.1)

        def search_words(number: int) -> None:
            self.ledger.search_words("ana", f"stamps number {number}", 10)

        show("search in the index (ms)", size, timed(TIMED, search))
        show("search words in the ledger (ms)", size, timed(TIMED, search_words))

    def measure_erasing(self, size: int) -> None:
        """Times erasing, and a turn that is recorded while it goes on."""
        gone, beside = Times([], []), Times([], [])

        def erase(number: int) -> None:
            fact = self.ledger.search_words("ana", f"number {size - number}", 1)[0][0]
            ids = [fact.id]
            erasing = self.recorder.call
            gone.extend(timed(1, lambda _: erasing(self.ledger.erase, "ana", ids).result()))
            while self.ledger.backlog().depth:
                time.sleep(0.01)
            beside.extend(timed(5, lambda _: self.ack(*self.add())))
            self.recorder.flush(300.0)

        complete = timed(5, erase)
        show("erase one fact, gone from ledger (ms)", size, gone)
        show("erase one fact, receipt complete (ms)", size, complete)
        show("turn recorded during an erasure (ms)", size, beside)


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,50000")
    parser.add_argument("--home", type=Path, default=None)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    print(f"load of the machine before: {load}; {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(options.home or Path(directory))
        try:
            for size in sizes:
                bench.measure(size)
        finally:
            bench.close()


if __name__ == "__main__":
    main()
