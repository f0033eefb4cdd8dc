"""What was given for which turn, what was used, and whether it helped."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.schema import facts, feedback, recall_items, recalls, turns
from bmo.ledger.values import content_words, stem
from bmo.turn import Recall, RecalledMemory, StoredFact, Turn, new_id


def write_recall(connection: Connection, turn: Turn, recall: Recall) -> str:
    """Writes plan, result and scores of one recall; returns its id."""
    recall_id = new_id()
    connection.execute(
        sa.insert(recalls).values(
            id=recall_id,
            user_id=turn.user_id,
            turn_id=turn.id,
            at=turn.at,
            trigger=recall.plan.trigger,
            recalled=recall.plan.recall,
            budget_tokens=recall.plan.budget_tokens,
            tokens=recall.tokens,
            elapsed_ms=recall.elapsed_ms,
            fallback=recall.fallback,
            reason=recall.reason,
        )
    )
    considered = {memory.fact.id: (memory, False) for memory in recall.left_out}
    considered |= {memory.fact.id: (memory, True) for memory in recall.memories}
    # A fact may have been erased between its retrieval and this moment.
    left = _own(connection, turn.user_id, considered)
    items = [_item(recall_id, *considered[fact_id]) for fact_id in considered if fact_id in left]
    if items:
        connection.execute(sa.insert(recall_items), items)
    return recall_id


def mark_used(connection: Connection, user_id: str, ids: Collection[str], at: datetime) -> None:
    """Counts a use of each fact of a user."""
    if ids:
        connection.execute(
            sa.update(facts)
            .where(facts.c.user_id == user_id, facts.c.id.in_(list(ids)))
            .values(use_count=facts.c.use_count + 1, last_used_at=at)
        )


def words_used(fact: StoredFact, reply: str) -> bool:
    """Whether a reply uses a memory: it says the value, or half of a slotless memory's words."""
    said = {stem(word) for word in content_words([reply])}
    told = {stem(word) for word in content_words([fact.value or fact.text])}
    if fact.value:
        return bool(told) and told <= said
    return bool(told) and 2 * len(told & said) >= len(told)


def write_feedback(
    connection: Connection,
    user_id: str,
    *,
    fact_id: str | None,
    turn_id: str | None,
    helpful: bool,
    at: datetime,
    source: str,
) -> None:
    """Writes whether a memory helped.

    Raises:
        ValueError: Fact or turn are not this user's.
    """
    if fact_id is not None and not _own(connection, user_id, [fact_id]):
        raise ValueError(f"user {user_id!r} has no fact {fact_id!r}")
    if turn_id is not None:
        query = sa.select(turns.c.id).where(turns.c.id == turn_id, turns.c.user_id == user_id)
        if connection.execute(query).first() is None:
            raise ValueError(f"user {user_id!r} has no turn {turn_id!r}")
    connection.execute(
        sa.insert(feedback).values(
            user_id=user_id,
            fact_id=fact_id,
            turn_id=turn_id,
            at=at,
            helpful=helpful,
            source=source,
        )
    )


def _own(connection: Connection, user_id: str, ids: Collection[str]) -> set[str]:
    query = sa.select(facts.c.id).where(facts.c.user_id == user_id, facts.c.id.in_(list(ids)))
    return {str(fact_id) for fact_id in connection.execute(query).scalars()}


def _item(recall_id: str, memory: RecalledMemory, given: bool) -> dict[str, object]:
    parts = memory.parts
    return {
        "recall_id": recall_id,
        "fact_id": memory.fact.id,
        "given": given,
        "why": memory.why,
        "score": memory.score,
        "semantic": parts.semantic,
        "recency": parts.recency,
        "domain": parts.domain,
        "usage": parts.usage,
        "kind": parts.kind,
    }
