"""The ledger's side for the index: outbox, what it should hold, what is written on entries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import get_args

import sqlalchemy as sa

from bmo.ids import new_id
from bmo.ledger import facts as rows
from bmo.ledger import outbox
from bmo.ledger.database import chunks, hold_user, rows_among
from bmo.ledger.records import LAST_RETRY, Backlog, OutboxItem, OutboxOp, Written
from bmo.ledger.schema import UtcDateTime, decisions, fact_vectors, facts, meta, turns
from bmo.ledger.schema import outbox as waiting
from bmo.ledger.turn_log import NEWEST
from bmo.ledger.turn_queries import TurnQueries
from bmo.turn import StoredFact, utc_now

LEASE = timedelta(seconds=8)
"""How long an entry is its recorder's without a sign of life (``renew_leases``); then another takes
it."""

FIRST_RETRY = timedelta(seconds=0.5)
"""Waiting times double from this one to ``LAST_RETRY``."""

OPS: tuple[OutboxOp, ...] = get_args(OutboxOp)
_FIELDS = tuple(field.name for field in fields(OutboxItem))
_ERROR_CHARACTERS = 200


def _unheld(*conditions: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    """Of the entries that fulfil conditions those that no other transaction is changing."""
    found = sa.select(waiting.c.id).where(*conditions)
    return waiting.c.id.in_(found.with_for_update(skip_locked=True))


# Built once: building a statement takes longer than running it, and each fact runs these.
_NEXT = waiting.c.next_at
_MOMENT = _NEXT.type
_WANTED = waiting.c.op.in_(sa.bindparam("ops", expanding=True))
# What another recorder has at work is due when its lease ends, and not before.
_FREE = sa.case((waiting.c.leased_until > waiting.c.next_at, waiting.c.leased_until), else_=_NEXT)
_DUE = sa.case((_WANTED, _FREE))
_BACKLOG = sa.select(
    sa.func.count(),
    sa.func.min(waiting.c.created_at, type_=_MOMENT),
    sa.func.min(_DUE, type_=_MOMENT),
    sa.func.max(_DUE, type_=_MOMENT),
)
_TAKE = (
    sa.update(waiting)
    .where(waiting.c.id.in_(sa.bindparam("items", expanding=True)))
    .values(leased_by=sa.bindparam("owner"), leased_until=sa.bindparam("until"))
)
_RENEW = (
    sa.update(waiting)
    .where(_unheld(waiting.c.leased_by == sa.bindparam("owner")))
    .values(leased_until=sa.bindparam("until"))
)
_HURRY = (
    sa.update(waiting)
    .where(
        _unheld(_WANTED, _NEXT > sa.bindparam("now", type_=_MOMENT), waiting.c.leased_by.is_(None))
    )
    .values(next_at=waiting.c.created_at)
)
_SERVERS_CLOCK = sa.select(sa.func.clock_timestamp(type_=UtcDateTime()))


def _moment(name: str) -> sa.BindParameter[datetime]:
    return sa.bindparam(name, type_=_MOMENT)


_EARLIER = waiting.alias("earlier")
_FIRST_OF_FACT = sa.select(sa.func.min(_EARLIER.c.id)).where(
    _EARLIER.c.fact_id == waiting.c.fact_id
)
_UNTIL = waiting.c.leased_until
_CLAIMABLE = (
    sa.select(waiting)
    # What is further ahead than it is ever put was put there by a clock that has gone back since.
    .where(sa.or_(_NEXT <= _moment("now"), _NEXT > _moment("too_far")))
    .where(sa.or_(_UNTIL.is_(None), _UNTIL <= _moment("clock"), _UNTIL > _moment("too_long")))
    .where(_WANTED, waiting.c.id == _FIRST_OF_FACT.scalar_subquery())
    .order_by(waiting.c.id)
    .limit(sa.bindparam("most", type_=sa.Integer()))
    .with_for_update(skip_locked=True)
)
_META = sa.select(meta.c.value).where(meta.c.key == sa.bindparam("key"))
_IDENTITY = "ledger_id"
_NOTE_INDEX_ID = (
    sa.update(facts)
    .where(facts.c.id == sa.bindparam("fact"))
    .values(index_id=sa.bindparam("new_index_id"))
)
_VECTORS = sa.select(fact_vectors.c.fact_id, fact_vectors.c.vector).where(
    fact_vectors.c.collection == sa.bindparam("within")
)
# Only beside the words it was made of: whoever rewords a fact meanwhile waits for this user.
_KEEP_VECTOR = sa.text(
    "INSERT INTO fact_vectors (fact_id, collection, vector) SELECT id, :within, :vector FROM facts "
    "WHERE id = :fact AND text = :text AND asked = :asked AND valid_until IS NULL "
    "ON CONFLICT (fact_id) DO UPDATE SET collection = excluded.collection, vector = excluded.vector"
).bindparams(
    sa.bindparam("vector", type_=fact_vectors.c.vector.type),
    *(sa.bindparam(name, type_=facts.c[name].type) for name in ("text", "asked")),
)
_LIVE = sa.select(facts.c.id).where(rows.is_live())
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
# Turns that went into the index as they were said (MEM0_SETTING=NORMAL), and have words still.
_RAW = (
    sa.select(turns.c.id, turns.c.user_id)
    .where(
        turns.c.text != "",
        turns.c.id.in_(
            sa.select(decisions.c.turn_id).where(
                decisions.c.extraction_method == "raw",
                decisions.c.gate_version == "normal",
                decisions.c.verdict == "allow",
            )
        ),
    )
    .order_by(turns.c.seq)
)
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
        decisions.c.id == NEWEST.scalar_subquery(),
    )
)


class IndexSide(TurnQueries):
    """What the recorder needs to keep the index in agreement."""

    def claim_outbox(
        self, owner: str, limit: int, *, ops: Collection[OutboxOp] | None = None
    ) -> list[OutboxItem]:
        """Leases entries that are due, in order; of each fact only the oldest."""
        with self.writing() as connection:
            now = utc_now()
            clock = _clock(connection, now)
            given = {
                **{"now": now, "too_far": now + LAST_RETRY},
                **{"clock": clock, "too_long": clock + LEASE},
                **{"most": limit, "ops": list(ops or OPS)},
            }
            found = connection.execute(_CLAIMABLE, given).all()
            items = [OutboxItem(**{name: row._mapping[name] for name in _FIELDS}) for row in found]
            if items:
                ids = [item.id for item in items]
                taken = {"items": ids, "owner": owner, "until": clock + LEASE}
                connection.execute(_TAKE, taken)
            return items

    def renew_leases(self, owner: str) -> None:
        """Says that a recorder is still at work on what it claimed."""
        with self.writing() as connection:
            until = _clock(connection, utc_now()) + LEASE
            connection.execute(_RENEW, {"owner": owner, "until": until})

    def hurry_outbox(self, *, ops: Collection[OutboxOp] | None = None) -> None:
        """Makes due what was put off (of these operations; None: of all)."""
        now = utc_now()
        last = self.backlog(ops=ops).last_due
        if last is not None and last > now:  # a writer locks others out: not for nothing
            with self.writing() as connection:
                connection.execute(_HURRY, {"now": now, "ops": list(ops or OPS)})

    def raw_turns(self, user_id: str) -> int:
        """How many turns of a user are in the index as they were said (MEM0_SETTING=NORMAL)."""
        mine = _RAW.where(turns.c.user_id == user_id).subquery()
        with self.reading() as connection:
            return int(
                connection.execute(sa.select(sa.func.count()).select_from(mine)).scalar_one()
            )

    def queue_raw_turns(self) -> int:
        """Has the index told of all such turns again, of all users; what it has it keeps.

        Returns:
            How many there are.
        """
        with self.writing() as connection:
            there = sa.select(waiting.c.fact_id).where(waiting.c.op == "raw")
            known = set(connection.execute(there).scalars())
            found = connection.execute(_RAW).all()
            for turn_id, user_id in found:
                if turn_id not in known:
                    outbox.put(connection, "raw", user_id, turn_id)
        return len(found)

    def applied(self, item: OutboxItem, *written: Written) -> None:
        """The index did it: the entry goes, and what was written is noted beside the fact."""
        with self.writing(item.user_id) as connection:
            _note(connection, written)
            outbox.done(connection, item.id)

    def note_written(self, written: Sequence[Written]) -> None:
        """Notes ids and vectors of entries beside their facts."""
        news = [one for one in written if one.is_news]
        if news:
            with self.writing(*(one.fact.user_id for one in news)) as connection:
                _note(connection, news)

    def vectors_of(self, collection: str, fact_ids: Iterable[str]) -> dict[str, bytes]:
        """Fact id -> its vector, of those facts that have one for a collection."""
        with self.reading() as connection:
            query = _VECTORS.params(within=collection)
            found = rows_among(connection, query, fact_vectors.c.fact_id, fact_ids)
            return {row.fact_id: row.vector for row in found}

    def put_off(self, item: OutboxItem, error: str) -> None:
        """The index failed at it: tried again later, each time twice as late."""
        later = min(FIRST_RETRY * 2 ** min(item.attempts, 16), LAST_RETRY)
        failed = {
            "attempts": item.attempts + 1,
            "next_at": utc_now() + later,
            "leased_by": None,
            "leased_until": None,
            "last_error": error[:_ERROR_CHARACTERS],
        }
        with self.writing(item.user_id) as connection:
            connection.execute(sa.update(waiting).where(waiting.c.id == item.id).values(failed))

    def release_outbox(self, owner: str | None = None) -> None:
        """Gives leases back: of one recorder, or of all when nobody else can be at work."""
        free = sa.update(waiting).values(leased_by=None, leased_until=None)
        if owner is None:
            free = free.where(_unheld()).values(next_at=waiting.c.created_at)
        else:
            free = free.where(_unheld(waiting.c.leased_by == owner))
        with self.writing() as connection:
            connection.execute(free)

    def backlog(self, *, ops: Collection[OutboxOp] | None = None) -> Backlog:
        """How much waits, and when what waits for these operations is due (None: for all)."""
        with self.reading() as connection:
            return Backlog(*connection.execute(_BACKLOG, {"ops": list(ops or OPS)}).one())

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

    def live_among(self, fact_ids: Iterable[str]) -> set[str]:
        """Which of some facts are live."""
        with self.reading() as connection:
            return {found.id for found in rows_among(connection, _LIVE, facts.c.id, fact_ids)}

    def live_by_ids(self, user_id: str, ids: Collection[str]) -> list[StoredFact]:
        """Which of some facts of a user belong into the index, as they stand in the ledger."""
        with self.reading(user_id) as connection:
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
        with self.reading(user_id) as connection:
            for some in chunks(turn_id for turn_id in turn_ids if turn_id is not None):
                for said in connection.execute(_SAID, {"user": user_id, "turns": some}):
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
        if found is None:
            made = new_id()
            found = made if self.exchange(_IDENTITY, None, made) else self.remembered(_IDENTITY)
        assert found is not None  # another process may have been quicker, and none takes it away
        return found

    def knows(self, ids: Collection[str]) -> bool:
        """Whether one of some facts or turns is here, live, ended, or being erased."""
        columns = (facts.c.id, turns.c.id, waiting.c.fact_id)
        with self.reading() as connection:
            return any(any(rows_among(connection, sa.select(one), one, ids)) for one in columns)

    def remembered(self, key: str) -> str | None:
        """A small fact about the ledger itself (table ``meta``)."""
        with self.reading() as connection:
            value = connection.execute(_META, {"key": key}).scalar()
        return None if value is None else str(value)

    def exchange(self, key: str, old: str | None, new: str) -> bool:
        """Writes such a fact if it still says what it said; returns whether it did.

        Args:
            key: Its name.
            old: What it said; None: it was not there.
            new: What it says now.
        """
        with self.writing() as connection:
            hold_user(connection, key)  # one process at a time
            if old is None:
                if connection.execute(_META, {"key": key}).first() is not None:
                    return False
                connection.execute(sa.insert(meta).values(key=key, value=new))
                return True
            given = {"name": key, "old": old, "new": new}
            return connection.execute(_CHANGE_META, given).rowcount == 1

    def take_round(self, what: str, every: timedelta) -> bool:
        """Whether it is time for what one process does for all; it is nobody else's then.

        Args:
            what: Its name.
            every: How often it is done.
        """
        key, now = f"round:{what}", utc_now()
        last = self.remembered(key)
        # A clock that went back since keeps nobody from it.
        if last is not None and abs(now - datetime.fromisoformat(last)) < every:
            return False
        return self.exchange(key, last, now.isoformat())


def _note(connection: sa.Connection, written: Sequence[Written]) -> None:
    """Writes ids of entries beside facts, and the vectors that were made for them."""
    named = [
        {"fact": one.fact.id, "new_index_id": one.index_id}
        for one in written
        if one.fact.index_id != one.index_id
    ]
    if named:
        connection.execute(_NOTE_INDEX_ID, named)
    made = [
        {
            **{"fact": one.fact.id, "text": one.fact.text, "asked": one.fact.asked},
            **{"within": one.collection, "vector": one.vector},
        }
        for one in written
        if one.vector is not None
    ]
    if made:
        connection.execute(_KEEP_VECTOR, made)


def _clock(connection: sa.Connection, now: datetime) -> datetime:
    """The moment that leases are told by: of a fleet the server's, for workers' clocks differ."""
    if connection.dialect.name != "postgresql":
        return now
    moment: datetime = connection.execute(_SERVERS_CLOCK).scalar_one()
    return moment
