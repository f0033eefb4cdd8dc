"""``bmo bench``: every speed budget as one table, from one run on this machine.

What needs a clean process (import time, resident memory) is measured in one. Nothing leaves the
machine, and the person's own memory is not touched: everything runs in a temporary home.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bmo.settings import Settings
from bmo.turn import Turn

DEFAULT_MEMORIES = 2_000
BUDGET_MEMORIES = 10_000
"""Memories for which the recall and memory budgets are meant."""

TURNS = 2_000
"""Turns the rules are timed on, at most."""

JUDGED = 300
"""Turns the judge is timed on."""

BEST_OF = 3
"""Times each of them is measured; the best counts."""

HOOKS = 60
"""Spoken turns through a real AgentSession."""

HOSTILE_CHARACTERS = 2_000

_CHILD_TIMEOUT_S = 900


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table.

    Attributes:
        name: What was measured.
        statistic: mean, p95, p99, median, max, total.
        value: The figure.
        budget: It should not be over this.
        unit: us, ms or MB.
        note: What else is to be known.
    """

    name: str
    statistic: str
    value: float
    budget: float
    unit: str
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether it is within its budget."""
        return self.value <= self.budget


@dataclass(frozen=True, slots=True)
class Peer:
    """What somebody else's way takes for the same work, in the same run; it has no budget.

    Attributes:
        name: What was measured.
        statistic: mean or p95.
        value: The figure.
        unit: us or ms.
        beside: The name of our own figure that it stands beside.
        note: What else is to be known.
    """

    name: str
    statistic: str
    value: float
    unit: str
    beside: str
    note: str = ""


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "load": load,
    }


def run(memories: int = DEFAULT_MEMORIES) -> Iterator[Figure]:
    """Measures everything, one figure after the other.

    Args:
        memories: How many memories recall searches; 10,000 is what the budget is for, and takes
            some minutes to fill.
    """
    yield from import_figures()
    yield from gate_figures()
    yield from judge_figures()
    yield plan_figure()
    yield from hook_figures()
    yield from memory_figures(memories)


def import_figures(rounds: int = 5) -> Iterator[Figure]:
    """How long imports take, in new processes: the package, and the door to memory."""
    for module in ("bmo", "bmo.memory"):
        program = (
            f"import time; t = time.perf_counter()\nimport {module}\nprint(time.perf_counter() - t)"
        )
        took = [float(_child("-c", program)) * 1000 for _ in range(rounds)]
        yield Figure(
            f"import {module}", "median", float(np.median(took)), 150, "ms", f"{rounds} processes"
        )


def gate_figures() -> Iterator[Figure]:
    """The write gate's rules on turns of conversations, and on hostile text."""
    from bmo.gate import WriteGate

    gate = WriteGate.from_settings(_settings(), load_judge=False)
    texts, source = bench_texts()
    _times_us(lambda text: gate.decide_by_rules(Turn(text)), texts[:100])
    took = _times_us(lambda text: gate.decide_by_rules(Turn(text)), texts)
    note = f"{len(texts)} turns of {source}, best of {BEST_OF}"
    yield Figure("write gate, rules", "mean", float(took.mean()), 60, "us", note)
    yield Figure("write gate, rules", "p99", float(np.percentile(took, 99)), 500, "us", note)
    worst = [
        float(_times_us(lambda text: gate.decide_by_rules(Turn(text)), [text])[0])
        for text in hostile_texts()
    ]
    note = f"{HOSTILE_CHARACTERS} characters, {len(worst)} kinds, the worst"
    yield Figure("write gate, hostile text", "max", max(worst) / 1000, 2, "ms", note)


def judge_figures() -> Iterator[Figure]:
    """The local judge: one turn, opening, resident memory."""
    from bmo.judge import Judge

    judge = Judge.open()
    texts, _ = bench_texts()
    took = _times_us(lambda text: judge.assess([("", text)]), texts[:JUDGED]) / 1000
    judge.close()
    note = f"{len(took)} turns, best of {BEST_OF}"
    yield Figure("local judge, a turn", "p95", float(np.percentile(took, 95)), 4, "ms", note)
    program = (
        "import json, time, numpy\n"
        "from bmo.evaluation.bench import resident_mb\n"
        "before = resident_mb(); t = time.perf_counter()\n"
        "from bmo.judge import Judge\n"
        "judge = Judge.open(); took = time.perf_counter() - t\n"
        "judge.assess([('', 'i have a dog')])\n"
        "print(json.dumps([took * 1000, resident_mb() - before]))"
    )
    opened = np.median([json.loads(_child("-c", program)) for _ in range(3)], axis=0)
    yield Figure("local judge, opening", "median", float(opened[0]), 300, "ms", "3 processes")
    yield Figure("local judge, resident", "median", float(opened[1]), 120, "MB", "3 processes")


def plan_figure() -> Figure:
    """The read gate's rules."""
    from bmo.recall import ReadGate

    gate = ReadGate.from_settings(_settings(), load_judge=False)
    texts, source = bench_texts()
    _times_us(lambda text: gate.plan_by_rules(Turn(text)), texts[:100])
    took = _times_us(lambda text: gate.plan_by_rules(Turn(text)), texts)
    note = f"{len(texts)} turns of {source}, best of {BEST_OF}"
    return Figure("read gate, plan", "p99", float(np.percentile(took, 99)), 200, "us", note)


