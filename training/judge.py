"""Makes the judge: ``python -m training.judge``.

Trains on eleven of twelve conversations once for each of ``training.learnt.TRAININGS``, takes the
mean of the weights, calibrates on the twelfth, writes the int8 file with manifest, figures and
nearest turns into ``bmo/models/judge`` and checks that it agrees with the float model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bmo.judge import MODEL, Judge
from bmo.judge.judge import JudgeCalibration, JudgeThresholds
from bmo.turn import CATEGORIES
from training.build_embedder import MAX_BYTES, WORK, write_manifest
from training.calibration import (
    calibrate,
    choose_thresholds,
    decided,
    read_odds,
    reliability,
    verdict_odds,
)
from training.encoder import JudgeModel
from training.fitting import Logits, ask, fit
from training.judge_graph import write_judge_graph
from training.learnt import THRESHOLDS, TRAININGS, Training, learnt_turns
from training.nearest_turns import write_nearest
from training.soup import mean_weights
from training.turns import TrainingTurn, is_held_out

THREADS = 1
"""Of torch. How many share a sum decides its last bits, and two wait for each other at every step:
where other processes are at work they cost more than they gain."""
DATED = "20261122"
"""Day of data and recipe; set it when they change. The clock has no part in what is written."""

AGREEMENT = 0.97
"""Least share of turns on which the int8 file and the float model give the same verdict."""
CHECKED_TURNS = 600
KEPT = WORK / "epochs"
"""State after each epoch, so that a training that was broken off goes on (six of 360 MB)."""

AS_IT_IS = JudgeCalibration(verdict=1.0, categories=1.0, read_scale=1.0, read_shift=0.0)
"""The calibration of answers that are calibrated already."""


def answers_of(folder: Path, turns: Sequence[TrainingTurn]) -> Logits:
    """What the shipped file says of turns, as the logits of its probabilities."""
    judge = Judge.open(folder)
    pairs = [(turn.context, turn.text) for turn in turns]
    given = [a for at in range(0, len(pairs), 32) for a in judge.assess(pairs[at : at + 32])]
    judge.close()
    sure = 1e-6
    verdict = np.array([[a.allow, a.hold, a.discard] for a in given], np.float32)
    kinds = np.array([[a.categories[name] for name in CATEGORIES] for a in given], np.float32)
    read = np.array([a.read_need for a in given], np.float32)
    kinds, read = np.clip(kinds, sure, 1 - sure), np.clip(read, sure, 1 - sure)
    return Logits(
        np.log(np.clip(verdict, sure, 1)), np.log(kinds / (1 - kinds)), np.log(read / (1 - read))
    )


def figures(
    turns: Sequence[TrainingTurn],
    logits: Logits,
    calibration: JudgeCalibration | None = None,
    thresholds: JudgeThresholds | None = None,
) -> dict[str, Any]:
    """Calibration and thresholds (fitted where none are given), and what they give on the turns."""
    calibration = calibration or calibrate(logits, turns)
    thresholds = thresholds or choose_thresholds(logits, turns, calibration)
    odds = verdict_odds(logits.verdict, calibration.verdict)
    truth = np.array([turn.verdict for turn in turns])
    given = decided(odds, thresholds.allow, thresholds.discard)
    recall = np.array([turn.recall for turn in turns])
    need = read_odds(logits.read_need, calibration)
    asked = need >= thresholds.read
    named = [i for i, turn in enumerate(turns) if turn.categories is not None]
    kinds = np.array([turns[i].categories for i in named])
    guessed = logits.categories[named].argmax(1)
    return {
        "calibration": asdict(calibration),
        "thresholds": asdict(thresholds),
        "unseen": {
            "turns": len(turns),
            "verdicts_right": round(float((given == truth).mean()), 3),
            "allow_precision": round(float((truth[given == 0] == 0).mean()), 3),
            "allow_recall": round(float((given[truth == 0] == 0).mean()), 3),
            "durable_discarded": round(float((given[truth == 0] == 2).mean()), 3),
            "discards_allowed": round(float((given[truth == 2] == 0).mean()), 4),
            "holds_allowed": round(float((given[truth == 1] == 0).mean()), 3),
            "read_precision": round(float(recall[asked].mean()), 3),
            "read_recall": round(float(asked[recall].mean()), 3),
            "first_category_right": round(float(kinds[range(len(named)), guessed].mean()), 3),
        },
        "by_file": {
            name: round(float((given == truth)[[t.file == name for t in turns]].mean()), 3)
            for name in sorted({turn.file for turn in turns})
        },
        "reliability": {
            "allow": reliability(odds[:, 0], truth == 0),
            "discard": reliability(odds[:, 2], truth == 2),
            "read_need": reliability(need, recall),
        },
    }


def write_model(
    model: JudgeModel,
    folder: Path,
    turns: Sequence[TrainingTurn],
    trainings: Sequence[Training],
    more: Mapping[str, Any],
) -> None:
    """Exports to int8 ONNX with its manifest, and checks it against the float model.

    Raises:
        SystemExit: The file is too large or disagrees with the float model.
    """
    made = WORK / "judge"
    made.mkdir(parents=True, exist_ok=True)
    target = made / "model.onnx"
    write_judge_graph(*model.exported(), target)
    if target.stat().st_size > MAX_BYTES:
        raise SystemExit(f"{target} has {target.stat().st_size} bytes, more than {MAX_BYTES}.")
    described = {"name": "judge", "version": _version(target), "turns": len(turns)}
    write_manifest(
        made,
        target,
        **described,
        trainings=[asdict(training) for training in trainings],
        thresholds=more["thresholds"],
        calibration=more["calibration"],
    )
    _check_agreement(model, made, turns)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("model.onnx", "model.json"):
        shutil.copyfile(made / name, folder / name)


def _version(model: Path) -> str:
    """Day of the recipe and the first digits of the file's SHA-256: one version, one file."""
    return f"{DATED}-{hashlib.sha256(model.read_bytes()).hexdigest()[:8]}"


