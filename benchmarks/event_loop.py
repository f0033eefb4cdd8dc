"""Stalls of the event loop with eight sessions.

``python -m benchmarks.event_loop [ROUNDS] [--pause SECONDS]``

Eight ``AgentSession``s speak at once on one loop, each with a user of its own (``MEMORIES`` stored
before) on one memory service: they tell, ask and chat, so that the gate judges, the recorder writes
ledger and index, and recall searches. Between two turns is ``PAUSE_S``, a hundredth of what people
leave, and all eight keep step, so the framework alone fills most of a processor; with ``--pause 1``
it is a fifth of what people leave, and each session has its own. The same conversations run without
memory, in turns with it, and a process that does nothing but beat shows the machine.

Whose stalls they are is told by clocks and stacks (``benchmarks/loop_stalls.py``); the budget is
for memory's part. Beside them it says how many recalls came in time.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import multiprocessing
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from livekit.agents import Agent, AgentSession

from benchmarks.loop_stalls import Beats, Models, Watch, heading, shown
from bmo.agent import MemoryAgent, prepare
from bmo.memory import MemoryService
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings, load_settings
from bmo.turn import Turn
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import TIMEOUT_S, spoken_session

STALL_MS = 5.0
"""The design's budget: no stall caused by memory is longer."""

SESSIONS = 8
MEMORIES = 60
"""Stored of each user before the first round."""

PAUSE_S = 0.05
"""Silence between two turns of a session, so that eight speak through each other."""

SHOWN = 12
"""Stalls whose cause is printed."""

TURNS = (
    "my brother is called sam",
    "what is my brother called",
    "the allotment has been mine since the spring",
    "thanks that is very kind",
    "i like tea and i do not like coffee at all",
    "suggest a dinner for me",
    "what do you know about me",
    "i used to live in oslo but i moved to leeds last year",
    "turn off the lamp in the kitchen",
    "what should i get my brother for his birthday",
)
THINGS = "garden kitchen boat piano dog car bicycle roof window lamp phone shelf cellar".split()


@dataclass
class Recalls:
    """What recall gave: milliseconds of those that came, and how many were late."""

    took: list[float] = field(default_factory=list)
    late: int = 0


def beat_alone(ready: Any, stop: Any, answer: Any) -> None:
    """A process that does nothing but beat: how late the machine lets anybody be."""

    async def run() -> Beats:
        beats = Beats()
        async with Watch(beats).beating():
            ready.set()
            while not stop.is_set():  # noqa: ASYNC110  # another process's event
                await asyncio.sleep(0.05)
        return beats

    answer.put(asyncio.run(run()))


def silences(number: int, pause: float | None) -> Iterator[float]:
    """Seconds of silence before the first turn of a session and after each.

    Args:
        number: Of the session.
        pause: Seconds between two turns on average, half as much to half as much again; None for
            ``PAUSE_S``, in step with all others.
    """
    if pause is None:
        yield 0.0
        while True:
            yield PAUSE_S
    chance = random.Random(number)
    yield chance.uniform(0.0, pause)
    while True:
        yield chance.uniform(0.5 * pause, 1.5 * pause)


async def converse(
    agent: Agent, number: int, begin: asyncio.Event, end: asyncio.Event, pause: float | None
) -> None:
    """One session's conversation, begun when all sessions stand."""
    silence = silences(number, pause)
    ears = ScriptedRecogniser("en")
    session: AgentSession[Any] = spoken_session(RuleLLM("Sam likes that."), ears)
    await session.start(agent, record=False)
    try:
        await begin.wait()
        await asyncio.sleep(next(silence))
        for turn in range(len(TURNS)):
            ears.will_hear(TURNS[(turn + number) % len(TURNS)])
            await session.commit_user_turn(transcript_timeout=TIMEOUT_S)
            await session.wait_for_idle()
            await asyncio.sleep(next(silence))
        end.set()
        await asyncio.sleep(1.0)  # nobody is watched any more when sessions close
    finally:
        await session.aclose()


def watched_models(service: MemoryService) -> Models:
    """Counts what the encoder computes outside of the interpreter, for the gates and the index."""
    models = Models()
    own: Any = service.encoder
    embedder: Any = service.index.embedder if service.index is not None else None
    for encoder in (own, embedder and embedder._encoder):
        if encoder is not None:
            encoder._session = SimpleNamespace(run=models.timed(encoder._session.run))
    return models


async def one_round(
    service: MemoryService | None,
    beats: Beats,
    recalls: Recalls,
    models: Models | None = None,
    pause: float | None = None,
) -> None:
    """Eight conversations at once; the beats are those of the talking, not of start and end."""
    begin, end = asyncio.Event(), asyncio.Event()
    agents: list[Agent] = []
    for number in range(SESSIONS):
        if service is None:
            agents.append(Agent(instructions="You are BMO."))
            continue
        memory = service.session(user_id=f"user{number}")
        remembering = MemoryAgent(memory=memory, instructions="You are BMO.")
        await prepare(remembering)
        agents.append(remembering)
    talks = [asyncio.ensure_future(converse(a, n, begin, end, pause)) for n, a in enumerate(agents)]
    await asyncio.sleep(0.5)
    async with Watch(beats, models).beating():
        begin.set()
        await end.wait()  # the first to end; all others still talk so far
    await asyncio.gather(*talks)
    for ended in agents:
        if isinstance(ended, MemoryAgent):
            _note(ended, recalls)
            await ended.conversation.aclose()


