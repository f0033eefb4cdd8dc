"""What the judge learns: the turns that the shipped weights were trained on, as they were.

The data has gone on since: labels were made alike, turns near a new measuring set were left out,
and the language rules cut clauses elsewhere. A training on it would give other weights, not better
ones, so what differed then is kept beside it in ``data/learnt/``:

- ``labels.jsonl``: turns whose categories have been corrected since, with the ones learnt;
- ``left_out.txt``: the digests left out then (``data/left_out.txt`` has six more today);
- ``clauses.jsonl``: the clauses learnt as turns of their own, as ``clause_turns`` cut them then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bmo.judge.judge import JudgeThresholds
from bmo.turn import CATEGORIES
from training.turns import DATA, VERDICTS, TrainingTurn, read_turns

LEARNT = DATA / "learnt"
FILES = "abcdefghijklmn"
THRESHOLDS = JudgeThresholds(allow=0.78, discard=0.41, read=0.46)
"""As they were chosen on the answers of the graph that the weights were first written in. On those
of today's graph 0.79 would be chosen for allow; every figure of the judge is measured at these."""


def learnt_turns(folder: Path = LEARNT) -> list[TrainingTurn]:
    """The annotated turns, in the order in which they are learnt.

    Args:
        folder: What differed from the data of today.
    """
    labels = {
        (row["file"], row["user"]): _flags(row["categories"])
        for row in _rows(folder / "labels.jsonl")
    }
    turns = [
        turn for turn in read_turns(DATA, left_out=folder / "left_out.txt") if turn.file in FILES
    ]
    return [
        replace(turn, categories=labels.get((turn.file, turn.text), turn.categories))
        for turn in turns
    ]


def learnt_clauses(folder: Path = LEARNT) -> list[TrainingTurn]:
    """The clauses that are learnt: those of conversations that are trained on."""
    return [
        TrainingTurn(
            file=row["file"],
            conversation=row["c"],
            context=row["assistant_before"],
            text=row["user"],
            verdict=VERDICTS.index(row["verdict"]),
            categories=_flags(row["categories"]) if row["categories"] else None,
            recall=False,
            facts=(),
        )
        for row in _rows(folder / "clauses.jsonl")
    ]


def _flags(named: Sequence[str]) -> tuple[bool, ...]:
    return tuple(name in named for name in CATEGORIES)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
