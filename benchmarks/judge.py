"""The judge: time a turn, opening, resident memory; ``python -m benchmarks.judge``.

On a busy machine wall-clock times are noise: the time of the thread that asks is printed as well
(the model runs on it alone), and of several rounds the best. ``--write`` puts the figures beside
the judge, for its card.
"""

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
ROUNDS = 20
REPEATS = 20
P95_MS = 4.0
OPEN_MS = 300.0
RESIDENT_MB = 120.0


def time_turns() -> tuple[list[float], list[float]]:
    """95th percentiles of a single assessment in ms, a repeat each: wall clock, thread time."""
    from bmo.judge import Judge

    judge = Judge.open()
    wall, own = [], []
    for _ in range(REPEATS):
        spent = []
        for turn in TURNS * ROUNDS:
            begun, begun_own = time.perf_counter(), time.thread_time()
            judge.assess([turn])
            spent.append((time.perf_counter() - begun, time.thread_time() - begun_own))
        clock, thread = np.percentile(np.array(spent) * 1000, 95, axis=0)
        wall.append(float(clock))
        own.append(float(thread))
    return wall, own


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
    return min(r[0] for r in runs), float(np.median([r[1] for r in runs]))


def main() -> None:
    """Prints each figure with its budget beside it; ``--write`` keeps them for the card."""
    wall, own = time_turns()
    opened, resident = opened_in_a_new_process()
    measured = {
        "one turn, p95, ms (best of 20 rounds of 100)": round(min(wall), 2),
        "one turn, p95, ms of thread time": round(min(own), 2),
        "loaded with its imports, ms (best of 5)": round(opened),
        "resident memory added, MB": round(resident),
    }
    if "--write" in sys.argv:
        from bmo.judge import MODEL

        text = json.dumps(measured, indent=1) + "\n"
        (MODEL / "timing.json").write_text(text, encoding="utf-8")
    print(
        f"judge, one turn, p95: thread time {min(own):.2f} ms, wall clock best {min(wall):.2f} "
        f"of {REPEATS}, worst {max(wall):.2f} (budget {P95_MS} ms)"
    )
    print(f"judge, opened with imports, best of 5: {opened:.0f} ms (budget {OPEN_MS:.0f} ms)")
    print(f"judge, resident memory added: {resident:.0f} MB (budget {RESIDENT_MB:.0f} MB)")


if __name__ == "__main__":
    main()
