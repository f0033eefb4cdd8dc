"""Where a fact comes from and what became of it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import facts as rows
from bmo.ledger.records import Why
from bmo.ledger.schema import fact_turns, facts
from bmo.ledger.turn_log import logged
from bmo.turn import StoredFact


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
