"""Judge and embedder: time a turn, opening, resident memory; ``python -m benchmarks.judge``."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np

TURNS = (
    ("", "im keeping the cat obviously biscotti was mine from the start"),
    ("Is it just you at home?", "no me and my daughter temi"),
    ("", "play some jazz"),
    ("That's quite a change. How do you like it?", "well the hours are better and i get to "
     "sleep in but my back is killing me since they took the old chairs away"),
    ("", "what should i cook tonight for my mother in law"),
)  # fmt: skip
ROUNDS = 200
P95_MS = 4.0
OPEN_MS = 300.0
RESIDENT_MB = 120.0


def time_turns() -> list[float]:
    """Milliseconds of each single assessment."""
    from bmo.judge import Judge

    judge = Judge.open()
    spent = []
    for _ in range(ROUNDS):
        for turn in TURNS:
            begun = time.perf_counter()
            judge.assess([turn])
            spent.append((time.perf_counter() - begun) * 1000)
    return spent


def opened_in_a_new_process() -> tuple[float, float]:
    """Milliseconds to open the judge and megabytes it adds, in a process that has numpy."""
    code = (
        "import time, json, numpy\n"
        "def resident():\n"
        "    for line in open('/proc/self/status'):\n"
        "        if line.startswith('VmRSS'): return int(line.split()[1]) / 1024\n"
        "before = resident(); begun = time.perf_counter()\n"
        "from bmo.judge import Judge\n"
        "judge = Judge.open(); spent = (time.perf_counter() - begun) * 1000\n"
        "judge.assess([('', 'i have a dog')])\n"
        "print(json.dumps([spent, resident() - before]))"
    )
    runs = [
        json.loads(
            subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        )
        for _ in range(5)
    ]
    return float(np.median([r[0] for r in runs])), float(np.median([r[1] for r in runs]))


def main() -> None:
    """Prints each figure with its budget beside it."""
    spent = time_turns()
    p50, p95 = np.percentile(spent, (50, 95))
    opened, resident = opened_in_a_new_process()
    print(f"judge, one turn: p50 {p50:.2f} ms, p95 {p95:.2f} ms (budget p95 {P95_MS} ms)")
    print(f"judge, opened with imports: {opened:.0f} ms (budget {OPEN_MS:.0f} ms)")
    print(f"judge, resident memory added: {resident:.0f} MB (budget {RESIDENT_MB:.0f} MB)")


if __name__ == "__main__":
    main()
