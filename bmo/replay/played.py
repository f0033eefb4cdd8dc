"""What memory did with a turn that was just played, in the words of the format (``rows.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from bmo.quotation import dated_quotation, exchange, quotation
from bmo.replay.rows import Place, RecallRow, ScoredRow, StoredRow, TurnRow
from bmo.turn import Decision, Recall, RecalledMemory, StoredFact

Places = Mapping[str, Place]
"""Turn id -> where it was said, to tell where memories came from."""


def with_decision(row: TurnRow, decision: Decision) -> TurnRow:
    """The row with the write gate's word."""
    written = decision.text or row.words
    return row.model_copy(
        update={
            "verdict": decision.verdict,
            "signals": decision.signals,
            "reason": decision.reason,
            "rule": decision.rule_id,
            "confidence": round(decision.confidence, 4),
            "written": written if written != row.user else None,
            "extraction_method": decision.extraction_method,
            "gate_version": decision.gate_version,
            "fallback": decision.fallback,
            "gate_ms": round(decision.elapsed_us / 1000, 3),
        }
    )


def with_profile(row: TurnRow, profile: Recall) -> TurnRow:
    """The row of a visit's first turn."""
    facts = [memory.fact for memory in profile.memories]
    return row.model_copy(
        update={
            "profile": tuple(quotation(fact) for fact in facts),
            "profile_told": tuple(exchange(fact) for fact in facts),
            "profile_context": profile.context,
        }
    )


def stored_row(fact: StoredFact, *, confirmed: bool = False) -> StoredRow:
    """A memory that a turn asserted."""
    return StoredRow(
        text=fact.text,
        asked=fact.asked,
        category=fact.category,
        slot=fact.slot,
        kind=fact.kind,
        confirmed=confirmed,
        subject=fact.subject,
        rule=fact.rule_id,
        extraction_method=fact.extraction_method,
    )


def recall_row(recall: Recall, places: Places) -> RecallRow:
    """What the read gate did for a turn."""
    return RecallRow(
        triggered=recall.plan.recall,
        trigger=recall.plan.trigger,
        memories=tuple(dated_quotation(memory.fact) for memory in recall.memories),
        selected=tuple(_scored_row(memory, places) for memory in recall.memories),
        left_out=tuple(_scored_row(memory, places) for memory in recall.left_out),
        context=recall.context,
        tokens=recall.tokens,
        budget_tokens=recall.plan.budget_tokens,
        elapsed_ms=round(recall.elapsed_ms, 3),
        fallback=recall.fallback,
    )


def _scored_row(memory: RecalledMemory, places: Places) -> ScoredRow:
    return ScoredRow(
        text=memory.fact.text,
        asked=memory.fact.asked,
        why=memory.why,
        score=round(memory.score, 4),
        parts={name: round(part, 4) for name, part in asdict(memory.parts).items() if part},
        said=places.get(memory.fact.turn_id or ""),
    )