def _check_agreement(model: JudgeModel, folder: Path, turns: Sequence[TrainingTurn]) -> None:
    """Compares the int8 file with the float model on turns spread over all files."""
    some = list(turns)[:: max(1, len(turns) // CHECKED_TURNS)]
    judge = Judge.open(folder)
    small = judge.assess([(turn.context, turn.text) for turn in some])
    manifest = json.loads((folder / "model.json").read_text())
    full = verdict_odds(ask(model, some).verdict, manifest["calibration"]["verdict"])
    odds = np.array([[a.allow, a.hold, a.discard] for a in small])
    same = float((odds.argmax(1) == full.argmax(1)).mean())
    apart = float(np.abs(odds - full).max(1).mean())
    print(f"int8 against float: {same:.1%} of verdicts the same, mean difference {apart:.3f}")
    if same < AGREEMENT:
        raise SystemExit(f"int8 and float agree on {same:.1%} only, less than {AGREEMENT:.0%}.")


def trained(trainings: Sequence[Training], kept: Path | None = KEPT) -> JudgeModel:
    """The model with the mean of the weights of trainings.

    Args:
        trainings: What is learnt each time, how, and what it counts.
        kept: Folder with the states of epochs that were read before, or None to begin afresh.
    """
    models = []
    for training in trainings:
        lines = training.lines()
        print(f"{training.name}: {len(lines)} lines of {len(training.files)} files", flush=True)
        models.append(fit(lines, training.recipe, kept))
    tensors = [{name: t.numpy() for name, t in m.state_dict().items()} for m in models]
    mean = mean_weights(tensors, [training.share for training in trainings])
    model = models[0]
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in mean.items()})
    return model


def make(
    trainings: Sequence[Training],
    folder: Path,
    kept: Path | None = KEPT,
    thresholds: JudgeThresholds | None = None,
) -> None:
    """Trains, calibrates, writes and checks the judge.

    Args:
        trainings: What is learnt each time, how, and what it counts.
        folder: Gets the model, its figures and its nearest turns.
        kept: Folder with the states of epochs that were read before, or None to begin afresh.
        thresholds: Those of the judge, or None to choose them on the unseen turns.
    """
    turns = learnt_turns()
    held = [turn for turn in turns if is_held_out(turn)]
    model = trained(trainings, kept)
    write_model(model, folder, turns, trainings, figures(held, ask(model, held)))
    settle(folder, held, thresholds)
    write_nearest(folder, turns)


def settle(
    folder: Path, held: Sequence[TrainingTurn], thresholds: JudgeThresholds | None = None
) -> None:
    """Chooses the thresholds on what the file itself says of unseen turns, where none are given."""
    manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    known = figures(held, answers_of(folder, held), AS_IT_IS, thresholds)
    known["calibration"] = manifest["calibration"]
    manifest["thresholds"] = known["thresholds"]
    for name, value in (("model.json", manifest), ("figures.json", known)):
        (folder / name).write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(known["unseen"] | known["thresholds"], indent=1), flush=True)


def main() -> None:
    """Trains and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=MODEL, help="folder that gets the model")
    parser.add_argument(
        "--afresh", action="store_true", help="keep no epoch and go on from none that was kept"
    )
    options = parser.parse_args()
    begun = time.monotonic()
    torch.set_num_threads(THREADS)
    options.to.mkdir(parents=True, exist_ok=True)
    kept = None if options.afresh else KEPT
    make(TRAININGS, options.to, kept, THRESHOLDS)
    print(f"done in {(time.monotonic() - begun) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
