"""Where long talks lose what was told: ``python -m benchmarks.long_talks [FILE ...]``.

Plays conversations in the format of the training data (default: the six of
``training/development``, which nothing is taught with) through a real session, as ``bmo replay``
does, and names by the number of its turn what became of every memory:

- ends: how many of the memories that a turn ended should end, and of those that should, did;
- wanted: of the memories that a reply needs, how many were given, and why the others were not;
- searched: whether memory was searched where a reply needs it, and where none does.

``--show`` prints each end and each wanted memory that went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from bmo.replay.rows import Place, TurnRow
from bmo.replay.runner import replay_memory, run_scenario
from bmo.replay.scenario import Scenario

TALKS = Path(__file__).parent.parent / "training" / "development" / "long_talks.jsonl"
FIRST_VISIT = datetime(2026, 1, 5, 9, tzinfo=UTC)
BETWEEN_VISITS = timedelta(days=30)

Talk = Sequence[Mapping[str, Any]]


def read_talks(path: Path) -> Iterator[tuple[str, Talk]]:
    """The conversations of a file, by name."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for name, talk in groupby(rows, key=lambda row: str(row["c"])):
        yield name, list(talk)


def as_scenario(name: str, talk: Talk) -> Scenario:
    """A conversation as the replay plays it, a month between two visits."""
    visits = [list(turns) for _, turns in groupby(talk, key=lambda row: row["s"])]
    sessions = [
        {
            "at": FIRST_VISIT + number * BETWEEN_VISITS,
            "turns": [
                {
                    "user": row["user"],
                    "assistant": row["assistant"],
                    "verdict": row["verdict"],
                    "recall": bool(row.get("recall")),
                }
                for row in visit
            ],
        }
        for number, visit in enumerate(visits)
    ]
    return Scenario.model_validate({"id": name, "user": name, "sessions": sessions})


def compare(talk: Talk, played: Sequence[TurnRow], counts: Counter[str], wrong: list[str]) -> None:
    """Counts what became of the memories of a talk, and notes what went wrong.

    Args:
        talk: The annotated turns.
        played: What the product made of them, in the same order.
        counts: Takes the counts, by what is counted.
        wrong: Takes a line for each end and each wanted memory that went wrong.
    """
    number = {(row.session, row.turn): at for at, row in enumerate(played, 1)}
    stored = {at for at, row in enumerate(played, 1) if row.stored}
    ended_at: dict[int, int] = {}

    def turn_of(said: Place | None) -> int:
        return number[said] if said is not None else 0

    for at, (told, row) in enumerate(zip(talk, played, strict=True), 1):
        counts["turns"] += 1
        counts["verdicts right"] += row.verdict == told["verdict"]
        should = {n for n in told.get("ends", ()) if n in stored}
        did = {turn_of(end.said) for end in row.ended}
        counts["ends"] += len(did)
        counts["ends right"] += len(did & should)
        counts["should end"] += len(should)
        for n in did:
            ended_at.setdefault(n, at)
        for n, kind in (
            *((n, "ended") for n in did - should),
            *((n, "not ended") for n in should - did),
        ):
            old = talk[n - 1]["user"] if n else "?"
            wrong.append(f"{told['c']} {at} {kind}: {told['user']!r} / {old!r}")
        searched = row.recall.triggered
        counts["searched where needed" if told.get("recall") else "searched needlessly"] += searched
        counts["needed"] += bool(told.get("recall"))
        given = {turn_of(memory.said) for memory in row.recall.selected}
        left = {turn_of(memory.said): memory.why for memory in reversed(row.recall.left_out)}
        for n in told.get("answers", ()):
            if n in given:
                reason = "given"
            elif n not in stored:
                reason = "not stored"
            elif not searched:
                reason = "not searched"
            elif n in left:
                reason = "P(answers)" if left[n].startswith("P(answers)") else left[n]
            else:
                reason = "ended" if ended_at.get(n, at) < at else "elsewhere"
            counts["wanted"] += 1
            counts[f"wanted: {reason}"] += 1
            if reason != "given":
                wrong.append(
                    f"{told['c']} {at} {reason}: {told['user']!r} / {talk[n - 1]['user']!r}"
                )


async def play(paths: Sequence[Path]) -> tuple[Counter[str], list[str]]:
    """Plays the talks of files on one memory."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with replay_memory() as service:
        for path in paths:
            for name, talk in read_talks(path):
                result = await run_scenario(as_scenario(name, talk), service=service)
                compare(talk, result.turns, counts, wrong)
    return counts, wrong


def main() -> None:
    """Plays and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[TALKS])
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    options = parser.parse_args()
    counts, wrong = asyncio.run(play(options.files))
    for line in wrong if options.show else ():
        print(line)
    print(f"{counts['turns']} turns, {counts['verdicts right']} verdicts right")
    right = counts["ends right"]
    print(f"ends: {counts['ends']} made, {right} of them right; {counts['should end']} should be")
    print(f"searched: {counts['searched where needed']} of {counts['needed']} where memory is")
    print(f"  needed, {counts['searched needlessly']} elsewhere")
    print(f"wanted: {counts['wanted']}")
    for name, count in sorted(counts.items()):
        if name.startswith("wanted: "):
            print(f"  {name.removeprefix('wanted: ')}: {count}")


if __name__ == "__main__":
    main()
