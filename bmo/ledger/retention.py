"""What is dropped by itself after a time: the words of turns that told nothing."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.schema import decisions, fact_turns, turns


def drop_words(connection: Connection, before: datetime) -> int:
    """Empties turns that were discarded and said before a moment; their decisions stay.

    Held turns keep their words until someone decides on them.

    Returns:
        Number of turns emptied.
    """
    newest = sa.select(sa.func.max(decisions.c.id)).group_by(decisions.c.turn_id)
    told_nothing = sa.select(decisions.c.turn_id).where(
        decisions.c.id.in_(newest),
        sa.or_(decisions.c.verdict == "discard", decisions.c.resolution == "discarded"),
    )
    linked = sa.select(fact_turns.c.turn_id)
    return connection.execute(
        sa.update(turns)
        .where(
            turns.c.at < before,
            turns.c.redacted.is_(False),
            turns.c.id.in_(told_nothing),
            turns.c.id.not_in(linked),
        )
        .values(text="", assistant_before="", assistant_after="", redacted=True)
    ).rowcount
