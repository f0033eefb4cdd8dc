"""The outbox: what the index still has to learn, in the transaction that made it true.

What the recorder does with it is in ``index_side``.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.records import OutboxOp
from bmo.ledger.schema import outbox

# Built once: building a statement takes as long as running it.
_INSERT = sa.insert(outbox)
_DONE = sa.delete(outbox).where(outbox.c.id == sa.bindparam("item"))
_WAITS = (
    sa.select(outbox.c.id)
    .where(
        outbox.c.fact_id == sa.bindparam("fact"),
        outbox.c.op.in_(sa.bindparam("ops", expanding=True)),
    )
    .limit(1)
)
_WAITS_FREE = _WAITS.where(outbox.c.leased_by.is_(None))


def put(
    connection: Connection,
    op: OutboxOp,
    user_id: str,
    fact_id: str,
    now: datetime,
    *,
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
            "erasure_id": erasure_id,
            "attempts": 0,
            "created_at": now,
            "next_at": now,
            "last_error": "",
        },
    )


def done(connection: Connection, item_id: int) -> None:
    """Removes an entry that was applied."""
    connection.execute(_DONE, {"item": item_id})


def drop_for_fact(connection: Connection, fact_id: str) -> int:
    """Removes what waits for a fact that is being erased; returns how many."""
    return connection.execute(
        sa.delete(outbox).where(outbox.c.fact_id == fact_id, outbox.c.op != "purge")
    ).rowcount


def waits(connection: Connection, fact_id: str, ops: Collection[OutboxOp]) -> bool:
    """Whether one of some operations waits for a fact."""
    return connection.execute(_WAITS, {"fact": fact_id, "ops": list(ops)}).first() is not None
