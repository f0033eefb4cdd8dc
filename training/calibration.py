"""From raw answers on unseen conversations to calibrated probabilities and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from training.data import PairExample, TurnExample

Array = np.ndarray[Any, Any]

ALLOW_PRECISION = 0.92
"""Wanted share of right ones among what is allowed on unseen conversations."""
DISCARD_LOSS = 0.05
"""Bearable share of turns with a durable fact that are discarded."""
READ_PRECISION = 0.89
"""Wanted share of right ones among the turns memory is searched for."""
STEERS_PRECISION = 0.97
"""Wanted share of attacks among what is held as one."""
ENDS_PRECISION = 0.8
"""Wanted share of right ones among the memories that are ended."""

_GRID = np.round(np.arange(0.30, 0.96, 0.01), 2)


@dataclass(frozen=True, slots=True)
class Answers:
    """The model's logits of each head on examples."""

    examples: Sequence[TurnExample] | Sequence[PairExample]
    logits: dict[str, Array]


def calibrate(turns: Answers, pairs: Answers) -> dict[str, float]:
    """Temperatures, scales and shifts by the likelihood of the annotation.

    Temperature for exclusive classes (Guo et al. 2017), scale and shift for the two-way heads
    (Platt 1999).
    """
    verdicts, judged, recall, named, kinds = _truth(turns)
    relation, related, answers, asked = _pair_truth(pairs)
    read_scale, read_shift = _platt(turns.logits["read_need"][:, 0], recall)
    answers_scale, answers_shift = _platt(pairs.logits["answers"][asked, 0], answers)
    return {
        "verdict": _temperature(turns.logits["verdict"][judged], verdicts),
        "categories": _best(lambda t: _binary_loss(turns.logits["categories"][named] / t, kinds)),
        "read_scale": read_scale,
        "read_shift": read_shift,
        "relation": _temperature(pairs.logits["relation"][related], relation),
        "answers_scale": answers_scale,
        "answers_shift": answers_shift,
    }


def choose_thresholds(
    turns: Answers, pairs: Answers, calibration: dict[str, float]
) -> dict[str, float]:
    """Where allow, discard, read-need, ends and answers begin, by the precision wanted."""
    truth, judged, recall, _, _ = _truth(turns)
    steers, known = _attacks(turns)
    relation, related, answers, asked = _pair_truth(pairs)
    odds = softmaxed(turns.logits["verdict"][judged], calibration["verdict"])
    attack_odds = 1 / (1 + np.exp(-turns.logits["steers"][known, 0]))
    allow = _lowest(odds[:, 0], truth == 0, ALLOW_PRECISION)

    def right(discard: float) -> float:
        given = decided(odds, allow, discard)
        lost = float((given[truth == 0] == 2).mean())
        return float((given == truth).mean()) - (1.0 if lost > DISCARD_LOSS else 0.0)

    need = _sigmoid(turns.logits["read_need"][:, 0], calibration, "read")
    ends = softmaxed(pairs.logits["relation"][related], calibration["relation"])[:, 2]
    answered = _sigmoid(pairs.logits["answers"][asked, 0], calibration, "answers")
    return {
        "allow": allow,
        "discard": float(max(_GRID, key=right)),
        "read": _lowest(need, recall, READ_PRECISION),
        "steers": _lowest(attack_odds, steers, STEERS_PRECISION),
        "ends": _lowest(ends, relation == 2, ENDS_PRECISION),
        "answers": _best_f1(answered, answers),
    }


def figures(
    turns: Answers,
    pairs: Answers,
    calibration: dict[str, float],
    thresholds: dict[str, float],
) -> dict[str, float | int]:
    """What the thresholds give on the unseen conversations."""
    truth, judged, recall, named, kinds = _truth(turns)
    steers, known = _attacks(turns)
    relation, related, answers, asked = _pair_truth(pairs)
    odds = softmaxed(turns.logits["verdict"][judged], calibration["verdict"])
    attack_odds = 1 / (1 + np.exp(-turns.logits["steers"][known, 0]))
    held = attack_odds >= thresholds["steers"]
    given = decided(odds, thresholds["allow"], thresholds["discard"])
    need = _sigmoid(turns.logits["read_need"][:, 0], calibration, "read") >= thresholds["read"]
    related_odds = softmaxed(pairs.logits["relation"][related], calibration["relation"])
    ends = related_odds[:, 2] >= thresholds["ends"]
    answered = _sigmoid(pairs.logits["answers"][asked, 0], calibration, "answers")
    given_answers = answered >= thresholds["answers"]
    guessed = turns.logits["categories"][named].argmax(1)
    shares = {
        "verdicts_likeliest_right": (odds.argmax(1) == truth).mean(),
        "verdicts_right": (given == truth).mean(),
        "allow_precision": (truth[given == 0] == 0).mean(),
        "allow_recall": (given[truth == 0] == 0).mean(),
        "discards_allowed": (given[truth == 2] == 0).mean(),
        "durable_discarded": (given[truth == 0] == 2).mean(),
        "first_category_right": kinds[range(len(named)), guessed].mean(),
        "read_precision": recall[need].mean(),
        "read_recall": need[recall].mean(),
        "attacks_seen": held[steers].mean(),
        "harmless_held": held[~steers].mean(),
        "ends_precision": (relation[ends] == 2).mean() if ends.any() else 0.0,
        "ends_recall": ends[relation == 2].mean(),
        "restates_recall": (related_odds.argmax(1) == 1)[relation == 1].mean(),
        "answers_precision": answers[given_answers].mean(),
        "answers_recall": given_answers[answers].mean(),
    }
    shown: dict[str, float | int] = {k: round(float(v), 3) for k, v in shares.items()}
    return shown | thresholds | {"turns": len(truth), "pairs": len(pairs.examples)}


