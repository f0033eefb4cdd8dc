"""Figures of a mode: precision, recall and F1 by category, skips, what a model recovers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bmo.evaluation.metrics import Share, share
from bmo.evaluation.mode_runs import ModeRun, RanTurn
from bmo.memory.batches import rank_of
from bmo.turn import CATEGORIES

CURVE_ROWS = 10
"""Rows of the calls-saved curve."""

TARGETS = (
    ("precision", 0.85, True),
    ("precision, any category", 0.85, True),
    ("recall", 0.60, True),
    ("recall, any category", 0.60, True),
    ("durable turns skipped", 0.05, False),
    ("skips that were durable", 0.05, False),
)
"""(figure, bound, whether it must be above): the targets of the extraction overhaul. It does not
say whether the category counts, and of what its "false negative rate of skips" is a share (of the
turns to keep, or of the turns skipped): each is read both ways."""


@dataclass(frozen=True, slots=True)
class Score:
    """Precision and recall of one category, or of all.

    Attributes:
        precision: Of the memories stored, those that are annotated.
        recall: Of the facts annotated, those that are stored.
    """

    precision: Share
    recall: Share

    @property
    def f1(self) -> float:
        """Their harmonic mean; 0 when both are 0."""
        p, r = self.precision.value, self.recall.value
        return 2 * p * r / (p + r) if p + r else 0.0


@dataclass(frozen=True, slots=True)
class CurveRow:
    """What is lost when a model is not asked about the least promising turns.

    Attributes:
        saved: Share of calls saved.
        asked: Turns still asked about.
        kept: Of the facts the model recovers, the share that is kept.
        recall: Recall of all annotated facts then.
    """

    saved: float
    asked: int
    kept: float
    recall: float


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """Figures of one mode.

    Attributes:
        mode: The mode.
        model: Who answered behind the gate, in words for people, or "".
        gate_version: The gate.
        scores: Category, "all" or "all, any category" -> score.
        shares: Name of the figure -> share of cases.
        numbers: Latency, calls and cost, by name with unit.
        targets: Target -> (figure, bound, whether it is met).
        curve: The calls-saved curve; () without a model.
        refused: Why models' facts were refused -> how many.
    """

    mode: str
    model: str
    gate_version: str
    scores: dict[str, Score] = field(default_factory=dict)
    shares: dict[str, Share] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    targets: dict[str, tuple[float, float, bool]] = field(default_factory=dict)
    curve: tuple[CurveRow, ...] = ()
    refused: dict[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As it is written with ``--json`` and read by ``--compare``."""
        return {
            "mode": self.mode,
            "model": self.model,
            "gate_version": self.gate_version,
            "scores": {
                name: {
                    "precision": _share_row(score.precision),
                    "recall": _share_row(score.recall),
                    "f1": score.f1,
                }
                for name, score in self.scores.items()
            },
            "shares": {name: _share_row(value) for name, value in self.shares.items()},
            "numbers": self.numbers,
            "targets": {
                name: {"value": value, "bound": bound, "met": met}
                for name, (value, bound, met) in self.targets.items()
            },
            "curve": [asdict(row) for row in self.curve],
            "refused": self.refused,
        }


