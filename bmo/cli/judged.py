"""What a judge's decision rests on: probabilities, carrying clauses, nearest training turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from bmo.turn import Assessment, Decision

if TYPE_CHECKING:
    from bmo.judge import NearTurn

SHOWN = 3
"""Training turns that are shown."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a judge's decision rests on.

    Attributes:
        assessment: The probabilities.
        clauses: The words that carried it: those its memories were made of, or the whole turn
            when nothing was kept.
        nearest: Training turns near to the first of them, nearest first; empty when the files
            are missing (see ``problem``).
        problem: Why no training turns can be shown, or "".
    """

    assessment: Assessment
    clauses: tuple[str, ...]
    nearest: tuple[NearTurn, ...] = ()
    problem: str = ""


def evidence_of(decision: Decision) -> Evidence | None:
    """What a decision rests on, or None when no judge had a word in it."""
    if decision.assessment is None:
        return None
    judged = [f for f in decision.facts if f.extraction_method.startswith("judge:") and f.span]
    spans = dict.fromkeys(fact.span for fact in judged if fact.span is not None)
    clauses = tuple(decision.text[start:stop] for start, stop in spans) or (decision.text,)
    if not decision.extraction_method.startswith("judge:") and not judged:
        return Evidence(decision.assessment, ())
    from bmo.index.embedders import EmbedderUnavailable, LocalEmbedder
    from bmo.judge import JudgeUnavailable, NearestTurns

    try:
        turns = NearestTurns.open()
        vector = LocalEmbedder.open().embed([clauses[0]])[0]
    except (JudgeUnavailable, EmbedderUnavailable) as error:
        return Evidence(decision.assessment, clauses, (), str(error))
    return Evidence(decision.assessment, clauses, tuple(turns.find(vector, SHOWN)))


def evidence_row(evidence: Evidence) -> dict[str, Any]:
    """The evidence as a part of the JSON object of a decision."""
    odds = evidence.assessment
    return {
        "allow": round(odds.allow, 4),
        "hold": round(odds.hold, 4),
        "discard": round(odds.discard, 4),
        "read_need": round(odds.read_need, 4),
        "categories": {name: round(value, 4) for name, value in odds.categories.items()},
        "clauses": list(evidence.clauses),
        "nearest": [
            {"text": near.text, "verdict": near.verdict, "similarity": round(near.similarity, 3)}
            for near in evidence.nearest
        ],
    }


def show_evidence(console: Console, evidence: Evidence) -> None:
    """The evidence for people."""
    odds = evidence.assessment
    console.print(
        f"[dim]judge[/dim] allow {odds.allow:.2f}  hold {odds.hold:.2f}  "
        f"discard {odds.discard:.2f}  read-need {odds.read_need:.2f}",
        highlight=False,
    )
    for clause in evidence.clauses:
        console.print(f'[dim]carried by[/dim] "{escape(clause)}"', highlight=False)
    for near in evidence.nearest:
        console.print(
            f"[dim]near {near.similarity:.2f}[/dim] {near.verdict}: {escape(near.text)}",
            highlight=False,
        )
    if evidence.problem:
        console.print(f"[dim]{escape(evidence.problem)}[/dim]", highlight=False)
