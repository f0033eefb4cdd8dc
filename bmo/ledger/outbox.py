"""The outbox: what the index still has to learn, in order, with leases and backoff."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any, get_args

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.records import LAST_RETRY, Backlog, OutboxItem, OutboxOp
from bmo.ledger.schema import UtcDateTime, outbox

LEASE = timedelta(seconds=8)
"""How long an entry is its recorder's without a sign of life (``renew``); then another takes it."""

FIRST_RETRY = timedelta(seconds=0.5)
"""Waiting times double from this one to ``LAST_RETRY``."""

OPS: tuple[OutboxOp, ...] = get_args(OutboxOp)
_FIELDS = tuple(field.name for field in fields(OutboxItem))
_ERROR_CHARACTERS = 200

# Built once: building a statement takes as long as running it.
_INSERT = sa.insert(outbox)
_DONE = sa.delete(outbox).where(outbox.c.id == sa.bindparam("item"))
_NEXT = outbox.c.next_at
_MOMENT = _NEXT.type
_WANTED = outbox.c.op.in_(sa.bindparam("ops", expanding=True))
# What another recorder has at work is due when its lease ends, and not before.
_FREE = sa.case((outbox.c.leased_until > outbox.c.next_at, outbox.c.leased_until), else_=_NEXT)
_DUE = sa.case((_WANTED, _FREE))
_BACKLOG = sa.select(
    sa.func.count(),
    sa.func.min(outbox.c.created_at, type_=_MOMENT),
    sa.func.min(_DUE, type_=_MOMENT),
    sa.func.max(_DUE, type_=_MOMENT),
)
_WAITS = (
    sa.select(outbox.c.id)
    .where(
        outbox.c.fact_id == sa.bindparam("fact"),
        outbox.c.op.in_(sa.bindparam("ops", expanding=True)),
    )
    .limit(1)
)
_WAITS_FREE = _WAITS.where(outbox.c.leased_by.is_(None))
_LEASE = (
    sa.update(outbox)
    .where(outbox.c.id.in_(sa.bindparam("items", expanding=True)))
    .values(leased_by=sa.bindparam("owner"), leased_until=sa.bindparam("until"))
)
_RENEW = (
    sa.update(outbox)
    .where(outbox.c.leased_by == sa.bindparam("owner"))
    .values(leased_until=sa.bindparam("until"))
)
_HURRY = (
    sa.update(outbox)
    .where(_WANTED, _NEXT > sa.bindparam("now", type_=_MOMENT), outbox.c.leased_by.is_(None))
    .values(next_at=outbox.c.created_at)
)
_SERVERS_CLOCK = sa.select(sa.func.clock_timestamp(type_=UtcDateTime()))


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
    """Adds an entry. An update that waits already is put twice only for an erasure's sake.

    What somebody works on now may have been read before it changed: that does not count.
    """
    if op == "update" and erasure_id is None:
        given = {"fact": fact_id, "ops": ["add", "update"]}
        if connection.execute(_WAITS_FREE, given).first() is not None:
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


def _claimable() -> sa.Select[Any]:
    """What may be leased: of each fact the oldest entry."""

    def moment(name: str) -> sa.BindParameter[datetime]:
        return sa.bindparam(name, type_=_MOMENT)

    earlier = outbox.alias("earlier")
    first_of_fact = sa.select(sa.func.min(earlier.c.id)).where(
        earlier.c.fact_id == outbox.c.fact_id
    )
    # What is further ahead than it is ever put was put there by a clock that has gone back since.
    due = sa.or_(outbox.c.next_at <= moment("now"), outbox.c.next_at > moment("too_far"))
    until = outbox.c.leased_until
    free = sa.or_(until.is_(None), until <= moment("clock"), until > moment("too_long"))
    return (
        sa.select(outbox)
        .where(due, free, _WANTED, outbox.c.id == first_of_fact.scalar_subquery())
        .order_by(outbox.c.id)
        .limit(sa.bindparam("most", type_=sa.Integer()))
        .with_for_update(skip_locked=True)
    )


_CLAIMABLE = _claimable()


def claim(
    connection: Connection,
    owner: str,
    now: datetime,
    limit: int,
    ops: Collection[OutboxOp] | None = None,
) -> list[OutboxItem]:
    """Leases entries that are due, of all operations or of some.

    Returns:
        Entries in order; of a fact only the oldest one.
    """
    clock = _clock(connection, now)
    moments = {"now": now, "too_far": now + LAST_RETRY, "clock": clock, "too_long": clock + LEASE}
    given = {**moments, "most": limit, "ops": list(ops or OPS)}
    rows = connection.execute(_CLAIMABLE, given).all()
    items = [OutboxItem(**{name: row._mapping[name] for name in _FIELDS}) for row in rows]
    if items:
        ids = [item.id for item in items]
        connection.execute(_LEASE, {"items": ids, "owner": owner, "until": clock + LEASE})
    return items


def renew(connection: Connection, owner: str, now: datetime) -> None:
    """Says that a recorder is still at work on what it leased."""
    until = _clock(connection, now) + LEASE
    connection.execute(_RENEW, {"owner": owner, "until": until})


def hurry(connection: Connection, now: datetime, ops: Collection[OutboxOp] | None = None) -> None:
    """Makes due what was put off after a failure, unless somebody is at work on it."""
    connection.execute(_HURRY, {"now": now, "ops": list(ops or OPS)})


def _clock(connection: Connection, now: datetime) -> datetime:
    """The moment that leases are told by: of a fleet the server's, for workers' clocks differ."""
    if connection.dialect.name != "postgresql":
        return now
    moment: datetime = connection.execute(_SERVERS_CLOCK).scalar_one()
    return moment


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


def backlog(connection: Connection, ops: Collection[OutboxOp] | None = None) -> Backlog:
    """What waits, with when the entries of some operations are due (None: of all)."""
    return Backlog(*connection.execute(_BACKLOG, {"ops": list(ops or OPS)}).one())


def drop_for_fact(connection: Connection, fact_id: str) -> int:
    """Removes what waits for a fact that is being erased; returns how many."""
    return connection.execute(
        sa.delete(outbox).where(outbox.c.fact_id == fact_id, outbox.c.op != "purge")
    ).rowcount


def waits(connection: Connection, fact_id: str, ops: Collection[OutboxOp]) -> bool:
    """Whether one of some operations waits for a fact."""
    return connection.execute(_WAITS, {"fact": fact_id, "ops": list(ops)}).first() is not None
