"""``MEM0_SETTING=NORMAL``: no gates; every turn is stored, every turn is searched."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from bmo.gate import mask
from bmo.turn import Decision, Recall, RecalledMemory, RecallPlan, ScoreParts, StoredFact, Turn

if TYPE_CHECKING:
    from bmo.index import IndexHit, MemoryIndex
    from bmo.settings import Settings

NORMAL_BUDGET = 2000
"""Tokens given per turn at most: what a moderate request gets behind the gates."""

NORMAL_THRESHOLD = 0.1
"""Least cosine similarity of a hit: Mem0's own default."""


def stored_turns(count: int) -> str:
    """What there is instead of memories, for people."""
    turns = f"{count} turn{'s are' if count != 1 else ' is'} stored"
    return (
        f"MEM0_SETTING=NORMAL keeps what is said, not memories: {turns}; bmo recall searches them."
    )


def raw_decision(turn: Turn, settings: Settings) -> Decision:
    """The turn as it was said, but for secrets, which are written under no setting."""
    masked, _ = mask(turn.text, settings.bmo_sensitive, turn.assistant_before)
    empty = not masked.strip()
    return Decision(
        verdict="discard" if empty else "allow",
        signals=("other",),
        reason="empty turn" if empty else "normal mode stores every turn",
        confidence=1.0,
        extraction_method="raw",
        gate_version="normal",
        text=masked,
    )


def raw_recall(index: MemoryIndex | None, turn: Turn, top_k: int, now: datetime) -> Recall:
    """The stored turns nearest in meaning to this one."""
    from bmo.recall import assemble, tokens_of

    plan = RecallPlan(
        recall=True, trigger="normal", budget_tokens=NORMAL_BUDGET, query=turn.text[:2000]
    )
    if index is None:
        return Recall(plan, fallback=True, reason="the index is unavailable")
    if not plan.query.strip():
        return Recall(plan)
    # One more than is given: the turn that asks may be stored already, and is no memory of itself.
    hits = index.search(
        turn.user_id, plan.query, top_k=top_k + 1, threshold=NORMAL_THRESHOLD, raw=True
    )
    others = [hit for hit in hits if hit.metadata.get("turn_id") != turn.id]
    given: list[RecalledMemory] = []
    for hit in others[:top_k]:
        memory = RecalledMemory(_row(hit, turn, now), hit.score, ScoreParts(hit.score), "search")
        block = assemble([one.fact for one in (*given, memory)])
        if tokens_of(block) <= NORMAL_BUDGET:
            given.append(memory)
    context = assemble([one.fact for one in given])
    return Recall(plan, tuple(given), context=context, tokens=tokens_of(context))


def _row(hit: IndexHit, turn: Turn, now: datetime) -> StoredFact:
    """A raw turn in the shape of a memory, for assembly and display."""
    said = hit.metadata.get("valid_from")
    return StoredFact(
        id=hit.fact_id or hit.index_id,
        user_id=turn.user_id,
        subject="user",
        slot=None,
        value="",
        text=hit.text,
        category="personal_facts",
        kind="fact",
        cardinality="many",
        polarity="positive",
        confidence=1.0,
        valid_from=datetime.fromisoformat(said) if isinstance(said, str) else now,
        extraction_method="raw",
        index_id=hit.index_id,
    )
