"""The ledger's side for forgetting: at once, or asked first, with a receipt."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import doubles, erasure, outbox
from bmo.ledger import facts as rows
from bmo.ledger.database import Database
from bmo.ledger.fact_writing import Version, raise_version, version_of
from bmo.ledger.records import OutboxItem, PendingErasure, Receipt
from bmo.ledger.schema import erasures, facts
from bmo.ledger.schema import outbox as outbox_table
from bmo.turn import StoredFact, utc_now

_PURGED = sa.select(erasures.c.id).where(
    erasures.c.status == "erasing",
    erasures.c.id.not_in(
        sa.select(outbox_table.c.erasure_id).where(outbox_table.c.erasure_id.is_not(None))
    ),
)


_CARRIED_OUT = sa.select(erasures).where(erasures.c.status.in_(["erasing", "done"]))


class Forgetting(Database):
    """Erasing facts or all of a user."""

    def erase(
        self,
        user_id: str,
        ids: Collection[str],
        *,
        at: datetime | None = None,
        scope: str = "fact",
        days: Collection[datetime] = (),
        turn_ids: Collection[str] = (),
        erasure_id: str | None = None,
    ) -> Receipt:
        """Erases facts, live or ended; the index's part follows through the outbox.

        Args:
            user_id: Whose.
            ids: Of the facts.
            at: When it was asked for.
            scope: For the receipt.
            days: Beginning and end of the days of which no words may be left, or nothing.
            turn_ids: Turns of which no words may be left but those of what stays.
            erasure_id: Of an earlier receipt that is carried out again, in a restored backup.
        """
        with self.writing(user_id) as connection:
            gone = rows.by_ids(connection, user_id, ids)
            return erasure.erase_facts(
                connection,
                user_id,
                gone,
                scope=scope,
                at=at or utc_now(),
                turn_id=None,
                days=tuple(days),
                spent=turn_ids,
                erasure_id=erasure_id,
            )

    def erase_user(
        self, user_id: str, *, at: datetime | None = None, erasure_id: str | None = None
    ) -> Receipt:
        """Erases everything of a user: facts, turns, decisions, recalls. Arguments as of erase."""
        with self.writing(user_id) as connection:
            return erasure.erase_user(
                connection, user_id, at=at or utc_now(), erasure_id=erasure_id
            )

    def pending_erasures(self, user_id: str) -> list[PendingErasure]:
        """Wide requests to forget that wait to be confirmed, oldest first."""
        query = sa.select(erasures).where(
            erasures.c.user_id == user_id, erasures.c.status == "pending"
        )
        query = query.order_by(erasures.c.asked_at, erasures.c.id)
        with self.reading(user_id) as connection:
            return [
                PendingErasure(
                    row.id, user_id, row.scope, row.asked_at, (*_withdrawn_by(connection, row.id),)
                )
                for row in connection.execute(query).all()
            ]

    def confirm_erasure(self, user_id: str, erasure_id: str) -> Receipt:
        """Erases what a wide request asked for.

        Raises:
            ValueError: There is no such request of this user waiting.
        """
        with self.writing(user_id) as connection:
            request = _waiting(connection, user_id, erasure_id)
            if request.scope == "all":
                return erasure.erase_user(
                    connection, user_id, at=request.asked_at, erasure_id=erasure_id
                )
            return erasure.erase_facts(
                connection,
                user_id,
                _withdrawn_by(connection, erasure_id),
                scope=request.scope,
                at=request.asked_at,
                turn_id=request.turn_id,
                topics=request.receipt.get("topics", ()),
                days=_days(request.receipt),
                erasure_id=erasure_id,
            )

    def cancel_erasure(self, user_id: str, erasure_id: str) -> list[StoredFact]:
        """Puts back what a wide request had taken out of recall; returns the live facts.

        Raises:
            ValueError: There is no such request of this user waiting.
        """
        with self.writing(user_id) as connection:
            _waiting(connection, user_id, erasure_id)
            restored = [f for f in _withdrawn_by(connection, erasure_id) if f.valid_until is None]
            back = sa.update(facts).where(facts.c.withdrawn_by == erasure_id)
            connection.execute(back.values(withdrawn_by=None, digest=None))
            for fact in restored:
                outbox.put(connection, "add", user_id, fact.id)
            # What was said again meanwhile is merged.
            restored = [*doubles.settle(connection, restored).values()]
            raise_version(connection, user_id)
            connection.execute(
                sa.update(erasures)
                .where(erasures.c.id == erasure_id)
                .values(status="cancelled", receipt={})
            )
            return restored

    def version(self, user_id: str) -> Version:
        """Another one than before: memories of a user ended, changed or were erased since."""
        with self.reading(user_id) as connection:
            return version_of(connection, user_id)

    def receipt(self, user_id: str, erasure_id: str) -> Receipt | None:
        """The receipt of an erasure as it stands, also of a user who was wiped, or None.

        A request that was not confirmed has none.
        """
        query = _CARRIED_OUT.where(erasures.c.id == erasure_id)
        with self.reading(user_id) as connection:
            names = erasure.names_of(connection, user_id)
            row = connection.execute(query.where(erasures.c.user_id.in_(names))).first()
        return None if row is None else replace(_receipt(row), user_id=user_id)

    def receipts(self) -> list[Receipt]:
        """All receipts, oldest first. Who was wiped is named by a keyed hash."""
        query = _CARRIED_OUT.order_by(erasures.c.asked_at, erasures.c.id)
        with self.reading() as connection:
            return [_receipt(row) for row in connection.execute(query)]

    def erasures_to_finish(self) -> list[str]:
        """Erasures whose entries left the index, but whose bytes may still be in files."""
        with self.reading() as connection:
            return [str(erasure_id) for erasure_id in connection.execute(_PURGED).scalars()]

    def _add_to_receipt(
        self,
        connection: Connection,
        erasure_id: str,
        places: Mapping[str, int],
        stays: Collection[str] | None = None,
    ) -> None:
        """Adds counts to a receipt; it is complete once it says what stays."""
        mine = erasures.c.id == erasure_id
        receipt = connection.execute(sa.select(erasures.c.receipt).where(mine)).scalar()
        if receipt is None:
            return
        total = {**receipt, **{name: receipt.get(name, 0) + n for name, n in places.items()}}
        status = {}
        if stays is not None:
            total, status = {**total, "stays": list(stays)}, {"status": "done"}
        connection.execute(sa.update(erasures).where(mine).values(receipt=total, **status))

    def finish_erasures(
        self, ids: Collection[str], places: Mapping[str, int], stays: Collection[str]
    ) -> None:
        """The files were rewritten, but for those of the servers in ``stays``: that is all."""
        for erasure_id in ids:
            with self.writing() as connection:
                self._add_to_receipt(connection, erasure_id, places, stays)

    def purged(self, item: OutboxItem, places: Mapping[str, int]) -> None:
        """The index removed something erased: the entry goes, the receipt counts it."""
        with self.writing(item.user_id) as connection:
            if item.erasure_id is not None:
                self._add_to_receipt(connection, item.erasure_id, places)
            outbox.done(connection, item.id)


def _receipt(row: sa.Row[Any]) -> Receipt:
    told = row.receipt
    ids = {name: tuple(told.get(name, ())) for name in ("fact_ids", "turn_ids", "stays")}
    return Receipt(
        id=row.id,
        user_id=row.user_id,
        scope=row.scope,
        at=row.asked_at,
        places={place: count for place, count in told.items() if isinstance(count, int)},
        complete=row.status == "done",
        days=_days(told),
        **ids,
    )


def _days(receipt: Mapping[str, Any]) -> tuple[datetime, ...]:
    """Beginning and end of the days that an erasure is about, or nothing."""
    return tuple(datetime.fromisoformat(moment) for moment in receipt.get("days", ()))


def _withdrawn_by(connection: Connection, erasure_id: str) -> list[StoredFact]:
    query = rows.select_facts().where(facts.c.withdrawn_by == erasure_id)
    return rows.fetch(connection, query.order_by(facts.c.valid_from, facts.c.text, facts.c.id))


def _waiting(connection: Connection, user_id: str, erasure_id: str) -> sa.Row[Any]:
    row = connection.execute(
        sa.select(erasures).where(
            erasures.c.id == erasure_id,
            erasures.c.user_id == user_id,
            erasures.c.status == "pending",
        )
    ).first()
    if row is None:
        raise ValueError(
            f"no request to forget with the id {erasure_id!r} waits for {user_id!r}; "
            "see pending_erasures for those that do"
        )
    return row
