"""The outbox: what the index still has to learn, in order, with leases and backoff."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.records import OutboxItem, OutboxOp
from bmo.ledger.schema import outbox

LEASE = timedelta(seconds=60)
"""How long a recorder may work on an entry before another one takes it."""

FIRST_RETRY = timedelta(seconds=0.5)
LAST_RETRY = timedelta(minutes=5)
"""Waiting times double from the first to the last."""

_ERROR_CHARACTERS = 200


def put(
    connection: Connection,
    op: OutboxOp,
    user_id: str,
    fact_id: str,
    now: datetime,
    *,
    index_id: str | None = None,
    erasure_id: str | None = None,
) -> None:
    """Adds an entry. An update that is already waiting is not put twice."""
    if op == "update" and _waits(connection, fact_id, ("add", "update")):
        return
    connection.execute(
        sa.insert(outbox).values(
            op=op,
            user_id=user_id,
            fact_id=fact_id,
            index_id=index_id,
            erasure_id=erasure_id,
            attempts=0,
            created_at=now,
            next_at=now,
            last_error="",
        )
    )


def claim(
    connection: Connection,
    owner: str,
    now: datetime,
    limit: int,
    ops: Collection[OutboxOp] | None = None,
) -> list[OutboxItem]:
    """Leases entries that are due.

    Args:
        connection: A writing connection.
        owner: Id of the recorder.
        now: The present moment.
        limit: Entries at most.
        ops: Only these operations; None is all.

    Returns:
        Entries in order; of a fact only the oldest one.
    """
    earlier = outbox.alias("earlier")
    first_of_fact = (
        sa.select(sa.func.min(earlier.c.id))
        .where(earlier.c.fact_id == outbox.c.fact_id)
        .scalar_subquery()
    )
    # What is further ahead than it is ever put was put there by a clock that has gone back since.
    due = sa.or_(outbox.c.next_at <= now, outbox.c.next_at > now + LAST_RETRY)
    until = outbox.c.leased_until
    free = sa.or_(until.is_(None), until <= now, until > now + LEASE)
    query = (
        sa.select(outbox)
        .where(due, free, outbox.c.id == first_of_fact)
        .order_by(outbox.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    if ops is not None:
        query = query.where(outbox.c.op.in_(ops))
    items = [_item(row) for row in connection.execute(query)]
    if items:
        connection.execute(
            sa.update(outbox)
            .where(outbox.c.id.in_([item.id for item in items]))
            .values(leased_by=owner, leased_until=now + LEASE)
        )
    return items


def done(connection: Connection, item_id: int) -> None:
    """Removes an entry that was applied."""
    connection.execute(sa.delete(outbox).where(outbox.c.id == item_id))


def failed(connection: Connection, item: OutboxItem, now: datetime, error: str) -> None:
    """Puts an entry off: twice as long each time."""
    wait = min(FIRST_RETRY * 2 ** min(item.attempts, 16), LAST_RETRY)
    connection.execute(
        sa.update(outbox)
        .where(outbox.c.id == item.id)
        .values(
            attempts=item.attempts + 1,
            next_at=now + wait,
            leased_by=None,
            leased_until=None,
            last_error=error[:_ERROR_CHARACTERS],
        )
    )


def release(connection: Connection, *, owner: str | None = None) -> None:
    """Gives leases back and makes everything due, of one recorder or of all.

    Args:
        connection: A writing connection.
        owner: A recorder's id; None for all, when nobody else can be at work.
    """
    change = sa.update(outbox).values(leased_by=None, leased_until=None)
    if owner is None:
        change = change.values(next_at=outbox.c.created_at)
    else:
        change = change.where(outbox.c.leased_by == owner)
    connection.execute(change)


def depth(connection: Connection) -> tuple[int, datetime | None]:
    """Number of entries, and when the oldest was put in."""
    row = connection.execute(
        sa.select(sa.func.count(), sa.func.min(outbox.c.created_at, type_=outbox.c.created_at.type))
    ).one()
    return int(row[0]), row[1]


def next_due(connection: Connection, ops: Collection[OutboxOp] | None = None) -> datetime | None:
    """When the next entry (of these operations) is due, or None when there is none."""
    query = sa.select(sa.func.min(outbox.c.next_at, type_=outbox.c.next_at.type))
    if ops is not None:
        query = query.where(outbox.c.op.in_(ops))
    moment: datetime | None = connection.execute(query).scalar()
    return moment


def drop_for_fact(connection: Connection, fact_id: str) -> int:
    """Removes what waits for a fact that is being erased; returns how many."""
    return connection.execute(
        sa.delete(outbox).where(outbox.c.fact_id == fact_id, outbox.c.op != "purge")
    ).rowcount


def waits(connection: Connection, fact_id: str) -> bool:
    """Whether anything waits for a fact."""
    return _waits(connection, fact_id, ("add", "update", "delete", "purge", "raw"))


def _waits(connection: Connection, fact_id: str, ops: tuple[OutboxOp, ...]) -> bool:
    found = connection.execute(
        sa.select(outbox.c.id).where(outbox.c.fact_id == fact_id, outbox.c.op.in_(ops)).limit(1)
    ).first()
    return found is not None


def _item(row: sa.Row[Any]) -> OutboxItem:
    return OutboxItem(
        row.id, row.op, row.user_id, row.fact_id, row.index_id, row.erasure_id, row.attempts
    )
