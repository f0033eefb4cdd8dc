"""Where a fact comes from and what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import facts as rows
from bmo.ledger.records import TurnOutcome, Why
from bmo.ledger.schema import fact_turns, facts, recall_items, recalls
from bmo.ledger.turn_log import logged
from bmo.turn import StoredFact

_CHUNK = 500
"""Turn ids in one query: SQLite takes a bounded number of parameters."""


def history_of(connection: Connection, user_id: str, fact_id: str) -> list[StoredFact]:
    """A fact, everything it replaced and everything that replaced it, oldest first."""
    found = {fact.id: fact for fact in rows.by_ids(connection, user_id, [fact_id])}
    waiting = list(found.values())
    while waiting:
        fact = waiting.pop()
        older = rows.select_facts().where(
            facts.c.user_id == user_id, facts.c.superseded_by == fact.id
        )
        linked = rows.fetch(connection, older)
        if fact.superseded_by:
            linked += rows.by_ids(connection, user_id, [fact.superseded_by])
        for other in linked:
            if other.id not in found:
                found[other.id] = other
                waiting.append(other)
    return sorted(found.values(), key=lambda fact: (fact.valid_from, fact.valid_until is None))


def why_of(connection: Connection, user_id: str, fact_id: str) -> Why | None:
    """The turns that stated or confirmed a fact, and what it replaced."""
    found = rows.by_ids(connection, user_id, [fact_id])
    if not found:
        return None
    fact = found[0]
    sources = sa.select(fact_turns.c.turn_id).where(
        fact_turns.c.fact_id == fact_id, fact_turns.c.role.in_(["stated", "confirmed"])
    )
    turn_ids = [str(turn_id) for turn_id in connection.execute(sources).scalars()]
    replaced = rows.fetch(
        connection,
        rows.select_facts()
        .where(facts.c.user_id == user_id, facts.c.superseded_by == fact_id)
        .order_by(facts.c.valid_from.desc(), facts.c.id),
    )
    successor = rows.by_ids(connection, user_id, [fact.superseded_by or ""])
    return Why(
        fact=fact,
        said=tuple(logged(connection, user_id, turn_ids=turn_ids)),
        replaced=tuple(replaced),
        replaced_by=successor[0] if successor else None,
    )


def outcomes_of(
    connection: Connection, user_id: str, turn_ids: Sequence[str]
) -> dict[str, TurnOutcome]:
    """What each turn told and was given; turns of other users come back empty."""
    told: defaultdict[str, list[str]] = defaultdict(list)
    given: defaultdict[str, list[str]] = defaultdict(list)
    asked: set[str] = set()
    for start in range(0, len(turn_ids), _CHUNK):
        chunk = list(turn_ids[start : start + _CHUNK])
        stated = sa.select(fact_turns.c.turn_id, fact_turns.c.fact_id).where(
            fact_turns.c.turn_id.in_(chunk), fact_turns.c.role.in_(["stated", "confirmed"])
        )
        for row in connection.execute(stated.order_by(fact_turns.c.fact_id)):
            told[row.turn_id].append(row.fact_id)
        mine = sa.and_(recalls.c.turn_id.in_(chunk), recalls.c.user_id == user_id)
        asking = sa.select(recalls.c.turn_id).where(mine, recalls.c.recalled)
        asked.update(connection.execute(asking).scalars())
        items = (
            sa.select(recalls.c.turn_id, recall_items.c.fact_id)
            .join(recall_items, recall_items.c.recall_id == recalls.c.id)
            .where(mine, recall_items.c.given)
            .order_by(recall_items.c.score.desc(), recall_items.c.fact_id)
        )
        for row in connection.execute(items):
            given[row.turn_id].append(row.fact_id)
    return {
        turn_id: TurnOutcome(
            told=tuple(rows.by_ids(connection, user_id, told[turn_id])),
            recalled=turn_id in asked,
            given=tuple(rows.by_ids(connection, user_id, given[turn_id])),
        )
        for turn_id in turn_ids
    }
