"""Reading rows of ``facts``; what writes them is ``bmo.ledger.fact_writing``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from bmo.ledger.database import chunks
from bmo.ledger.reconcile import slots_of_family
from bmo.ledger.records import EndReason
from bmo.ledger.schema import fact_turns, facts
from bmo.ledger.values import text_key, value_key
from bmo.turn import Fact, StoredFact

COLUMNS = [facts.c[field.name] for field in fields(StoredFact)]
_OF_BOTH = [field.name for field in fields(Fact) if hasattr(StoredFact, field.name)]
ENTITIES = [column.key for column in COLUMNS].index("entities")


NEVER_TRUE: tuple[EndReason, ...] = ("corrected", "edited", "merged")
"""Ended facts that no question about the past should see."""

IS_SOURCE = fact_turns.c.role.in_(["stated", "confirmed"])
"""Of a turn that said a fact, first or again; one that ended it is no source of it."""


def stored(row: Row[Any]) -> StoredFact:
    """A row as a :class:`StoredFact`."""
    values = list(row[: len(COLUMNS)])  # what a query adds stands behind the columns
    values[ENTITIES] = tuple(values[ENTITIES])
    return StoredFact(*values)


def select_facts() -> sa.Select[Any]:
    """The columns that make a :class:`StoredFact`."""
    return sa.select(*COLUMNS)


def is_live(now: datetime | sa.BindParameter[datetime] | None = None) -> sa.ColumnElement[bool]:
    """Not ended, not withdrawn and, with ``now``, not expired."""
    clauses: list[sa.ColumnElement[bool]] = [
        facts.c.valid_until.is_(None),
        facts.c.withdrawn_by.is_(None),
    ]
    if now is not None:
        clauses.append(sa.or_(facts.c.expires_at.is_(None), facts.c.expires_at > now))
    return sa.and_(*clauses)


def was_live(at: datetime | sa.BindParameter[datetime]) -> sa.ColumnElement[bool]:
    """Known and true at ``at``, as it was known then."""
    return sa.and_(
        facts.c.recorded_at <= at,
        facts.c.valid_from <= at,
        facts.c.withdrawn_by.is_(None),
        # An end counts from when it was learnt of, unless it was dated before.
        sa.or_(
            facts.c.valid_until.is_(None),
            facts.c.valid_until > at,
            sa.and_(facts.c.ended_at.is_not(None), facts.c.ended_at > at),
        ),
        sa.or_(facts.c.expires_at.is_(None), facts.c.expires_at > at),
    )


def contradicts() -> sa.ColumnElement[bool]:
    """Stands beside another value: both cannot be ordered, or were written at once.

    Of a slot that holds one value two can be live where versions before wrote from two workers.
    """
    other = facts.alias("other")
    beside = sa.exists().where(
        other.c.user_id == facts.c.user_id,
        other.c.subject == facts.c.subject,
        other.c.slot == facts.c.slot,
        other.c.value_key != facts.c.value_key,
        other.c.cardinality == "one",
        other.c.polarity == "positive",
        other.c.valid_until.is_(None),
        other.c.withdrawn_by.is_(None),
    )
    one = sa.and_(facts.c.cardinality == "one", facts.c.polarity == "positive", beside)
    return sa.and_(is_live(), sa.or_(facts.c.conflict.is_(True), one))


def fetch(
    connection: Connection, query: sa.Select[Any], given: Mapping[str, Any] | None = None
) -> list[StoredFact]:
    """Runs a query made of :func:`select_facts`, with ``given`` for its parameters."""
    # All at once: one by one each row costs a third more.
    return [stored(row) for row in connection.execute(query, given).all()]


_BY_IDS = select_facts().where(
    facts.c.user_id == sa.bindparam("user"), facts.c.id.in_(sa.bindparam("ids", expanding=True))
)
_LIVE_BY_IDS = _BY_IDS.where(is_live()).order_by(facts.c.id)
_SAME_TEXT = select_facts().where(
    facts.c.user_id == sa.bindparam("user"), facts.c.text_key == sa.bindparam("key"), is_live()
)

_SLOT_ROWS = select_facts().where(
    facts.c.user_id == sa.bindparam("user"),
    facts.c.subject == sa.bindparam("subject"),
    facts.c.slot.in_(sa.bindparam("slots", expanding=True)),
    is_live(),
)
_OF_SLOTS = _SLOT_ROWS.order_by(facts.c.valid_from.desc(), facts.c.id)
_SAME_VALUE = _SLOT_ROWS.where(facts.c.value_key == sa.bindparam("key"))

_ALIVE_THEN = _BY_IDS.where(was_live(sa.bindparam("at", type_=facts.c.recorded_at.type)))


def by_ids(
    connection: Connection, user_id: str, ids: Collection[str], live_at: datetime | None = None
) -> list[StoredFact]:
    """Facts of a user by id, in the order of ``ids``; unknown and others' ids are left out.

    With ``live_at`` those that were not known and true at that moment are left out as well.
    """
    wanted = list(dict.fromkeys(ids))
    query = _BY_IDS if live_at is None else _ALIVE_THEN
    then: dict[str, datetime] = {} if live_at is None else {"at": live_at}
    given = ({"user": user_id, "ids": some, **then} for some in chunks(wanted))
    found = {row.id: row for one in given for row in fetch(connection, query, one)}
    return [found[fact_id] for fact_id in wanted if fact_id in found]


def of_slots(
    connection: Connection, user_id: str, subject: str, slots: Sequence[str]
) -> list[StoredFact]:
    """Live facts of a subject in some slots, newest first."""
    return fetch(connection, _OF_SLOTS, {"user": user_id, "subject": subject, "slots": list(slots)})


def touched(
    connection: Connection, user_id: str, fact: Fact, near: Collection[str]
) -> list[StoredFact]:
    """The live facts that a new one may confirm or end: few, however many there are."""
    found = fetch(connection, _SAME_TEXT, {"user": user_id, "key": text_key(fact.text)})
    if fact.slot is not None:
        slots = list(slots_of_family(fact.slot))
        if fact.cardinality == "one":
            found += of_slots(connection, user_id, fact.subject, slots)
        else:
            given = {"user": user_id, "subject": fact.subject, "slots": slots}
            found += fetch(connection, _SAME_VALUE, {**given, "key": value_key(fact.value)})
    found += live_by_ids(connection, user_id, [*fact.ends, *near])
    return list({row.id: row for row in found}.values())


def live_by_ids(connection: Connection, user_id: str, ids: Collection[str]) -> list[StoredFact]:
    """The live ones of a few facts of a user."""
    if not ids:
        return []
    return fetch(connection, _LIVE_BY_IDS, {"user": user_id, "ids": list(ids)})


def as_fact(row: StoredFact) -> Fact:
    """What the gate said to write this row."""
    return Fact(**{name: getattr(row, name) for name in _OF_BOTH})
