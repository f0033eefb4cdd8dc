"""Memory of a call on a fleet: processes as LiveKit forks them, each with a memory of its own.

``python -m benchmarks.calls [--calls 3] [--alone]`` on Linux, with Debian's package postgresql. The
index is the fake server of the tests. Three figures a process, in MB: resident (what ``ps`` shows,
shared pages in each), share (shared pages divided among who shares them), own (what goes with it).
``--alone`` leaves out what BMO loads in the fork server.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from bmo.worker import PRELOAD

TURNS = 20
PATIENCE_S = 300.0
LIVEKITS = ("livekit.agents.ipc._preload", "livekit.agents.ipc._preload_freeze")


def main() -> None:
    """Starts the servers and the calls, and prints a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--alone", action="store_true")
    wanted = parser.parse_args()
    from tests.fakes.qdrant_server import FakeQdrantServer
    from tests.integration.postgres_server import postgres_server

    first, last = LIVEKITS
    preloaded = [first, last] if wanted.alone else [PRELOAD, first, last]
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(preloaded)
    told: Any = context.Queue()
    all_talked = context.Event()
    index = FakeQdrantServer()
    with postgres_server() as server:
        calls = [
            context.Process(target=call, args=(index.url, f"{server}postgres", told, all_talked))
            for _ in range(wanted.calls)
        ]
        for one in calls:
            one.start()
            print(f"memory open after {told.get(timeout=PATIENCE_S):.1f} s")
        all_talked.set()
        for _ in calls:
            resident, share, own = told.get(timeout=PATIENCE_S)
            print(f"resident {resident:.0f} MB, share {share:.0f} MB, own {own:.0f} MB")
        for one in calls:
            one.join(PATIENCE_S)
    index.close()


def call(qdrant_url: str, ledger_url: str, told: Any, all_talked: Any) -> None:
    """One call: opens memory, talks, and says what it takes while the others still talk."""
    from bmo.memory import MemoryService
    from bmo.settings import load_settings
    from bmo.turn import Turn
    from tests.fakes.qdrant_door import API_KEY

    with tempfile.TemporaryDirectory() as home:
        settings = load_settings(
            bmo_home=Path(home),
            bmo_ledger_url=ledger_url,
            qdrant_url=qdrant_url,
            qdrant_api_key=API_KEY,
        )
        began = time.perf_counter()
        service = MemoryService.open_blocking(settings)
        service.warm_up()
        told.put(time.perf_counter() - began)

        async def talk() -> None:
            visit = service.session(user_id=f"user-{os.getpid()}")
            for number in range(TURNS):
                turn = Turn(text=f"i like music number {number}")
                await visit.recall(turn)
                await visit.on_turn(turn)
            await visit.aclose()

        asyncio.run(talk())
        all_talked.wait(PATIENCE_S)
        told.put(memory())
        time.sleep(1.0)  # until the others have looked as well
        service.close_blocking()


def memory() -> tuple[float, float, float]:
    """Resident, share and own memory of this process, in MB."""
    sizes: dict[str, float] = {}
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]:
        name, _, size = line.partition(":")
        sizes[name] = int(size.split()[0]) / 1024
    return sizes["Rss"], sizes["Pss"], sizes["Private_Dirty"] + sizes["Private_Clean"]


if __name__ == "__main__":
    main()
