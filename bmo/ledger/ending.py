"""Ending a fact: its row is closed and stays, and the index forgets it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.engine import Connection

from bmo.ledger import fact_writing, outbox
from bmo.ledger.records import Ended, EndReason
from bmo.turn import StoredFact


def end_fact(
    connection: Connection,
    user_id: str,
    known: StoredFact,
    why: EndReason,
    now: datetime,
    *,
    at: datetime,
    until: datetime | None = None,
    superseded_by: str | None = None,
    turn_id: str | None = None,
) -> Ended:
    """Closes a live fact and puts its removal into the outbox.

    Args:
        connection: A writing connection.
        user_id: Whose fact.
        known: The fact.
        why: Why it ends.
        now: The present moment, for the outbox.
        at: When what ends it was said.
        until: Until when it held; None means ``at``.
        superseded_by: The fact that says it from now on.
        turn_id: The turn that ends it.
    """
    fact_writing.end(
        connection,
        known.id,
        at=at,
        why=why,
        until=until,
        superseded_by=superseded_by,
        turn_id=turn_id,
    )
    outbox.put(connection, "delete", user_id, known.id, now, index_id=known.index_id)
    return Ended(known, why)
