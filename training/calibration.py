"""From raw answers on unseen turns to calibrated probabilities and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bmo.judge.judge import JudgeCalibration, JudgeThresholds
from training.fitting import Logits
from training.turns import TrainingTurn

Array = np.ndarray[Any, Any]

ALLOW_PRECISION = 0.955
"""Wanted share of right ones among what is allowed on unseen turns."""
DISCARD_LOSS = 0.042
"""Bearable share of turns with a durable fact that are discarded."""
READ_PRECISION = 0.89
"""Wanted share of right ones among the turns memory is searched for."""
LEAST_READ = 0.46
"""Below it too many general questions of strangers are searched for (over 1% of read_negative)."""

_GRID = np.round(np.arange(0.30, 0.96, 0.01), 2)


def calibrate(logits: Logits, turns: Sequence[TrainingTurn]) -> JudgeCalibration:
    """Fits temperatures, scale and shift by the likelihood of the annotation.

    Args:
        logits: Answers on turns the model was not trained on.
        turns: Those turns.
    """
    verdicts = np.array([turn.verdict for turn in turns])
    recall = np.array([turn.recall for turn in turns])
    named = [i for i, turn in enumerate(turns) if turn.categories is not None]
    kinds = np.array([turns[i].categories for i in named])
    temperatures = np.round(np.arange(0.5, 4.01, 0.05), 2)

    def verdict_loss(t: float) -> float:
        return float(-np.log(verdict_odds(logits.verdict, t)[range(len(turns)), verdicts]).mean())

    def kinds_loss(t: float) -> float:
        return _binary_loss(logits.categories[named] / t, kinds)

    scale, shift = min(
        ((a, b) for a in np.arange(0.3, 2.01, 0.05) for b in np.arange(-1.5, 1.51, 0.1)),
        key=lambda pair: _binary_loss(logits.read_need * pair[0] + pair[1], recall),
    )
    return JudgeCalibration(
        verdict=_best(temperatures, verdict_loss),
        categories=_best(temperatures, kinds_loss),
        read_scale=round(float(scale), 2),
        read_shift=round(float(shift), 2),
    )


def choose_thresholds(
    logits: Logits, turns: Sequence[TrainingTurn], calibration: JudgeCalibration
) -> JudgeThresholds:
    """Chooses where allow, discard and read-need begin.

    allow: the lowest with ``ALLOW_PRECISION``. discard: the one with most verdicts right among
    those that lose at most ``DISCARD_LOSS`` of the durable turns. read: the lowest with
    ``READ_PRECISION``, and no lower than ``LEAST_READ``.

    Args:
        logits: Answers on turns the model was not trained on.
        turns: Those turns.
        calibration: What was fitted on them.
    """
    truth = np.array([turn.verdict for turn in turns])
    odds = verdict_odds(logits.verdict, calibration.verdict)
    allow = next(
        (t for t in _GRID if _precision(odds[:, 0] >= t, truth == 0) >= ALLOW_PRECISION), 0.95
    )

    def right(discard: float) -> float:
        given = decided(odds, allow, discard)
        lost = float((given[truth == 0] == 2).mean())
        return float((given == truth).mean()) - (1.0 if lost > DISCARD_LOSS else 0.0)

    discard = max(_GRID, key=right)
    need = read_odds(logits.read_need, calibration)
    recall = np.array([turn.recall for turn in turns])
    read = max(LEAST_READ, _lowest(need, recall, READ_PRECISION))
    return JudgeThresholds(allow=allow, discard=float(discard), read=read)


def decided(odds: Array, allow: float, discard: float) -> Array:
    """Verdict indices from (n, 3) probabilities and the two thresholds."""
    return np.where(odds[:, 0] >= allow, 0, np.where(odds[:, 2] >= discard, 2, 1))


def verdict_odds(logits: Array, temperature: float) -> Array:
    """Probabilities (n, 3) from verdict logits."""
    scaled = logits / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    result: Array = powers / powers.sum(axis=1, keepdims=True)
    return result


def read_odds(logits: Array, calibration: JudgeCalibration) -> Array:
    """Probabilities (n,) from read-need logits."""
    result: Array = 1 / (1 + np.exp(-(logits * calibration.read_scale + calibration.read_shift)))
    return result


def reliability(odds: Array, truth: Array) -> list[tuple[float, float, int]]:
    """Ten equal bins of probability: (mean probability, share that came true, cases)."""
    bins = np.minimum((odds * 10).astype(int), 9)
    return [
        (float(odds[bins == b].mean()), float(truth[bins == b].mean()), int((bins == b).sum()))
        for b in range(10)
        if (bins == b).any()
    ]


def _lowest(odds: Array, truth: Array, precision: float) -> float:
    """The lowest threshold of the grid that reaches a precision; the highest if none does."""
    good = (t for t in _GRID if _precision(odds >= t, truth) >= precision)
    return float(next(good, _GRID[-1]))


def _precision(given: Array, truth: Array) -> float:
    return float(truth[given].mean()) if given.any() else 0.0


def _binary_loss(logits: Array, truth: Array) -> float:
    return float(np.logaddexp(0, np.where(truth, -logits, logits)).mean())


def _best(values: Array, loss: Callable[[float], float]) -> float:
    return float(min(values, key=loss))
