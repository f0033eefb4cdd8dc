"""One visit that does not end: what a long one adds to the process beside its memories.

``python -m benchmarks.soak [TURNS] [few]``. The turns are those of ``training/data``, in the order
of their conversations, or, with ``few``, one of them after nineteen that tell nothing, no two of
which are the same: what grows then is not memory of facts. Each is gated and answered, every fifth
recalled for, with a real ledger and the embedded index, and without deadlines, so that a busy
machine does the same work. A row after 500, 1,000, 2,000 ... turns: live memories, resident memory,
objects that Python keeps.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from bmo.evaluation.bench import resident_mb
from bmo.memory import MemoryService
from bmo.settings import load_settings
from bmo.turn import Turn

TURNS = 10_000
ROW = 500
RECALL_EVERY = 5
FEW = 20
"""With ``few`` one turn in so many may tell a fact."""
NOTHING = (
    "set a timer for {} minutes",
    "what is {} times seven",
    "play song number {} again",
    "how many seconds are {} hours",
    "whats the weather in {} days",
    "do you remember what i said {} minutes ago",
)
NO_DEADLINE_MS = 60_000
USER = "ada"
DATA = Path(__file__).parents[1] / "training" / "data"


def spoken() -> Iterator[tuple[str, str]]:
    """What people say and what is answered, conversation after conversation, again and again."""
    while True:
        for file in sorted(DATA.glob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if row.get("user"):
                    yield row["user"], row.get("assistant", "")


def mostly_nothing() -> Iterator[tuple[str, str]]:
    """One turn of ``spoken`` among many that tell nothing, no two of them the same."""
    told = spoken()
    for number in count():
        if number % FEW == 0:
            yield next(told)
        else:
            yield NOTHING[number % len(NOTHING)].format(number), f"That is number {number}."


def show(turns: int, service: MemoryService) -> None:
    """Prints one row."""
    gc.collect()
    memories = service.ledger.count_live(USER)
    print(f"{turns:6} {memories:9} {resident_mb():13.1f} {len(gc.get_objects()):8}", flush=True)


async def soak(home: Path, turns: int, said: Iterator[tuple[str, str]]) -> None:
    """Speaks the turns in one visit and prints the rows; the last one is after its end."""
    settings = load_settings(
        bmo_home=home,
        gatekeeper_mode="local",
        mem0_setting="GATED",
        bmo_recall_deadline_ms=NO_DEADLINE_MS,
    )
    service = await MemoryService.open(settings)
    await asyncio.to_thread(service.warm_up)
    memory = service.session(user_id=USER)
    print(" turns  memories  resident (MB)  objects")
    show(0, service)
    before = ""
    for number, (words, reply) in enumerate(islice(said, turns), start=1):
        turn = Turn(words, assistant_before=before)
        memory.submit_turn(turn)
        if number % RECALL_EVERY == 0:
            await memory.recall(turn)
        await memory.recorded(turn.id)
        memory.note_reply(turn.id, reply)
        before = reply
        if number == ROW or number % (2 * ROW) == 0:
            await memory.flush()
            show(number, service)
    await memory.aclose()
    show(turns, service)
    await service.aclose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        given = [int(one) for one in sys.argv[1:] if one.isdecimal()] or [TURNS]
        said = mostly_nothing() if "few" in sys.argv else spoken()
        asyncio.run(soak(Path(home), given[0], said))