def decided(odds: Array, allow: float, discard: float) -> Array:
    """Verdict indices from (n, 3) probabilities and the two thresholds."""
    return np.where(odds[:, 0] >= allow, 0, np.where(odds[:, 2] >= discard, 2, 1))


def softmaxed(logits: Array, temperature: float) -> Array:
    """Probabilities (n, classes) of exclusive classes."""
    scaled = logits / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    result: Array = powers / powers.sum(axis=1, keepdims=True)
    return result


def _truth(turns: Answers) -> tuple[Array, list[int], Array, list[int], Array]:
    """Verdicts, their rows, read-need, rows with categories, and these."""
    rows = [row for row in turns.examples if isinstance(row, TurnExample)]
    named = [i for i, row in enumerate(rows) if row.categories is not None]
    judged = [i for i, row in enumerate(rows) if row.verdict is not None]
    return (
        np.array([rows[i].verdict for i in judged]),
        judged,
        np.array([row.recall for row in rows]),
        named,
        np.array([rows[i].categories for i in named]),
    )


def _attacks(turns: Answers) -> tuple[Array, list[int]]:
    rows = [row for row in turns.examples if isinstance(row, TurnExample)]
    known = [i for i, row in enumerate(rows) if row.steers is not None]
    return np.array([bool(rows[i].steers) for i in known]), known


def _pair_truth(pairs: Answers) -> tuple[Array, list[int], Array, list[int]]:
    rows = [row for row in pairs.examples if isinstance(row, PairExample)]
    related = [i for i, row in enumerate(rows) if row.relation is not None]
    asked = [i for i, row in enumerate(rows) if row.answers is not None]
    return (
        np.array([rows[i].relation for i in related]),
        related,
        np.array([bool(rows[i].answers) for i in asked]),
        asked,
    )


def _sigmoid(logits: Array, calibration: dict[str, float], head: str) -> Array:
    moved = logits * calibration[f"{head}_scale"] + calibration[f"{head}_shift"]
    result: Array = 1 / (1 + np.exp(-moved))
    return result


def _platt(logits: Array, truth: Array) -> tuple[float, float]:
    scale, shift = min(
        ((a, b) for a in np.arange(0.3, 2.01, 0.05) for b in np.arange(-1.5, 1.51, 0.1)),
        key=lambda pair: _binary_loss(logits * pair[0] + pair[1], truth),
    )
    return round(float(scale), 2), round(float(shift), 2)


def _temperature(logits: Array, truth: Array) -> float:
    return _best(
        lambda t: float(-np.log(softmaxed(logits, t)[range(len(truth)), truth] + 1e-12).mean())
    )


def _best(loss: Callable[[float], float]) -> float:
    return float(min(np.round(np.arange(0.5, 4.01, 0.05), 2), key=loss))


def _lowest(odds: Array, truth: Array, precision: float) -> float:
    """The lowest threshold of the grid that reaches a precision; the highest if none does."""
    for threshold in _GRID:
        given = odds >= threshold
        if given.any() and truth[given].mean() >= precision:
            return float(threshold)
    return float(_GRID[-1])


def _best_f1(odds: Array, truth: Array) -> float:
    def f1(threshold: float) -> float:
        given = odds >= threshold
        return float(2 * (given & truth).sum() / max(1, given.sum() + truth.sum()))

    return float(max(np.round(np.arange(0.1, 0.9, 0.02), 2), key=f1))


def _binary_loss(logits: Array, truth: Array) -> float:
    return float(np.logaddexp(0, np.where(truth, -logits, logits)).mean())
