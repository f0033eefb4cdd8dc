"""One visit that does not end: what a long one adds to the process beside its memories.

``python -m benchmarks.soak [TURNS]``. The turns are those of ``training/data``, in the order of
their conversations; each is gated and answered, every fifth recalled for, with a real ledger and
the embedded index, and without deadlines, so that a busy machine does the same work. A row after
every fifth part: live memories, resident memory, objects that Python keeps.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bmo.evaluation.bench import resident_mb
from bmo.memory import MemoryService
from bmo.settings import load_settings
from bmo.turn import Turn

TURNS = 10_000
ROWS = 5
RECALL_EVERY = 5
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


def show(turns: int, service: MemoryService) -> None:
    """Prints one row."""
    gc.collect()
    memories = service.ledger.count_live(USER)
    print(f"{turns:6} {memories:9} {resident_mb():13.1f} {len(gc.get_objects()):8}", flush=True)


async def soak(home: Path, turns: int) -> None:
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
    for number, (words, reply) in enumerate(islice(spoken(), turns), start=1):
        turn = Turn(words, assistant_before=before)
        memory.submit_turn(turn)
        if number % RECALL_EVERY == 0:
            await memory.recall(turn)
        await memory.recorded(turn.id)
        memory.note_reply(turn.id, reply)
        before = reply
        if number % (turns // ROWS) == 0:
            await memory.flush()
            show(number, service)
    await memory.aclose()
    show(turns, service)
    await service.aclose()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(soak(Path(home), int(sys.argv[1]) if sys.argv[1:] else TURNS))
