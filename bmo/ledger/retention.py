"""What is dropped by itself after a time: the words of turns that told nothing."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.schema import decisions, fact_turns, turns
from bmo.turn import Fact

_DATE = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:T.*)?")
_GRACE = timedelta(days=1)
"""A day's end differs by up to a day around the world."""


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


def expiry_of(fact: Fact) -> datetime | None:
    """When a fact leaves profile and recall: as the gate says, or after the date of a plan.

    A goal or a future event with a date ("2026-06", "2026-06-09") is over a day after it; yearly
    days ("--06-09") and facts of the present are never over.
    """
    if fact.expires_at is not None or fact.when is None:
        return fact.expires_at
    if fact.category != "goals" and fact.tense != "future":
        return None
    found = _DATE.fullmatch(fact.when)
    if found is None:
        return None
    year, month, day = (int(part) if part else None for part in found.groups())
    if year is None or not 1 <= year < 9999:
        return None
    try:
        if day is not None and month is not None:
            end = datetime(year, month, day, tzinfo=UTC) + timedelta(days=1)
        elif month is not None:
            end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        else:
            end = datetime(year + 1, 1, 1, tzinfo=UTC)
    except ValueError:
        return None
    return end + _GRACE
