"""The outbox: what the index still has to learn, in the transaction that made it true.

What the recorder does with it is in ``index_side``.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.records import OutboxOp
from bmo.ledger.schema import outbox
from bmo.turn import utc_now

# Built once: building a statement takes as long as running it.
_INSERT = sa.insert(outbox)
_DONE = sa.delete(outbox).where(outbox.c.id == sa.bindparam("item"))
_IS_TO_BE_WRITTEN = (
    sa.select(outbox.c.id)
    .where(
        outbox.c.fact_id == sa.bindparam("fact"),
        outbox.c.op.in_(["add", "update"]),
        outbox.c.leased_by.is_(None),
    )
    .limit(1)
)


def put(
    connection: Connection,
    op: OutboxOp,
    user_id: str,
    fact_id: str,
    *,
    erasure_id: str | None = None,
) -> None:
    """Adds an entry. An update that waits already is put twice only for an erasure's sake.

    What somebody works on now may have been read before it changed: that does not count.
    """
    if op == "update" and erasure_id is None:
        if connection.execute(_IS_TO_BE_WRITTEN, {"fact": fact_id}).first() is not None:
            return
    now = utc_now()
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
