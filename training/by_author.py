"""How well the judge does on authors it never read: ``python -m training.by_author``.

A file of ``training/data`` is an author with themes of their own. Groups of whole files are held
out, one after the other, and a judge trained on all the rest answers them; the figures of all these
answers together go to ``by_author.json`` beside the judge, from where ``training.model_card`` takes
them. It ships no model. Each group is a training: its answers are kept in ``training/work``, so
that a run that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch

from bmo.judge import MODEL
from training.build_embedder import WORK
from training.clauses import clause_turns
from training.fitting import Logits, ask, fit
from training.judge import THREADS, figures
from training.learnt import FIRST
from training.recipe import Recipe
from training.turns import TrainingTurn, read_turns

KEPT = WORK / "by_author"
GROUPS = ("op", "dhk")
"""Files held out together: two authors of dialects, stories and work rules, and three of oneself,
plain statements and other languages."""
EPOCHS = 1
"""Of the first recipe: fewer than it has, so that two trainings end in a quarter of an hour."""


def rows_of(turns: Sequence[TrainingTurn], group: str) -> list[int]:
    """The indices of the turns of a group of files.

    Args:
        turns: All turns.
        group: The files' names, a letter each.

    Raises:
        SystemExit: There is no such file.
    """
    if unknown := set(group) - {turn.file for turn in turns}:
        raise SystemExit(f"no file {min(unknown)!r} in training/data: name others to hold out")
    return [i for i, turn in enumerate(turns) if turn.file in group]


def fold_answers(
    turns: Sequence[TrainingTurn], rows: Sequence[int], recipe: Recipe, kept: Path = KEPT
) -> Logits:
    """Raw answers to the turns of one fold by a model that never saw their files.

    Args:
        turns: All turns.
        rows: Indices of the fold's.
        recipe: How to train on the others.
        kept: Folder with the answers of folds that were made before.
    """
    held = set(rows)
    known = [turn for i, turn in enumerate(turns) if i not in held]
    said = repr((recipe, torch.get_num_threads(), known, [turns[i] for i in rows]))
    path = kept / f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.npz"
    if path.exists():
        with np.load(path) as found:
            return Logits(found["verdict"], found["categories"], found["read_need"])
    model = fit([*known, *clause_turns(known)], recipe)
    answers = ask(model, [turns[i] for i in rows])
    kept.mkdir(parents=True, exist_ok=True)
    np.savez(
        path,
        verdict=answers.verdict,
        categories=answers.categories,
        read_need=answers.read_need,
    )
    return answers


def unseen_answers(
    turns: Sequence[TrainingTurn], recipe: Recipe, groups: Sequence[str]
) -> tuple[list[TrainingTurn], Logits]:
    """The turns of all groups, each answered by a model that never saw its group."""
    asked: list[TrainingTurn] = []
    parts: list[Logits] = []
    for number, group in enumerate(groups, 1):
        rows = rows_of(turns, group)
        print(f"{number} of {len(groups)}: {len(rows)} turns of {group!r} unseen", flush=True)
        parts.append(fold_answers(turns, rows, recipe))
        asked += [turns[i] for i in rows]
    return asked, Logits(
        np.concatenate([part.verdict for part in parts]),
        np.concatenate([part.categories for part in parts]),
        np.concatenate([part.read_need for part in parts]),
    )


def main() -> None:
    """Trains group by group, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", nargs="+", default=GROUPS, help="groups of files")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--to", type=Path, default=MODEL, help="folder of the judge")
    options = parser.parse_args()
    begun = time.monotonic()
    torch.set_num_threads(THREADS)
    recipe = replace(FIRST.recipe, epochs=options.epochs)
    turns, answers = unseen_answers(read_turns(), recipe, options.held_out)
    described = {
        "held_out": list(options.held_out),
        "epochs": recipe.epochs,
        "recipe": asdict(recipe),
    }
    known = {**described, **figures(turns, answers)}
    print(json.dumps(known["unseen"] | known["by_file"], indent=1), flush=True)
    options.to.mkdir(parents=True, exist_ok=True)
    text = json.dumps(known, indent=1) + "\n"
    (options.to / "by_author.json").write_text(text, encoding="utf-8")
    print(f"done in {(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
