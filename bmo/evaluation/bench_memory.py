"""Recall on a filled store, in a process of its own: ``python -m bmo.evaluation.bench_memory``.

Called by ``bmo.evaluation.bench``; prints one JSON object.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from bmo.evaluation.bench import own_mb, resident_mb
from bmo.settings import Settings
from bmo.turn import Decision, Fact, Turn

if TYPE_CHECKING:
    from bmo.memory import MemoryService

RECALLS = 200
PREFETCHED = 60
TOLD = 40
SESSIONS = 8
SESSION_TURNS = 12
IDLE_S = 0.5
TICK_S = 0.001
USER = "bench"

THINGS = ("novels", "shells", "maps", "clocks", "records", "coins", "posters", "bottles")
PLACES = ("Leeds", "Oslo", "Pune", "Graz", "Lima", "Cork", "Osaka", "Accra", "Turin", "Perth")
ASKED = (
    "which {thing} from {place} do i have",
    "do i like {thing} from {place}",
    "what do you know about my {thing} from {place}",
    "did i tell you about the {thing} from {place}",
)


def likes(number: int) -> Fact:
    """One of many memories of a person."""
    thing, place = THINGS[number % len(THINGS)], PLACES[number // 8 % len(PLACES)]
    value = f"{thing} from {place} of {1500 + number // 80 % 500} no {number}"
    return Fact(f"Likes {value}", "preferences", slot="likes", value=value, kind="preference")


def question(number: int) -> str:
    """A question about some of them."""
    form = ASKED[number % len(ASKED)]
    return form.format(thing=THINGS[number % 8], place=PLACES[number // 8 % 10].lower())


def fill(service: MemoryService, memories: int) -> None:
    """Records memories as turns would, one a minute.

    Raises:
        RuntimeError: The index did not follow.
    """
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for first in range(0, memories, 500):
        futures = []
        for number in range(first, min(first + 500, memories)):
            fact = likes(number)
            turn = Turn(fact.text, user_id=USER, at=start + timedelta(minutes=number))
            decision = Decision(
                "allow", ("preference",), "stated", 0.9, facts=(fact,), text=fact.text
            )
            futures.append(service.recorder.submit(turn, decision))
        for future in futures:
            future.result()
    if not service.recorder.flush(1800.0):
        raise RuntimeError("the index did not follow the ledger")


async def recall_times(service: MemoryService) -> tuple[list[float], list[float]]:
    """Milliseconds of recalls, cold and prefetched."""
    session = service.session(user_id=USER)
    cold: list[float] = []
    ready: list[float] = []
    for number in range(RECALLS):
        asked = question(number)
        session.drop_reads()
        started = time.perf_counter()
        found = await session.recall(Turn(asked))
        took = (time.perf_counter() - started) * 1000
        if found.plan.recall:
            cold.append(took)
    for number in range(PREFETCHED):
        asked = question(number)
        session.drop_reads()
        session.prefetch(asked)
        # The recogniser's final words come about half a second after the interim ones.
        await asyncio.sleep(0.2)
        started = time.perf_counter()
        found = await session.recall(Turn(asked))
        if found.plan.recall:
            ready.append((time.perf_counter() - started) * 1000)
    await session.aclose()
    return cold, ready


async def searchable_times(service: MemoryService) -> list[float]:
    """Milliseconds from a turn to its memory in the index."""
    session = service.session(user_id=USER)
    took: list[float] = []
    for number in range(TOLD):
        thing, place = THINGS[number % 8], PLACES[number % 10]
        started = time.perf_counter()
        await session.on_turn(
            Turn(f"i sold my old {thing} from {place.lower()} to number {number}")
        )
        await session.flush()
        took.append((time.perf_counter() - started) * 1000)
    await session.aclose()
    return took


async def lateness(work: Awaitable[object]) -> list[float]:
    """How late the event loop was, in milliseconds a tick, while some work was done on it."""
    late: list[float] = []
    ticker = asyncio.create_task(_tick(late))
    await work
    ticker.cancel()
    await asyncio.gather(ticker, return_exceptions=True)
    return late


async def _talk(service: MemoryService, number: int) -> None:
    session = service.session(user_id=USER if number % 2 else f"{USER}-{number}")
    for place in range(SESSION_TURNS):
        spoken = f"i like {THINGS[place % 8]} from {PLACES[number % 10]} very much"
        await session.on_turn(Turn(spoken))
        await session.recall(Turn(question(number * SESSION_TURNS + place)))
        await asyncio.sleep(0.05)
    await session.flush()
    await session.aclose()


async def _tick(late: list[float]) -> None:
    while True:
        started = time.perf_counter()
        await asyncio.sleep(TICK_S)
        late.append((time.perf_counter() - started - TICK_S) * 1000)


async def measure(home: Path, memories: int) -> dict[str, list[float]]:
    """Everything that needs a filled store: milliseconds of each call or tick, and megabytes."""
    from bmo.memory import MemoryService

    before = resident_mb()
    settings = Settings.model_construct(
        bmo_home=home, bmo_user_id=USER, bmo_recall_deadline_ms=10_000
    )
    service = await MemoryService.open(settings)
    try:
        await asyncio.to_thread(fill, service, memories)
        cold, ready = await recall_times(service)
        told = await searchable_times(service)
        resident = resident_mb() - before
        idle = await lateness(asyncio.sleep(IDLE_S))
        talk = asyncio.gather(*(_talk(service, number) for number in range(SESSIONS)))
        return {
            "cold_ms": cold,
            "prefetched_ms": ready,
            "searchable_ms": told,
            "idle_ms": idle,
            "stalls_ms": await lateness(talk),
            "resident_mb": [resident],
            "own_mb": [own_mb()],
        }
    finally:
        await service.aclose()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1]), int(sys.argv[2])))))