def _note(agent: MemoryAgent, recalls: Recalls) -> None:
    for heard in agent.conversation.turns:
        given = heard.given
        if given is None or given.plan.trigger == "deadline":
            recalls.late += 1
        else:
            recalls.took.append(given.elapsed_ms)


async def fill(service: MemoryService) -> None:
    """Memories of every user, told the way a person tells them."""
    for number in range(SESSIONS):
        memory = service.session(user_id=f"user{number}")
        for n in range(MEMORIES):
            thing = THINGS[n % len(THINGS)]
            await memory.on_turn(Turn(f"i like the {thing} number {n} that my friend{n} built"))
        await memory.aclose()


async def run(rounds: int, pause: float | None) -> bool:
    """Prints the figures; whether the budget is kept."""
    on, off, alone, recalls = Beats(), Beats(), Beats(), Recalls()
    with tempfile.TemporaryDirectory() as home:
        settings: Settings = load_settings(bmo_home=Path(home))
        service = await MemoryService.open(settings)
        try:
            await asyncio.to_thread(service.warm_up)
            models = watched_models(service)
            await fill(service)
            await one_round(service, Beats(), Recalls())
            await one_round(None, Beats(), Recalls())
            for _ in range(rounds):
                process, ready, stop, answer = _start_beating()
                await asyncio.to_thread(ready.wait)
                await one_round(service, on, recalls, models, pause)
                await one_round(None, off, Recalls(), pause=pause)
                stop.set()
                found: Beats = await asyncio.to_thread(answer.get)
                alone.count += found.count
                alone.late += found.late
                await asyncio.to_thread(process.join)
        finally:
            await service.aclose()
    return _show(rounds, on, off, alone, recalls)


def _start_beating() -> tuple[Any, Any, Any, Any]:
    context = multiprocessing.get_context("spawn")
    ready, stop, answer = context.Event(), context.Event(), context.Queue()
    process = context.Process(target=beat_alone, args=(ready, stop, answer), daemon=True)
    process.start()
    return process, ready, stop, answer


def _show(rounds: int, on: Beats, off: Beats, alone: Beats, recalls: Recalls) -> bool:
    print(f"{SESSIONS} sessions, {rounds} rounds of {len(TURNS)} turns each, with and without\n")
    print(heading())
    print(shown("with memory", on))
    print(shown("  of it memory's part", on, "memorys"))
    print(shown("without memory", off))
    print(shown("a process that only beats", alone))
    print()
    for name, beats in (("with memory", on), ("without", off)):
        longest = max(beats.collections, default=0.0)
        print(f"full collections {name}: {len(beats.collections)}, longest {longest:.1f} ms")
    took = sorted(recalls.took) or [0.0]
    every = len(recalls.took) + recalls.late
    print(
        f"recalls: {every}, {recalls.late} past their deadline; p50 {statistics.median(took):.1f} "
        f"ms, p95 {took[int(0.95 * (len(took) - 1))]:.1f} ms"
    )
    part = sum(beat.memorys for beat in on.late) / max(every, 1)
    queue = sum(beat.queue for beat in on.late) / max(every, 1)
    print(f"a turn: {part:.1f} ms of memory's in late beats, {queue:.1f} ms in the machine's queue")
    if queue > 2 * part:
        print("the machine is too busy to say whose a stall is: run it when nothing else does")
    print(f"\nthe {SHOWN} stalls with most of memory's (ms: late = loop + queue + held + rest)")
    for beat in sorted(on.late, key=lambda beat: -beat.memorys)[:SHOWN]:
        print(
            f"  memory's {beat.memorys:5.1f}  late {beat.late:6.1f}  loop {beat.loop:5.1f}  "
            f"queue {beat.queue:6.1f}  held {beat.held:5.1f}  of memory's on the loop "
            f"{beat.own:4.1f}  collecting {beat.collecting:4.1f}  in {beat.where}"
        )
        for thread in beat.beside:
            print(f"{'':20}{thread}")
    worst = max((beat.memorys for beat in on.late), default=0.0)
    word = "kept" if worst <= STALL_MS else "missed"
    print(f"\nmemory's longest part of a stall {worst:.1f} ms (budget {STALL_MS:g} ms): {word}")
    return worst <= STALL_MS


def main() -> None:
    """Runs it; exit code 1 when the budget is missed."""
    # It says of every empty turn at close that it is skipped.
    logging.getLogger("livekit.agents").setLevel(logging.ERROR)
    logging.getLogger("bmo").setLevel(logging.ERROR)  # late recalls are counted
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("rounds", nargs="?", type=int, default=5, help="rounds of ten turns each")
    parser.add_argument("--pause", type=float, help="seconds between two turns of a session")
    given = parser.parse_args()
    if given.rounds < 1 or (given.pause is not None and given.pause <= 0.0):
        parser.error("give one round or more, and a pause of more than 0 seconds")
    sys.exit(0 if asyncio.run(run(given.rounds, given.pause)) else 1)


if __name__ == "__main__":
    main()
