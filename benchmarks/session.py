"""What memory adds to a session: its start, and the hook of each turn.

``python -m benchmarks.session [TURNS]``.

Start: from ``session.start`` to a session that listens, with and without memory; what a process
does once (opening ledger, index and encoder) is a row of its own. Hook: ``on_user_turn_completed``
by kind of turn, wall time and the thread's own CPU time (a busy machine makes the first longer, not
the second), spoken through a real ``AgentSession`` one turn after the other.
"""

from __future__ import annotations

import asyncio
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from livekit.agents import Agent, AgentSession, llm

from bmo.agent import MemoryAgent, prepare
from bmo.memory import MemoryService
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import load_settings
from bmo.turn import Turn
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import speak, spoken_session

HOOK_P99_MS = 1.0
"""Budget for a turn without recall: encoder and disk are not waited for."""

TOLD = ("my brother is sam", "i live in leeds", "i am allergic to nuts", "i work as a nurse")

KINDS: dict[str, str] = {
    "smalltalk": "thanks that is very kind of you",
    "command": "turn off the lamp in room {n}",
    "statement, a rule reads it": "i like tea number {n}",
    "statement, the encoder reads it": "the house still smells of paint since floor {n} was done",
    "question that recalls": "what is my brother called again {n}",
    "long and rambling": "well you know {n} and then "
    + "we walked along the harbour and somebody sang " * 35,
}


@dataclass
class Timed:
    """Milliseconds of the hook of each turn."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


def timed(agent: Agent, into: Timed) -> Agent:
    """Measures an agent's hook as LiveKit awaits it."""
    own = agent.on_user_turn_completed

    async def hook(turn_ctx: llm.ChatContext, new_message: llm.ChatMessage) -> None:
        wall, cpu = time.perf_counter(), time.thread_time()
        await own(turn_ctx, new_message=new_message)
        into.wall.append((time.perf_counter() - wall) * 1000)
        into.cpu.append((time.thread_time() - cpu) * 1000)

    agent.on_user_turn_completed = hook  # type: ignore[method-assign]
    return agent


async def starts(service: MemoryService | None, times: int) -> list[float]:
    """Milliseconds from the first call to a session that listens, ``times`` times."""
    spent = []
    for number in range(times):
        session: AgentSession[Any] = spoken_session(RuleLLM(), ScriptedRecogniser("en"))
        began = time.perf_counter()
        memory = service.session(user_id="glenn", session_id=f"s{number}") if service else None
        if memory is None:
            agent = Agent(instructions="You are BMO.")
        else:
            agent = MemoryAgent(memory=memory, instructions="You are BMO.")
            await prepare(agent)
        await session.start(agent, record=False)
        spent.append((time.perf_counter() - began) * 1000)
        await session.aclose()
        if memory is not None:
            await memory.aclose()
    return spent


async def hooks(service: MemoryService | None, words: str, turns: int) -> Timed:
    """The hook's times of ``turns`` spoken turns."""
    into, ears = Timed(), ScriptedRecogniser("en")
    memory = service.session(user_id="glenn") if service else None
    agent = (
        MemoryAgent(memory=memory, instructions="You are BMO.")
        if memory
        else Agent(instructions="You are BMO.")
    )
    session = spoken_session(RuleLLM(), ears)
    await session.start(timed(agent, into), record=False)
    try:
        for number in range(turns):
            await speak(session, ears, words.format(n=number))
    finally:
        await session.aclose()
        if memory is not None:
            await memory.aclose()
    return into


def p99(values: Sequence[float]) -> float:
    """The 99th percentile, the nearest rank."""
    return sorted(values)[max(0, -(-99 * len(values) // 100) - 1)]


async def run(turns: int) -> bool:
    """Prints both tables; whether the hook's CPU time keeps its budget."""
    with tempfile.TemporaryDirectory() as directory:
        began = time.perf_counter()
        service = await MemoryService.open(load_settings(bmo_home=Path(directory)))
        opened = (time.perf_counter() - began) * 1000
        told = service.session(user_id="glenn", session_id="earlier")
        for words in TOLD:
            await told.on_turn(Turn(words))
        await told.aclose()
        try:
            await starts(None, 2)  # imports, first event loop work
            off, on = await starts(None, 20), await starts(service, 20)
            print(f"once a process: memory opened in {opened:.0f} ms (prewarm, before any job)")
            print(
                f"session start: p50 {statistics.median(off):.1f} ms without memory, "
                f"{statistics.median(on):.1f} ms with; added "
                f"{statistics.median(on) - statistics.median(off):.1f} ms"
            )
            print(
                f"\n{'hook, ' + str(turns) + ' turns a row':36}"
                f"{'p50':>9}{'p99':>9}{'CPU p50':>10}{'CPU p99':>10}"
            )
            await hooks(service, "hello there {n}", 10)
            rows = {"no memory": await hooks(None, KINDS["smalltalk"], turns)}
            for name, words in KINDS.items():
                rows[name] = await hooks(service, words, turns)
        finally:
            await service.aclose()
    worst = 0.0
    for name, times in rows.items():
        print(
            f"{name:36}{statistics.median(times.wall):6.2f} ms{p99(times.wall):6.2f} ms"
            f"{statistics.median(times.cpu):7.2f} ms{p99(times.cpu):7.2f} ms"
        )
        worst = max(worst, p99(times.cpu))
    print(f"worst CPU p99 {worst:.2f} ms (budget {HOOK_P99_MS} ms)")
    return worst <= HOOK_P99_MS


def main() -> int:
    """Runs with the number of turns given (default 200)."""
    # It says of every empty turn at close that it is skipped.
    logging.getLogger("livekit.agents").setLevel(logging.ERROR)
    return int(not asyncio.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else 200)))


if __name__ == "__main__":
    raise SystemExit(main())