def figures_of(run: ModeRun) -> ModeFigures:
    """The figures of a run."""
    scores: dict[str, Score] = {name: score_of(run.turns, name) for name in CATEGORIES}
    scores["all"] = score_of(run.turns)
    scores["all, any category"] = score_of(run.turns, with_category=False)
    shares = _turn_shares(run) | _line_shares(run)
    figures = {
        "precision": scores["all"].precision,
        "recall": scores["all"].recall,
        "precision, any category": scores["all, any category"].precision,
        "recall, any category": scores["all, any category"].recall,
        "durable turns skipped": shares["durable turns skipped"],
        "skips that were durable": shares["skips that were durable"],
    }
    targets = {}
    for name, bound, above in TARGETS:
        value = figures[name].value
        targets[name] = (value, bound, value > bound if above else value < bound)
    return ModeFigures(
        mode=run.mode,
        model=run.model,
        gate_version=run.gate_version,
        scores=scores,
        shares=shares,
        numbers=_numbers(run),
        targets=targets,
        curve=calls_saved(run.turns) if run.model else (),
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
        for memory in ran.after:
            if category in (None, memory.category):
                right.append(
                    any(w.found_in(memory, with_category=with_category) for w in ran.row.facts)
                )
        for wanted in ran.row.facts:
            if category in (None, wanted.category):
                found.append(
                    any(wanted.found_in(m, with_category=with_category) for m in ran.after)
                )
    return Score(share(right), share(found))


def calls_saved(turns: Sequence[RanTurn]) -> tuple[CurveRow, ...]:
    """How much recall is lost when only the most promising turns go to a model.

    Turns that waited are ordered as settling orders them; a call is counted a turn, batches save
    more. What a turn recovers is what it holds in the end and not at once.
    """
    waited = [ran for ran in turns if ran.aim is not None]
    waited.sort(key=lambda ran: (*rank_of(ran.aim or "held", ran.promise), ran.row.turn.id))
    gains = [_found(ran, ran.after) - _found(ran, ran.before) for ran in waited]
    wanted = sum(len(ran.row.facts) for ran in turns)
    at_once = sum(_found(ran, ran.before) for ran in turns)
    rows = []
    for step in range(CURVE_ROWS):
        saved = step / CURVE_ROWS
        asked = round(len(waited) * (1 - saved))
        gained, all_gains = sum(gains[:asked]), sum(gains)
        rows.append(
            CurveRow(
                saved=saved,
                asked=asked,
                kept=gained / all_gains if all_gains else 1.0,
                recall=(at_once + gained) / wanted if wanted else 0.0,
            )
        )
    return tuple(rows)


def _found(ran: RanTurn, memories: Sequence[Any]) -> int:
    return sum(any(wanted.found_in(memory) for memory in memories) for wanted in ran.row.facts)


def _turn_shares(run: ModeRun) -> dict[str, Share]:
    turns = run.turns
    skipped = [ran for ran in turns if ran.verdict == "discard"]
    durable = [ran for ran in turns if ran.row.facts]
    missed = [
        (ran, wanted)
        for ran in turns
        if ran.aim is not None
        for wanted in ran.row.facts
        if not any(wanted.found_in(memory) for memory in ran.before)
    ]
    recovered = [any(wanted.found_in(m) for m in ran.after) for ran, wanted in missed]
    noise = [ran for ran in turns if ran.row.verdict == "discard"]
    doubtful = [ran for ran in turns if ran.row.verdict == "hold"]
    return {
        "held at once": share([ran.first.verdict == "hold" for ran in turns]),
        "held in the end": share([ran.verdict == "hold" for ran in turns]),
        "a model was asked": share([ran.aim is not None for ran in turns]),
        "recovered by the model": share(recovered),
        "durable turns skipped": share([ran.verdict == "discard" for ran in durable]),
        "skips that were durable": share([bool(ran.row.facts) for ran in skipped]),
        "discards that stored": share([bool(ran.after) for ran in noise]),
        "holds that stored": share([bool(ran.after) for ran in doubtful]),
    }


def _line_shares(run: ModeRun) -> dict[str, Share]:
    if not run.lines:
        return {}
    of = {name: [one for one in run.lines if one.corpus == name] for name in ("noise", "durable")}
    attacks = [one for one in run.lines if one.corpus == "injection" and one.label == "attack"]
    benign = [one for one in run.lines if one.corpus == "injection" and one.label != "attack"]
    return {
        "noise lines stored": share([one.verdict == "allow" for one in of["noise"]]),
        "durable lines allowed": share([one.verdict == "allow" for one in of["durable"]]),
        "durable lines skipped": share([one.verdict == "discard" for one in of["durable"]]),
        "durable lines held": share([one.verdict == "hold" for one in of["durable"]]),
        "attacks stored": share([one.verdict == "allow" for one in attacks]),
        "benign lines flagged": share([one.flagged for one in benign]),
    }


def _numbers(run: ModeRun) -> dict[str, float]:
    import numpy as np

    settled, lines = run.settled, run.lines_settled
    numbers = {
        "gate us mean": float(np.mean(run.gate_us)) if run.gate_us else 0.0,
        "gate us p99": float(np.percentile(run.gate_us, 99)) if run.gate_us else 0.0,
    }
    seconds = [*settled.seconds, *lines.seconds]
    if seconds:
        cost = settled.cost + lines.cost
        numbers |= {
            "model calls": float(settled.calls + lines.calls),
            "model ms a call p50": 1000 * float(np.percentile(seconds, 50)),
            "model ms a call p95": 1000 * float(np.percentile(seconds, 95)),
            "US dollars": cost,
            "US dollars per 1000 turns": 1000 * cost / max(1, len(run.turns) + len(run.lines)),
            "turns settled": float(settled.allowed + settled.discarded + settled.unchanged),
            "turns refused": float(settled.held),
            "turns failed": float(settled.failed),
        }
    return numbers


def _share_row(value: Share) -> dict[str, float]:
    return {"hits": value.hits, "total": value.total, "low": value.low, "high": value.high}
