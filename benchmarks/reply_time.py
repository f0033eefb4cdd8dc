"""Time to the reply with preemptive generation; ``python -m benchmarks.reply_time [ROUNDS]``.

A person notices one number: from the end of their speech to the first words of the reply. Four rows
from one run, each the same scripted speech through a real ``AgentSession`` (see
``tests/fakes/scripted_speech.py``) and the real memory service, with a model that takes 400 ms and
an endpointing delay of 300 ms:

- memory off;
- ``GATED``, turns that need no memory;
- ``GATED``, turns that need it;
- ``NORMAL``: every turn searched and injected.

The rows take turns round by round, so that a busy machine is busy for all of them. "kept" is the
share of replies started early that were given.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

from livekit.agents import Agent

from bmo.agent import MemoryAgent
from bmo.memory import MemoryService
from bmo.settings import load_settings
from bmo.turn import Turn
from tests.fakes.scripted_speech import PlayedTurn, play

LATENCY_S, ENDPOINTING_S = 0.4, 0.3

TOLD = (
    "my brother is sam",
    "i live in leeds",
    "i am allergic to nuts",
    "i work as a nurse",
    "my favourite tea is jasmine",
)
PLAIN = ("good morning", "turn the light off", "what time is it", "how tall is a giraffe")
ASKING = (
    "whats my brothers name",
    "where do i live",
    "what am i allergic to",
    "suggest a dinner for me",
)
SLACK_MS = 25.0
"""A median within this of memory off counts as equal; the scheduler alone makes 10."""

ROWS: tuple[tuple[str, dict[str, str] | None, tuple[str, ...]], ...] = (
    ("memory off", None, (*PLAIN, *ASKING)),
    ("GATED, nothing to recall", {}, PLAIN),
    ("GATED, recall", {}, ASKING),
    ("NORMAL", {"mem0_setting": "NORMAL"}, (*PLAIN, *ASKING)),
)


async def measure(rounds: int) -> dict[str, list[PlayedTurn]]:
    """Plays every row ``rounds`` times; the turns of each."""
    played: dict[str, list[PlayedTurn]] = {name: [] for name, _, _ in ROWS}
    with tempfile.TemporaryDirectory() as directory:
        services = {}
        for number, (name, values, _) in enumerate(ROWS):
            if values is not None:
                services[name] = await _told(Path(directory) / str(number), values)
        try:
            for _ in range(rounds):
                for name, _, turns in ROWS:
                    played[name] += await _visit(services.get(name), turns)
        finally:
            for service in services.values():
                await service.aclose()
    return played


async def _told(home: Path, values: dict[str, str]) -> MemoryService:
    service = await MemoryService.open(load_settings(bmo_home=home, **values))
    memory = service.session(user_id="glenn")
    for words in TOLD:
        await memory.on_turn(Turn(words))
    await memory.aclose()
    return service


async def _visit(service: MemoryService | None, turns: tuple[str, ...]) -> list[PlayedTurn]:
    if service is None:
        off = Agent(instructions="You are BMO.")
        return await play(off, turns, latency_s=LATENCY_S, endpointing_s=ENDPOINTING_S)
    memory = service.session(user_id="glenn")
    agent = MemoryAgent(memory=memory, instructions="You are BMO.")
    try:
        return await play(agent, turns, latency_s=LATENCY_S, endpointing_s=ENDPOINTING_S)
    finally:
        await memory.aclose()


def main() -> int:
    """Prints the table; 1 when a GATED row is slower than memory off or loses early replies."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    played = asyncio.run(measure(rounds))
    print(f"model {LATENCY_S * 1000:.0f} ms, endpointing {ENDPOINTING_S * 1000:.0f} ms")
    print(f"{'row':32}{'turns':>6}{'reply p50':>11}{'p95':>7}{'kept':>7}{'LLM calls':>11}")
    for name, turns in played.items():
        times = sorted(turn.reply_ms for turn in turns)
        print(
            f"{name:32}{len(turns):6}{statistics.median(times):8.0f} ms"
            f"{times[int(0.95 * (len(times) - 1))]:7.0f}"
            f"{sum(turn.kept for turn in turns) / len(turns):7.0%}"
            f"{sum(turn.model_calls for turn in turns) / len(turns):11.2f}"
        )
    off = statistics.median(turn.reply_ms for turn in played["memory off"])
    failed = []
    for name in ("GATED, nothing to recall", "GATED, recall"):
        more = statistics.median(turn.reply_ms for turn in played[name]) - off
        kept = all(turn.kept for turn in played[name])
        print(f"{name}: {more:+.0f} ms against memory off (budget {SLACK_MS:.0f} ms)")
        if more > SLACK_MS or not kept:
            failed.append(name)
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
