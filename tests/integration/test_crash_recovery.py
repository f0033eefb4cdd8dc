"""kill -9 at any moment: nothing acknowledged is lost, nothing is doubled, both stores agree."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from bmo.worker import PRELOAD
from tests.integration.crash_writer import write
from tests.integration.memory_parts import difference, open_parts

pytestmark = pytest.mark.integration

KILLS = int(os.environ.get("BMO_TEST_KILLS", "12"))
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([PRELOAD, write.__module__])


def run_and_kill(home: Path, run: int, acks_before_kill: int, delay_s: float) -> list[str]:
    """Starts the writer and kills it a random moment after some acknowledgements."""
    told, tells = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=write, args=(home, run, tells))
    process.start()
    tells.close()
    lines: list[str] = []
    timer: threading.Timer | None = None
    with told, contextlib.suppress(EOFError):  # its end
        while True:
            lines.append(told.recv())
            if len(lines) >= acks_before_kill and timer is None:
                timer = threading.Timer(delay_s, process.kill)
                timer.start()
    process.join(60)
    assert timer is not None, f"it died by itself: {process.exitcode}"
    timer.join()
    assert process.exitcode == -signal.SIGKILL
    process.close()
    return lines


def test_killed_at_random_moments_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    chance = random.Random(20261121)
    added: Counter[str] = Counter()
    ended: set[str] = set()
    asked: set[str] = set()
    for run in range(KILLS):
        lines = run_and_kill(tmp_path, run, chance.randint(1, 30), chance.uniform(0.0, 0.15))
        for line in lines:
            verb, _, text = line.partition(" ")
            if verb == "add":
                added[text] += 1
            elif verb == "end":
                ended.add(text)
            else:
                asked.add(text)
    with open_parts(tmp_path) as parts:
        parts.mended()
        live = Counter(fact.text for fact in parts.ledger.live_facts("ana"))
        indexed = Counter(entry.text for entry in parts.index.entries("ana"))
        differs = difference(parts.ledger, parts.index)
    assert sum(added.values()) > 5 * KILLS
    # The last write before a kill may be on disk without having been acknowledged; a home that
    # was replaced by such a write is the only acknowledged fact that may be gone.
    homes = {text for text in added if text.startswith("Lives in")}
    lost = set(added) - ended - asked - set(live) - homes
    doubled = {text for counted in (live, indexed) for text, n in counted.items() if n > 1}
    told = {"kills": KILLS, "acknowledged": sum(added.values()), "forgotten": len(asked)}
    print({**told, "lost": len(lost), "doubled": len(doubled), "live": len(live)})
    assert lost == set()
    assert doubled == set()
    assert sum(text.startswith("Lives in") for text in live) == 1
    assert ended & set(live) == set()
    assert indexed == live
    assert not differs
