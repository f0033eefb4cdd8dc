"""Microseconds a turn for the write gate's rules, over annotated turns and hostile text.

Run ``python benchmarks/write_gate.py [FILE.jsonl ...]``: rows need a ``text`` or ``user`` field.
Without files it uses the project's own training turns. Each turn is timed several times and its
fastest run counts, so that other processes on the machine do not decide; the plain mean is shown
beside it. Budgets: mean 60 us, p99 500 us, 2,000 hostile characters 2 ms.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

MEAN_BUDGET_US = 60.0
P99_BUDGET_US = 500.0
HOSTILE_BUDGET_US = 2000.0
RUNS = 5
OWN = Path(__file__).parent.parent / "training" / "data"
HOSTILE = (
    "my brother ",
    "i am a ",
    "no wait ",
    "i said that if ",
    "i i ",
    "'",
    "a",
    "my favourite is my favourite ",
    "1234 ",
    "1-",
    "7",
    "oh ",
    "one two ",
    "de12 3456 ",
    "a@b.c ",
    "@",
    "[[]]",
    "(",
    '{"a":[1,',
    "a at b dot ",
    "my pin is ",
    "a\u0301\u200d",
    "\U0001f600",
    "我喜欢",
    "remember that my ",
    "my sister's ",
    "i like tea or ",
    "j'ai un frère ",
    "aGVsbG8rd29ybGQ",
    "card number: 4012 8888 ",
    "mum's, ",
    "four five six seven hard code ",
    "hey bmo remember that, ",
    "my pin is one and ",
    "quit stop give cut elder ",
    "5th 2fa code ",
    "password is ",
    "i am 100 ",
)
"""What is repeated to ``HOSTILE_LENGTH`` characters; with and without the recogniser's tag."""
HOSTILE_LENGTH = 2000


def read(paths: Sequence[Path]) -> list[Turn]:
    """The turns of all rows.

    Raises:
        SystemExit: A file cannot be read, or a line is no JSON object; one sentence says which.
    """
    turns = []
    for path in paths:
        try:
            lines = path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SystemExit(f"cannot read {str(path)!r}: {error}; give JSONL files") from None
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise SystemExit(f"{path}, line {number}: no JSON ({error.msg})") from None
            if not isinstance(row, dict):
                raise SystemExit(f"{path}, line {number}: {row!r} is no object with a text")
            turns.append(Turn(text=row.get("text") or row.get("user") or ""))
    if not turns:
        raise SystemExit("no turns to time: give JSONL files with a 'text' or 'user' in each row")
    return turns


def repeated(unit: str) -> str:
    return (unit * HOSTILE_LENGTH)[:HOSTILE_LENGTH]


def fastest_us(gate: WriteGate, turn: Turn) -> tuple[float, float]:
    """(fastest, first) of ``RUNS`` decisions, in microseconds of this thread's CPU time."""
    times = []
    for _ in range(RUNS):
        started = time.thread_time_ns()
        gate.decide_by_rules(turn)
        times.append((time.thread_time_ns() - started) / 1000)
    return min(times), times[0]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="JSONL rows with 'text' or 'user'")
    given = parser.parse_args(arguments).files
    gate = WriteGate(load_settings(gatekeeper_mode="pattern"))
    paths = given or sorted(OWN.glob("*.jsonl"))
    turns = read(paths)
    for turn in turns[:200]:
        gate.decide_by_rules(turn)
    timed = [fastest_us(gate, turn) for turn in turns]
    best = sorted(fast for fast, _ in timed)
    mean = sum(best) / len(best)
    p99 = best[int(len(best) * 0.99)]
    plain = sum(first for _, first in timed) / len(timed)
    print(f"{len(turns)} turns from {len(paths)} files")
    print(f"mean   {mean:7.1f} us   budget {MEAN_BUDGET_US:.0f} us   (first runs: {plain:.1f} us)")
    print(f"p50    {best[len(best) // 2]:7.1f} us")
    print(f"p99    {p99:7.1f} us   budget {P99_BUDGET_US:.0f} us")
    hostile, worst = max(
        (fastest_us(gate, Turn(text=repeated(unit), language=tag))[0], unit)
        for unit in HOSTILE
        for tag in ("en", None)
    )
    print(f"hostile{hostile:7.1f} us   budget {HOSTILE_BUDGET_US:.0f} us   (worst: {worst!r})")
    return int(mean > MEAN_BUDGET_US or p99 > P99_BUDGET_US or hostile > HOSTILE_BUDGET_US)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
