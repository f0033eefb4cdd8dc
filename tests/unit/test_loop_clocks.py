"""Whose a stall of the event loop is: what the benchmark of the event loop counts with."""

from __future__ import annotations

import asyncio
import gc
import math
import threading
import time
from types import FunctionType
from typing import Any

import pytest

from benchmarks.loop_clocks import Collections, LoopClock, Span, spent_within
from benchmarks.loop_stalls import Models
from bmo.agent.background import Background

pytestmark = pytest.mark.unit


def compute() -> None:
    """Some processor time, whatever the machine does meanwhile."""
    began = time.thread_time()
    while time.thread_time() - began < 0.005:
        math.sqrt(2.0)


async def _works(rest: Any) -> None:
    compute()
    if rest is not None:
        await rest


def coroutine_of(file: str, rest: Any = None) -> Any:
    """A coroutine whose code stands in ``file``."""
    code = _works.__code__.replace(co_filename=file)
    return FunctionType(code, globals())(rest)


async def counted(work: Any) -> LoopClock:
    clock = LoopClock()
    with clock.counting():
        await asyncio.create_task(work)
    return clock


def spent(spans: Any) -> float:
    return spent_within(spans, 0.0, float("inf"))


async def test_a_task_is_memorys_when_its_coroutine_is() -> None:
    for file, whose in (
        ("/site/bmo/memory/reading.py", True),
        ("/site/livekit/agents/voice/agent.py", False),
        ("/site/bmo/replay/scripted.py", False),
    ):
        clock = await counted(coroutine_of(file))
        assert spent(clock.callbacks) >= 0.005
        assert (spent(clock.memorys) >= 0.005) is whose, file


async def test_what_the_framework_calls_of_memory_is_memorys_and_no_more() -> None:
    async def frameworks() -> None:
        compute()
        Background().guarded("hook", Background().guarded, "hook", compute)

    clock = await counted(frameworks())
    assert len(clock.memorys) == 1, "a call inside of a call is counted once"
    assert spent(clock.memorys) >= 0.005
    assert spent(clock.callbacks) - spent(clock.memorys) >= 0.005


async def test_the_clock_leaves_everything_as_it_was() -> None:
    before = (asyncio.Handle._run, Background.guarded)
    await counted(coroutine_of("/site/bmo/x.py"))
    assert (asyncio.Handle._run, Background.guarded) == before


def test_only_what_lies_between_two_moments_counts() -> None:
    spans = [Span(0.0, 1.0, 0.5), Span(2.0, 4.0, 1.0), Span(5.0, 6.0, 1.0)]
    assert spent_within(spans, 3.0, 5.0) == pytest.approx(0.5)
    assert spent_within(spans, 1.0, 2.0) == 0.0
    assert spent_within(spans, 0.0, 9.0) == pytest.approx(2.5)


def test_a_collection_counts_from_its_begin_wherever_it_ran() -> None:
    clock = LoopClock()
    lasted: list[float] = []
    collections = Collections(clock, lasted)
    began = time.perf_counter()
    with collections.watching():
        gc.collect()
        with clock.memory():
            gc.collect()
        beside = threading.Thread(target=gc.collect)
        beside.start()
        beside.join()
        gc.collect(0)
    assert [span.place for span in collections.spans] == ["framework", "memory", "beside"]
    assert len(lasted) == 3
    now = time.perf_counter()
    places = [collections.lasted(began, now, place) for place in ("framework", "memory", "beside")]
    assert min(places) > 0.0
    assert collections.lasted(began, now) == pytest.approx(sum(places))
    assert collections.lasted(began, began) == 0.0


def test_a_collection_whose_end_nobody_could_note_yet_counts_so_far() -> None:
    collections = Collections(LoopClock(), [])
    collections._note("start", {"generation": 2})
    began = time.perf_counter()
    compute()
    assert collections.lasted(began - 1.0, time.perf_counter() + 1.0) >= 0.005
    collections._note("stop", {"generation": 2})
    assert collections.spans[-1].spent >= 0.005


async def test_the_loop_notes_until_when_it_asked_to_sleep() -> None:
    """The system counts in whole milliseconds: what it rounds up is nobody's doing."""
    clock = LoopClock()
    with clock.counting():
        began = time.perf_counter()
        await asyncio.sleep(0.0034)
    assert began + 0.0034 <= clock.asleep_until <= time.perf_counter() + 0.001
    assert "select" not in vars(asyncio.get_running_loop()._selector)  # type: ignore[attr-defined]


def test_a_collection_lasts_as_long_as_its_thread_stood_in_the_queue() -> None:
    collections = Collections(LoopClock(), [])
    collections._note("start", {"generation": 2})
    waited = collections.spans[-1].queued
    collections._queue = lambda: waited + 5.0  # type: ignore[assignment]
    assert collections.lasted(0.0, float("inf")) >= 5.0
    collections._note("stop", {"generation": 2})
    span = collections.spans[-1]
    assert span.queued == pytest.approx(5.0)
    assert span.ended == pytest.approx(span.began + span.spent + 5.0)


def test_what_a_model_computes_counts_while_it_runs() -> None:
    models = Models()
    seen: list[float] = []

    def run() -> None:
        compute()
        seen.append(models.spent)

    models.timed(run)()
    assert seen[0] >= 0.005
    assert models.spent >= seen[0]
