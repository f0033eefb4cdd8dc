"""How well the judge does on authors it never read: ``python -m training.by_author``.

A file of ``training/data`` is an author with themes of their own. Whole files are held out, fold by
fold, and a judge trained on the others answers them; the figures of all answers together go to
``by_author.json`` beside the judge, from where ``training.model_card`` takes them. It ships no
model. Each fold is a training: its answers are kept in ``training/work``, so that a run that was
broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from bmo.judge import MODEL
from training.build_embedder import WORK
from training.clauses import clause_turns
from training.fitting import Logits, Recipe, ask, fit
from training.judge import THREADS, figures
from training.turns import TrainingTurn, read_turns

KEPT = WORK / "by_author"


def folds_of(turns: Sequence[TrainingTurn], count: int) -> list[list[int]]:
    """Spreads whole files over ``count`` folds of about equal size.

    Returns:
        The indices of the turns of each fold.
    """
    by_file: dict[str, list[int]] = {}
    for i, turn in enumerate(turns):
        by_file.setdefault(turn.file, []).append(i)
    folds: list[list[int]] = [[] for _ in range(count)]
    for rows in sorted(by_file.values(), key=len, reverse=True):
        min(folds, key=len).extend(rows)
    return folds


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


def unseen_answers(turns: Sequence[TrainingTurn], recipe: Recipe, folds: int) -> Logits:
    """Raw answers to every turn by a model that never saw its file."""
    verdict = np.empty((len(turns), 3), np.float32)
    categories = np.empty((len(turns), 6), np.float32)
    read = np.empty(len(turns), np.float32)
    for number, rows in enumerate(folds_of(turns, folds), 1):
        names = ", ".join(sorted({turns[i].file for i in rows}))
        print(f"fold {number} of {folds}: {len(rows)} turns unseen (files {names})", flush=True)
        answers = fold_answers(turns, rows, recipe)
        verdict[rows], categories[rows] = answers.verdict, answers.categories
        read[rows] = answers.read_need
    return Logits(verdict, categories, read)


def main() -> None:
    """Trains fold by fold, prints and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=THREADS, help="threads of torch")
    parser.add_argument("--to", type=Path, default=MODEL, help="folder of the judge")
    options = parser.parse_args()
    begun = time.monotonic()
    torch.set_num_threads(options.threads)
    turns, recipe = read_turns(), Recipe(epochs=options.epochs)
    answers = unseen_answers(turns, recipe, options.folds)
    described = {"folds": options.folds, "epochs": recipe.epochs, "recipe": asdict(recipe)}
    known = described | figures(turns, answers)
    print(json.dumps(known["unseen"] | known["by_file"], indent=1), flush=True)
    options.to.mkdir(parents=True, exist_ok=True)
    text = json.dumps(known, indent=1) + "\n"
    (options.to / "by_author.json").write_text(text, encoding="utf-8")
    print(f"done in {(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