def hook_figures() -> Iterator[Figure]:
    """What the hook adds to a spoken turn without recall, measured by LiveKit itself."""
    from bmo.replay.runner import run_scenario
    from bmo.replay.scenario import Scenario
    from bmo.telemetry import quiet_logs

    said = ("play some jazz", "what is the capital of peru", "turn the light off", "thanks a lot")
    scenario = Scenario.model_validate(
        {
            "id": "bench",
            "user": "bench",
            "sessions": [
                {
                    "at": "2026-03-01T09:00:00+00:00",
                    "turns": [
                        {"user": said[n % len(said)], "assistant": "ok", "verdict": "discard"}
                        for n in range(HOOKS)
                    ],
                }
            ],
        }
    )
    with quiet_logs():
        result = asyncio.run(run_scenario(scenario, _settings()))
    took = [
        turn.hook_ms for turn in result.turns if turn.recall is None or not turn.recall.memories
    ]
    yield Figure(
        "hook, turn without recall",
        "p99",
        float(np.percentile(took, 99)),
        1,
        "ms",
        f"{len(took)} turns through AgentSession",
    )


def memory_figures(memories: int) -> Iterator[Figure]:
    """Recall, event loop and resident memory with so many memories, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bmo-bench-", ignore_cleanup_errors=True) as home:
        answer = _child("-m", "bmo.evaluation.bench_memory", home, str(memories))
    found = json.loads(answer.splitlines()[-1])
    note = f"{memories:,} memories"
    if memories != BUDGET_MEMORIES:
        note += f"; the budget is for {BUDGET_MEMORIES:,}"
    cold, ready, stalls = found["cold_ms"], found["prefetched_ms"], found["stalls_ms"]
    yield Figure("recall, cold", "p95", float(np.percentile(cold, 95)), 10, "ms", note)
    yield Figure("recall, prefetched", "p95", float(np.percentile(ready, 95)), 1, "ms", note)
    yield Figure(
        "event loop stall, 8 sessions",
        "p99",
        float(np.percentile(stalls, 99)),
        5,
        "ms",
        f"max {max(stalls):.1f} ms, {len(stalls)} ticks; an idle loop here: "
        f"p99 {np.percentile(found['idle_ms'], 99):.1f}",
    )
    yield Figure("memory part, resident", "total", found["resident_mb"], 250, "MB", note)


def peer_figures(memories: int) -> Iterator[Peer]:
    """What an awaited Mem0 and the published pattern gate take here, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="bmo-peers-", ignore_cleanup_errors=True) as home:
        answer = _child("-m", "bmo.evaluation.bench_peers", home, str(memories))
    found = json.loads(answer.splitlines()[-1])
    note = f"{memories:,} memories, qdrant-client's local mode, no inference, awaited every turn"
    for name, beside in (("search", "recall, cold"), ("add", "hook, turn without recall")):
        took = float(np.percentile(found[f"{name}_ms"], 95))
        yield Peer(f"Mem0 {name}", "p95", took, "ms", beside, note)
    note = f"{len(found['gate_us'])} turns; stores whole turns, finds no facts"
    mean = float(np.mean(found["gate_us"]))
    yield Peer("published pattern gate", "mean", mean, "us", "write gate, rules", note)


def bench_texts() -> tuple[list[str], str]:
    """Turns to time rules on, and where they are from.

    The training conversations where the repository is there, else the rules' own examples.
    """
    folder = Path(__file__).parents[2] / "training" / "data"
    texts: list[str] = []
    for file in sorted(folder.glob("*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            texts += [str(json.loads(line)["user"]) for line in lines if line.strip()]
    if texts:
        step = max(1, len(texts) // TURNS)
        return texts[::step][:TURNS], "the training conversations"
    from bmo.gate.packs import load_pack

    rules = load_pack("en").rules
    shown = [example[0] for rule in rules for example in rule.data.examples]
    shown += [text for rule in rules for text in rule.data.non_examples]
    return shown[:TURNS], "the rules' examples"


def hostile_texts() -> list[str]:
    """Texts made to be slow: long words, runs of one word, nesting, digits, odd letters."""
    size = HOSTILE_CHARACTERS
    seeds = (
        "a",
        "i like ",
        "my brother's ",
        "and i ",
        "no wait ",
        "not ",
        "never ever ",
        "1234 ",
        "my name is my name is ",
        "((((",
        "i used to live in the ",
        "remember that ",
        "\u202e🙂",
        "ß\u0301",
        "http://a.b/c ",
    )
    return [(seed * size)[:size] for seed in seeds]


def resident_mb() -> float:
    """Resident memory of this process, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024


def _settings() -> Settings:
    """Defaults, whatever this process's environment says of gates and stores."""
    return Settings.model_construct()


def _times_us(call: Callable[[str], object], texts: Sequence[str]) -> Any:
    """Microseconds of each call, as an array: the best of some, so that only its own work counts.

    What a busy machine adds is the same for everything and in nobody's budget (see ``timeit``).
    """
    took = np.full(len(texts), np.inf)
    for _ in range(BEST_OF):
        for row, text in enumerate(texts):
            started = time.perf_counter_ns()
            call(text)
            took[row] = min(took[row], (time.perf_counter_ns() - started) / 1000)
    return took


def _child(*arguments: str) -> str:
    """Runs Python with ``arguments``; returns what it printed.

    Raises:
        RuntimeError: It failed; the message has its last words.
    """
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=_CHILD_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise RuntimeError(f"a part of the benchmark failed: {last[0]}")
    return done.stdout
