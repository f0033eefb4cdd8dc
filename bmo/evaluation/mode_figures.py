"""Figures of a mode: precision, recall and F1 by category, skips, what a model recovers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bmo.evaluation.annotated import is_fact
from bmo.evaluation.metrics import Share, share
from bmo.evaluation.mode_runs import ModeRun, RanTurn
from bmo.turn import CATEGORIES

ANY_CATEGORY = ", any category"

TARGETS = (
    ("precision", 0.85, True),
    (f"precision{ANY_CATEGORY}", 0.85, True),
    ("recall", 0.60, True),
    (f"recall{ANY_CATEGORY}", 0.60, True),
    ("durable turns skipped", 0.05, False),
    ("skips that were durable", 0.05, False),
)
"""(figure, bound, whether it must be above): the targets of the extraction overhaul. It does not
say whether the category counts, and of what its "false negative rate of skips" is a share (of the
turns to keep, or of the turns skipped): each is read both ways."""


@dataclass(frozen=True, slots=True)
class Score:
    """How right one category is, or all.

    Attributes:
        precision: Of the memories stored, those that are annotated.
        recall: Of the facts annotated, those that are stored.
        f1: Their harmonic mean; 0 when both are 0.
    """

    precision: Share
    recall: Share
    f1: float


@dataclass(frozen=True, slots=True)
class Target:
    """A target: its figure, the bound, and whether it is met."""

    value: float
    bound: float
    met: bool


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """Figures of one mode; ``dataclasses.asdict`` is the documented JSON object.

    Attributes:
        mode: The mode.
        model: Who answered behind the gate, in words for people, or "".
        gate_version: The gate.
        scores: Category, "all" or "all, any category" -> score.
        shares: Name of the figure -> share of cases.
        numbers: Latency, calls and cost, by name with unit.
        targets: Figure -> target.
        refused: Why models' facts were refused -> how many.
    """

    mode: str
    model: str
    gate_version: str
    scores: dict[str, Score]
    shares: dict[str, Share]
    numbers: dict[str, float]
    targets: dict[str, Target]
    refused: dict[str, int] = field(default_factory=dict)


def figures_of(run: ModeRun) -> ModeFigures:
    """The figures of a run."""
    scores: dict[str, Score] = {name: score_of(run.turns, name) for name in CATEGORIES}
    scores["all"] = score_of(run.turns)
    scores[f"all{ANY_CATEGORY}"] = score_of(run.turns, with_category=False)
    shares = _shares(run.turns)
    figures = dict(shares)
    for ending in ("", ANY_CATEGORY):
        figures[f"precision{ending}"] = scores[f"all{ending}"].precision
        figures[f"recall{ending}"] = scores[f"all{ending}"].recall
    targets = {}
    for name, bound, above in TARGETS:
        value = figures[name].value
        targets[name] = Target(value, bound, value > bound if above else value < bound)
    return ModeFigures(
        mode=run.mode,
        model=run.model,
        gate_version=run.gate_version,
        scores=scores,
        shares=shares,
        numbers=_numbers(run),
        targets=targets,
        refused=dict(sorted(run.settled.refused.items())),
    )


def score_of(
    turns: Sequence[RanTurn], category: str | None = None, *, with_category: bool = True
) -> Score:
    """Precision and recall of what was stored in the end.

    Args:
        turns: The turns.
        category: Only memories and annotated facts of this category; None for all.
        with_category: Whether a memory in another category than annotated is wrong.
    """
    right, found = [], []
    for ran in turns:
        wanted = ran.expected.facts
        for memory in ran.after:
            if category in (None, memory.category):
                right.append(any(is_fact(memory, w, with_category=with_category) for w in wanted))
        for one in wanted:
            if category in (None, one.category):
                found.append(any(is_fact(m, one, with_category=with_category) for m in ran.after))
    precision, recall = share(right), share(found)
    p, r = precision.value, recall.value
    return Score(precision, recall, 2 * p * r / (p + r) if p + r else 0.0)


def _shares(turns: Sequence[RanTurn]) -> dict[str, Share]:
    skipped = [ran for ran in turns if ran.verdict == "discard"]
    recovered = [
        any(is_fact(memory, one) for memory in ran.after)
        for ran in turns
        if ran.aim is not None
        for one in ran.expected.facts
        if not any(is_fact(memory, one) for memory in ran.before)
    ]
    return {
        "held at once": share([ran.first.verdict == "hold" for ran in turns]),
        "held in the end": share([ran.verdict == "hold" for ran in turns]),
        "a model was asked": share([ran.aim is not None for ran in turns]),
        "recovered by the model": share(recovered),
        "words put in a canonical text": share(
            [
                any(memory.source_type == "model" for memory in ran.after)
                for ran in turns
                if ran.aim == "polish"
            ]
        ),
        "durable turns skipped": share(
            [ran.verdict == "discard" for ran in turns if ran.expected.facts]
        ),
        "skips that were durable": share([bool(ran.expected.facts) for ran in skipped]),
        "discards that stored": share(
            [bool(ran.after) for ran in turns if ran.expected.verdict == "discard"]
        ),
        "holds that stored": share(
            [bool(ran.after) for ran in turns if ran.expected.verdict == "hold"]
        ),
    }


def _numbers(run: ModeRun) -> dict[str, float]:
    settled, took = run.settled, [ran.first.elapsed_us for ran in run.turns] or [0.0]
    numbers = {
        "gate us mean": float(np.mean(took)),
        "gate us p99": float(np.percentile(took, 99)),
    }
    if settled.seconds:
        numbers |= {
            "model calls": float(settled.calls),
            "model ms a call p50": 1000 * float(np.percentile(settled.seconds, 50)),
            "model ms a call p95": 1000 * float(np.percentile(settled.seconds, 95)),
            "model calls per 100 turns": 100 * settled.calls / max(1, len(run.turns)),
            "tokens per 100 turns": 100 * settled.tokens / max(1, len(run.turns)),
            "US dollars": settled.cost,
            "US dollars per 1000 turns": 1000 * settled.cost / max(1, len(run.turns)),
            "turns settled": float(settled.allowed + settled.discarded + settled.unchanged),
            "turns whose words stay": float(settled.unchanged),
            "turns with nothing that lasts": float(settled.passing),
            "turns refused": float(settled.held),
            "turns failed": float(settled.failed),
        }
    return numbers
