"""Rows of a recording, made in a line."""

from __future__ import annotations

from typing import Any

from bmo.replay.rows import (
    FORMAT,
    EndedRow,
    RecallRow,
    RecordedScenario,
    ScenarioRow,
    ScoredRow,
    StoredRow,
    TurnRow,
)


def stored(text: str, **fields: Any) -> StoredRow:
    """A memory a turn stored."""
    row = {"category": "personal_facts", "slot": None, "kind": "fact", "rule": "lives"}
    return StoredRow.model_validate({"text": text, **row, **fields})


def recalled(*texts: str, trigger: str = "own_fact_question", **fields: Any) -> RecallRow:
    """A recall that gave these memories."""
    row: dict[str, Any] = {
        "triggered": True,
        "trigger": trigger,
        "memories": texts,
        "selected": [
            ScoredRow(text=t, why="slot", score=0.75, parts={"semantic": 0.5, "recency": 0.25})
            for t in texts
        ],
        "context": "<memory>\n" + "\n".join(f"- {text}" for text in texts) + "\n</memory>",
        "tokens": 12,
        "budget_tokens": 500,
        "elapsed_ms": 3.5,
    }
    return RecallRow.model_validate({**row, **fields})


def not_recalled(trigger: str = "statement") -> RecallRow:
    """A turn for which memory was not asked."""
    return RecallRow(triggered=False, trigger=trigger, memories=(), context="")


def said(user: str, verdict: str | None = "discard", **fields: Any) -> TurnRow:
    """A turn; ``scenario_of`` numbers it."""
    row: dict[str, Any] = {
        "scenario": "s",
        "session": 0,
        "turn": 0,
        "user": user,
        "verdict": verdict,
        "signals": ("other",),
        "reason": "because",
        "confidence": 0.9,
        "stored": (),
        "ended": (),
        "recall": not_recalled(),
        "profile": None,
        "mismatches": (),
        "hook_ms": 0.2,
        "gate_ms": 0.5,
        "at": "2026-03-01T09:00:00+00:00",
        "extraction_method": "pattern",
        "gate_version": "rules-1",
    }
    return TurnRow.model_validate({**row, **fields})


def ended(text: str, why: str = "superseded", **fields: Any) -> EndedRow:
    """A memory a turn ended."""
    return EndedRow(text=text, why=why, **fields)


def scenario_of(*turns: TurnRow, name: str = "s", **fields: Any) -> RecordedScenario:
    """A recorded scenario with these turns, numbered in each visit."""
    numbers: dict[int, int] = {}
    placed = []
    for turn in turns:
        number = numbers.get(turn.session, 0)
        numbers[turn.session] = number + 1
        placed.append(turn.model_copy(update={"scenario": name, "turn": number}))
    row: dict[str, Any] = {"live": (), "mismatches": (), "format": FORMAT, "mode": "local"}
    return RecordedScenario(
        tuple(placed), ScenarioRow.model_validate({"scenario": name, **row, **fields})
    )
