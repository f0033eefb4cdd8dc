"""The outbox: what the index still has to learn, in order, with leases and backoff."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.records import LAST_RETRY, Backlog, OutboxItem, OutboxOp
from bmo.ledger.schema import outbox

LEASE = timedelta(seconds=60)
"""How long a recorder may work on an entry before another one takes it."""

FIRST_RETRY = timedelta(seconds=0.5)
"""Waiting times double from this one to ``LAST_RETRY``."""

_ERROR_CHARACTERS = 200

# Built once: building a statement takes as long as running it.
_INSERT = sa.insert(outbox)
_DONE = sa.delete(outbox).where(outbox.c.id == sa.bindparam("item"))
_MOMENT = outbox.c.next_at.type
_DEPTH = sa.select(
    sa.func.count(), sa.func.min(outbox.c.created_at, type_=outbox.c.created_at.type)
)
_WAITS = (
    sa.select(outbox.c.id)
    .where(
        outbox.c.fact_id == sa.bindparam("fact"),
        outbox.c.op.in_(sa.bindparam("ops", expanding=True)),
    )
    .limit(1)
)
_LEASE = (
    sa.update(outbox)
    .where(outbox.c.id.in_(sa.bindparam("items", expanding=True)))
    .values(leased_by=sa.bindparam("owner"), leased_until=sa.bindparam("until"))
)


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
        _INSERT,
        {
            "op": op,
            "user_id": user_id,
            "fact_id": fact_id,
            "index_id": index_id,
            "erasure_id": erasure_id,
            "attempts": 0,
            "created_at": now,
            "next_at": now,
            "last_error": "",
        },
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
    given: dict[str, Any] = {
        "now": now,
        "too_far": now + LAST_RETRY,
        "too_long": now + LEASE,
        "most": limit,
    }
    if ops is not None:
        given["ops"] = list(ops)
    items = [_item(row) for row in connection.execute(_claimable(some=ops is not None), given)]
    if items:
        ids = [item.id for item in items]
        connection.execute(_LEASE, {"items": ids, "owner": owner, "until": now + LEASE})
    return items


@cache
def _claimable(*, some: bool) -> sa.Select[Any]:
    """What may be leased, the oldest entry of each fact; ``some``: only of some operations."""

    def moment(name: str) -> sa.BindParameter[datetime]:
        return sa.bindparam(name, type_=outbox.c.next_at.type)

    earlier = outbox.alias("earlier")
    first_of_fact = (
        sa.select(sa.func.min(earlier.c.id))
        .where(earlier.c.fact_id == outbox.c.fact_id)
        .scalar_subquery()
    )
    # What is further ahead than it is ever put was put there by a clock that has gone back since.
    due = sa.or_(outbox.c.next_at <= moment("now"), outbox.c.next_at > moment("too_far"))
    until = outbox.c.leased_until
    free = sa.or_(until.is_(None), until <= moment("now"), until > moment("too_long"))
    query = (
        sa.select(outbox)
        .where(due, free, outbox.c.id == first_of_fact)
        .order_by(outbox.c.id)
        .limit(sa.bindparam("most", type_=sa.Integer()))
        .with_for_update(skip_locked=True)
    )
    return query.where(outbox.c.op.in_(sa.bindparam("ops", expanding=True))) if some else query


def done(connection: Connection, item_id: int) -> None:
    """Removes an entry that was applied."""
    connection.execute(_DONE, {"item": item_id})


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
    row = connection.execute(_DEPTH).one()
    return int(row[0]), row[1]


def backlog(connection: Connection, ops: Collection[OutboxOp] | None = None) -> Backlog:
    """What waits, with when the entries of some operations are due (None: of all)."""
    given = {} if ops is None else {"ops": list(ops)}
    row = connection.execute(_backlog(some=ops is not None), given).one()
    return Backlog(*row)


@cache
def _backlog(*, some: bool) -> sa.Select[int, Any, Any, Any]:
    due: sa.ColumnElement[datetime | None] = outbox.c.next_at
    if some:
        ours = outbox.c.op.in_(sa.bindparam("ops", expanding=True))
        due = sa.case((ours, outbox.c.next_at))
    return sa.select(
        sa.func.count(),
        sa.func.min(outbox.c.created_at, type_=_MOMENT),
        sa.func.min(due, type_=_MOMENT),
        sa.func.max(due, type_=_MOMENT),
    )


def next_due(connection: Connection, ops: Collection[OutboxOp] | None = None) -> datetime | None:
    """When the next entry (of these operations) is due, or None when there is none."""
    given = {} if ops is None else {"ops": list(ops)}
    moment: datetime | None = connection.execute(_next_due(some=ops is not None), given).scalar()
    return moment


@cache
def _next_due(*, some: bool) -> sa.Select[Any]:
    query = sa.select(sa.func.min(outbox.c.next_at, type_=outbox.c.next_at.type))
    return query.where(outbox.c.op.in_(sa.bindparam("ops", expanding=True))) if some else query


def drop_for_fact(connection: Connection, fact_id: str) -> int:
    """Removes what waits for a fact that is being erased; returns how many."""
    return connection.execute(
        sa.delete(outbox).where(outbox.c.fact_id == fact_id, outbox.c.op != "purge")
    ).rowcount


def waits(connection: Connection, fact_id: str) -> bool:
    """Whether anything waits for a fact."""
    return _waits(connection, fact_id, ("add", "update", "delete", "purge", "raw"))


def _waits(connection: Connection, fact_id: str, ops: tuple[OutboxOp, ...]) -> bool:
    return connection.execute(_WAITS, {"fact": fact_id, "ops": list(ops)}).first() is not None


def _item(row: sa.Row[Any]) -> OutboxItem:
    return OutboxItem(
        row.id, row.op, row.user_id, row.fact_id, row.index_id, row.erasure_id, row.attempts
    )
