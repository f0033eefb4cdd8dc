"""The ledger's side for the index: outbox, what it should hold, what is written on entries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bmo.ids import new_id
from bmo.ledger import fact_writing, outbox
from bmo.ledger import facts as rows
from bmo.ledger.records import Backlog, OutboxItem, OutboxOp
from bmo.ledger.schema import decisions, facts, meta, turns
from bmo.ledger.schema import outbox as outbox_table
from bmo.ledger.turn_queries import TurnQueries
from bmo.settings import checked_user_id
from bmo.turn import StoredFact, utc_now

_CHUNK = 500
"""Ids per statement; SQLite takes a limited number of parameters."""

# Built once: building a statement takes longer than running it, and each fact runs these.
_META = sa.select(meta.c.value).where(meta.c.key == sa.bindparam("key"))
_IDENTITY = "ledger_id"
_LIVE = sa.select(facts.c.id).where(
    facts.c.id == sa.bindparam("fact"), facts.c.user_id == sa.bindparam("user"), rows.is_live()
)
_COUNT_LIVE = sa.select(sa.func.count()).select_from(facts).where(rows.is_live())
_LIVE_AFTER = (
    rows.select_facts()
    .where(
        sa.tuple_(facts.c.user_id, facts.c.id)
        > sa.tuple_(sa.bindparam("user", type_=sa.Text), sa.bindparam("id", type_=sa.Text)),
        rows.is_live(),
    )
    .order_by(facts.c.user_id, facts.c.id)
    .limit(sa.bindparam("most", type_=sa.Integer()))
)
_CHANGE_META = (
    sa.update(meta)
    .where(meta.c.key == sa.bindparam("name"), meta.c.value == sa.bindparam("old"))
    .values(value=sa.bindparam("new"))
)
_PASSES = decisions.alias("passes")
_LATEST = sa.select(sa.func.max(_PASSES.c.id)).where(_PASSES.c.turn_id == turns.c.id)
_SAID = (
    sa.select(
        turns.c.id,
        decisions.c.confidence,
        decisions.c.reason,
        decisions.c.gate_version,
        decisions.c.fallback,
    )
    # By way of the turns: asked for the user's decisions SQLite would read all of them.
    .join(decisions, decisions.c.turn_id == turns.c.id)
    .where(
        turns.c.user_id == sa.bindparam("user"),
        turns.c.id.in_(sa.bindparam("turns", expanding=True)),
        decisions.c.id == _LATEST.scalar_subquery(),
    )
)


class IndexSide(TurnQueries):
    """What the recorder needs to keep the index in agreement."""

    def claim_outbox(
        self, owner: str, limit: int, *, ops: Collection[OutboxOp] | None = None
    ) -> list[OutboxItem]:
        """Leases entries that are due, in order; of each fact only the oldest."""
        with self.writing() as connection:
            return outbox.claim(connection, owner, utc_now(), limit, ops)

    def renew_leases(self, owner: str) -> None:
        """Says that a recorder is still at work on what it claimed."""
        with self.writing() as connection:
            outbox.renew(connection, owner, utc_now())

    def hurry_outbox(self, *, ops: Collection[OutboxOp] | None = None) -> None:
        """Makes due what was put off (of these operations; None: of all)."""
        now = utc_now()
        last = self.backlog(ops=ops).last_due
        if last is not None and last > now:  # a writer locks others out: not for nothing
            with self.writing() as connection:
                outbox.hurry(connection, now, ops)

    def applied(self, item: OutboxItem, *, index_id: str | None = None) -> None:
        """The index did it: the entry goes, and Mem0's id is written beside the fact."""
        with self.writing() as connection:
            if index_id is not None:
                fact_writing.change(connection, item.fact_id, {"index_id": index_id})
            outbox.done(connection, item.id)

    def note_index_ids(self, index_ids: Mapping[str, str]) -> None:
        """Writes Mem0's ids beside facts."""
        with self.writing() as connection:
            for fact_id, index_id in index_ids.items():
                fact_writing.change(connection, fact_id, {"index_id": index_id})

    def put_off(self, item: OutboxItem, error: str) -> None:
        """The index failed at it: tried again later, each time twice as late."""
        with self.writing() as connection:
            outbox.failed(connection, item, utc_now(), error)

    def release_outbox(self, owner: str | None = None) -> None:
        """Gives leases back: of one recorder, or of all when nobody else can be at work."""
        with self.writing() as connection:
            outbox.release(connection, owner=owner)

    def backlog(self, *, ops: Collection[OutboxOp] | None = None) -> Backlog:
        """How much waits, and when what waits for these operations is due (None: for all)."""
        with self.reading() as connection:
            return outbox.backlog(connection, ops)

    def next_due(self, *, ops: Collection[OutboxOp] | None = None) -> datetime | None:
        """When the next entry (of these operations) is due, or None when there is none."""
        return self.backlog(ops=ops).first_due

    def outbox_depth(self) -> tuple[int, datetime | None]:
        """Number of entries, and when the oldest was put in."""
        found = self.backlog()
        return found.depth, found.oldest

    def count_indexable(self) -> int:
        """Number of live facts of all users: what the index should hold."""
        with self.reading() as connection:
            return int(connection.execute(_COUNT_LIVE).scalar_one())

    def live_after(self, after: str, limit: int) -> list[StoredFact]:
        """Some live facts of all users, in the order of users and ids.

        Args:
            after: User and id of the last one before, with a blank between; "" begins.
            limit: Facts at most.
        """
        user_id, _, fact_id = after.partition(" ")
        given = {"user": user_id, "id": fact_id, "most": limit}
        with self.reading() as connection:
            return rows.fetch(connection, _LIVE_AFTER, given)

    def places_of(self, fact_ids: Collection[str]) -> dict[str, str | None]:
        """Fact id -> Mem0's id as noted here, for those of some facts that are live."""
        columns = sa.select(facts.c.id, facts.c.index_id).where(rows.is_live())
        return {found.id: found.index_id for found in self._chunks(columns, facts.c.id, fact_ids)}

    def is_live(self, user_id: str, fact_id: str) -> bool:
        """Whether a fact of a user belongs into the index."""
        with self.reading() as connection:
            return connection.execute(_LIVE, {"fact": fact_id, "user": user_id}).first() is not None

    def live_by_ids(self, user_id: str, ids: Collection[str]) -> list[StoredFact]:
        """Which of some facts of a user belong into the index, as they stand in the ledger."""
        checked_user_id(user_id)
        with self.reading() as connection:
            return rows.live_by_ids(connection, user_id, ids)

    def gate_metadata(
        self, user_id: str, turn_ids: Collection[str | None]
    ) -> dict[str | None, dict[str, str | float | bool]]:
        """What the write gate said of turns, as it is written on index entries.

        Args:
            user_id: Whose turns.
            turn_ids: The turns; None is that of a fact that came without one.

        Returns:
            Turn id -> metadata, for each of ``turn_ids``.
        """
        by_hand: dict[str, str | float | bool] = {
            "write_confidence": 1.0,
            "write_reason": "by hand or import",
            "write_gate_version": "",
            "write_gate_fallback": False,
        }
        made = dict.fromkeys(turn_ids, by_hand)
        known = [turn_id for turn_id in turn_ids if turn_id is not None]
        if not known:
            return made
        checked_user_id(user_id)
        with self.reading() as connection:
            for chunk in (known[n : n + _CHUNK] for n in range(0, len(known), _CHUNK)):
                for said in connection.execute(_SAID, {"user": user_id, "turns": chunk}):
                    made[said.id] = {
                        "write_confidence": said.confidence,
                        "write_reason": said.reason,
                        "write_gate_version": said.gate_version,
                        "write_gate_fallback": said.fallback,
                    }
        return made

    def identity(self) -> str:
        """The ledger's own id, made when first asked for: its index carries it."""
        found = self.remembered(_IDENTITY)
        if found is not None:
            return found
        with self.writing(_IDENTITY) as connection:
            found = connection.execute(_META, {"key": _IDENTITY}).scalar()
            if found is None:
                found = new_id()
                connection.execute(sa.insert(meta).values(key=_IDENTITY, value=found))
            return found

    def knows(self, ids: Collection[str]) -> bool:
        """Whether one of some facts or turns is here, live, ended, or being erased."""
        columns = (facts.c.id, turns.c.id, outbox_table.c.fact_id)
        return any(any(self._chunks(sa.select(one), one, ids)) for one in columns)

    def _chunks(
        self, query: sa.Select[Any], column: sa.Column[Any], wanted: Collection[str]
    ) -> Iterator[sa.Row[Any]]:
        """Rows of a query whose column is one of some ids."""
        ids = list(wanted)
        with self.reading() as connection:
            for start in range(0, len(ids), _CHUNK):
                yield from connection.execute(query.where(column.in_(ids[start : start + _CHUNK])))

    def remembered(self, key: str) -> str | None:
        """A small fact about the ledger itself (table ``meta``)."""
        with self.reading() as connection:
            value = connection.execute(_META, {"key": key}).scalar()
        return None if value is None else str(value)

    def remember(self, key: str, value: str | None) -> None:
        """Writes such a fact; None removes it."""
        with self.writing() as connection:
            connection.execute(sa.delete(meta).where(meta.c.key == key))
            if value is not None:
                connection.execute(sa.insert(meta).values(key=key, value=value))

    def exchange(self, key: str, old: str | None, new: str) -> bool:
        """Writes such a fact if it still says what it said; returns whether it did.

        Args:
            key: Its name.
            old: What it said; None: it was not there.
            new: What it says now.
        """
        with self.writing(key) as connection:
            if old is None:
                if connection.execute(_META, {"key": key}).first() is not None:
                    return False
                connection.execute(sa.insert(meta).values(key=key, value=new))
                return True
            given = {"name": key, "old": old, "new": new}
            return connection.execute(_CHANGE_META, given).rowcount == 1
