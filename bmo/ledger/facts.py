"""Reading rows of ``facts``; what writes them is ``bmo.ledger.fact_writing``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from bmo.ledger.records import EndReason
from bmo.ledger.schema import (
    as_utc,
    facts,
)
from bmo.ledger.values import text_key, value_key
from bmo.turn import Fact, StoredFact

COLUMNS = [facts.c[field.name] for field in fields(StoredFact)]
ENTITIES = [column.key for column in COLUMNS].index("entities")


NEVER_TRUE: tuple[EndReason, ...] = ("corrected", "edited", "merged")
"""Ended facts that no question about the past should see."""

_CHUNK = 500
"""Ids per statement; SQLite takes a limited number of parameters."""


def stored(row: Row[Any]) -> StoredFact:
    """A row as a :class:`StoredFact`."""
    values = list(row[: len(COLUMNS)])  # what a query adds stands behind the columns
    values[ENTITIES] = tuple(values[ENTITIES])
    return StoredFact(*values)


def select_facts() -> sa.Select[Any]:
    """The columns that make a :class:`StoredFact`."""
    return sa.select(*COLUMNS)


def is_live(
    now: datetime | sa.BindParameter[datetime] | None = None,
) -> sa.ColumnElement[bool]:
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

_OLDEST_FIRST = (facts.c.valid_from, facts.c.id)


@cache
def _same_value(*, worded: bool, some_slots: bool) -> sa.Select[Any]:
    """The statement of ``same_value``; built once each, since building is dear."""
    key = facts.c.text_key if worded else facts.c.value_key
    query = select_facts().where(
        facts.c.user_id == sa.bindparam("user"),
        key == sa.bindparam("key"),
        facts.c.subject == sa.bindparam("subject"),
        is_live(),
    )
    if some_slots:
        query = query.where(facts.c.slot.in_(sa.bindparam("slots", expanding=True)))
    return query.order_by(*_OLDEST_FIRST)


@cache
def _of_slots(*, conflict: bool, latest: bool) -> sa.Select[Any]:
    """The statement of ``of_slots``."""
    query = select_facts().where(
        facts.c.user_id == sa.bindparam("user"),
        facts.c.subject == sa.bindparam("subject"),
        facts.c.slot.in_(sa.bindparam("slots", expanding=True)),
        is_live(),
    )
    if conflict:
        query = query.where(facts.c.conflict.is_(True))
    if latest:
        return query.order_by(facts.c.valid_from.desc(), facts.c.id).limit(1)
    return query.order_by(*_OLDEST_FIRST)


_ALIVE_THEN = select_facts().where(
    facts.c.user_id == sa.bindparam("user"),
    facts.c.id.in_(sa.bindparam("ids", expanding=True)),
    was_live(sa.bindparam("at", type_=facts.c.recorded_at.type)),
)


def by_ids_live_at(
    connection: Connection, user_id: str, ids: Collection[str], at: datetime
) -> list[StoredFact]:
    """The same as :func:`by_ids` for facts known and true at ``at``; few ids."""
    rows = connection.execute(_ALIVE_THEN, {"user": user_id, "ids": list(ids), "at": at})
    found = {fact.id: fact for fact in map(stored, rows.all())}
    return [found[fact_id] for fact_id in ids if fact_id in found]


def by_ids(connection: Connection, user_id: str, ids: Collection[str]) -> list[StoredFact]:
    """Facts of a user by id, in the order of ``ids``; unknown and others' ids are left out."""
    found: dict[str, StoredFact] = {}
    wanted = list(dict.fromkeys(ids))
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        given = {"user": user_id, "ids": chunk}
        found.update((row.id, row) for row in fetch(connection, _BY_IDS, given))
    return [found[fact_id] for fact_id in wanted if fact_id in found]


def same_value(
    connection: Connection, fact: Fact, user_id: str, slots: Sequence[str] | None
) -> list[StoredFact]:
    """Live facts of the fact's subject with its value, or its words if it has none.

    Args:
        connection: An open connection.
        fact: Gives subject and value.
        user_id: Whose facts.
        slots: Only in these slots; None for all.
    """
    given: dict[str, Any] = {
        "user": user_id,
        "subject": fact.subject,
        "key": value_key(fact.value) if fact.value else text_key(fact.text),
    }
    if slots is not None:
        given["slots"] = list(slots)
    query = _same_value(worded=not fact.value, some_slots=slots is not None)
    return fetch(connection, query, given)


def of_slots(
    connection: Connection,
    fact: Fact,
    user_id: str,
    slots: Sequence[str],
    *,
    conflict: bool = False,
    latest: bool = False,
) -> list[StoredFact]:
    """Live facts of the fact's subject in ``slots``.

    Args:
        connection: An open connection.
        fact: Gives the subject.
        user_id: Whose facts.
        slots: The slots.
        conflict: Only facts that are in a conflict.
        latest: Only the newest one.
    """
    given = {"user": user_id, "subject": fact.subject, "slots": list(slots)}
    return fetch(connection, _of_slots(conflict=conflict, latest=latest), given)


def live_by_ids(connection: Connection, user_id: str, ids: Collection[str]) -> list[StoredFact]:
    """The live ones of a few facts of a user."""
    if not ids:
        return []
    return fetch(connection, _LIVE_BY_IDS, {"user": user_id, "ids": list(ids)})


def same_text(connection: Connection, fact: Fact, user_id: str) -> list[StoredFact]:
    """Live facts with the same words."""
    return fetch(connection, _SAME_TEXT, {"user": user_id, "key": text_key(fact.text)})


def moment_of(when: str | None, fallback: datetime) -> datetime:
    """The moment an ISO date names, or ``fallback`` for none and for yearly days."""
    if when is None or when.startswith("--"):
        return fallback
    try:
        return as_utc(datetime.fromisoformat(when))
    except ValueError:
        return fallback


def as_fact(row: StoredFact) -> Fact:
    """What the gate would have said to write this row."""
    return Fact(
        text=row.text,
        category=row.category,
        slot=row.slot,
        value=row.value,
        subject=row.subject,
        cardinality=row.cardinality,
        polarity=row.polarity,
        kind=row.kind,
        when=row.when,
        expires_at=row.expires_at,
        confidence=row.confidence,
        rule_id=row.rule_id,
        extraction_method=row.extraction_method,
        entities=row.entities,
        domain=row.domain,
        sensitive=row.sensitive,
    )
