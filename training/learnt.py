"""What the judge learns: its two trainings, each on the turns and clauses of then.

The weights that ship are the mean of two trainings (``training.soup``). The data has gone on since:
labels were made alike, turns near a new measuring set were left out, and the language rules cut
clauses elsewhere. A training on that would give other weights, not better ones, so what differed
then is kept for each training in ``data/learnt/NAME``:

- ``labels.jsonl``: turns whose categories have been corrected since, with the ones learnt;
- ``left_out.txt``: the digests left out then;
- ``clauses.jsonl``: the clauses learnt as turns of their own, as ``clause_turns`` cut them then.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bmo.judge.judge import JudgeThresholds
from bmo.turn import CATEGORIES
from training.recipe import Recipe
from training.turns import DATA, VERDICTS, TrainingTurn, is_held_out, read_turns

LEARNT = DATA / "learnt"
THRESHOLDS = JudgeThresholds(allow=0.82, discard=0.41, read=0.46)
"""Discard and read as they were chosen for the first training alone. On the unseen turns, which are
by the same writers, 0.76 would be chosen for allow; statements about the world want more."""


@dataclass(frozen=True, slots=True)
class Training:
    """One of the trainings whose weights are averaged.

    Attributes:
        name: Its folder in ``data/learnt``.
        share: Of its weights in the mean.
        files: Of ``training/data`` that it reads.
        recipe: How it learns.
    """

    name: str
    share: float
    files: str
    recipe: Recipe

    @property
    def folder(self) -> Path:
        """What differed from the data of today."""
        return LEARNT / self.name

    def turns(self) -> list[TrainingTurn]:
        """The annotated turns, those of held-out conversations among them, in their order."""
        labels = {
            (row["file"], row["user"]): _flags(row["categories"])
            for row in _rows(self.folder / "labels.jsonl")
        }
        turns = read_turns(DATA, left_out=self.folder / "left_out.txt")
        return [
            replace(turn, categories=labels.get((turn.file, turn.text), turn.categories))
            for turn in turns
            if turn.file in self.files
        ]

    def clauses(self) -> list[TrainingTurn]:
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
            for row in _rows(self.folder / "clauses.jsonl")
        ]

    def lines(self) -> list[TrainingTurn]:
        """All that is learnt, in the order in which it is given to the training."""
        return [*(turn for turn in self.turns() if not is_held_out(turn)), *self.clauses()]


FIRST = Training("first", 0.5, "abcdefghijklmn", Recipe())
SECOND = Training(
    "second",
    0.5,
    "abcdefghijklmnopqrstu",
    Recipe(
        rate=1.8e-4,
        category_weight=2.0,
        layer_decay=0.95,
        word_decay=0.0,
        patterned="lm",
        later=("st", "u"),
        averaging=0.995,
        chance="epoch",
        pace="epochs",
    ),
)
TRAININGS = (FIRST, SECOND)


def learnt_turns() -> list[TrainingTurn]:
    """The turns behind the judge: the second training's, with all but six of the first's."""
    return SECOND.turns()


def learnt_clauses() -> list[TrainingTurn]:
    """Every clause that one of the trainings learns, once."""
    clauses = [clause for training in TRAININGS for clause in training.clauses()]
    return list(dict.fromkeys(clauses))


def _flags(named: Sequence[str]) -> tuple[bool, ...]:
    return tuple(name in named for name in CATEGORIES)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
