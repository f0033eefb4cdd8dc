"""Reading and writing rows of ``facts``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from bmo.ledger.records import EndReason
from bmo.ledger.retention import expiry_of
from bmo.ledger.schema import (
    CleanText,
    UtcDateTime,
    as_utc,
    clean_text,
    fact_turns,
    fact_words,
    facts,
)
from bmo.ledger.subjects import name_of, relation_of
from bmo.ledger.values import content_words, text_key, value_key
from bmo.turn import CATEGORIES, Category, Fact, StoredFact, new_id

_COLUMNS = [facts.c[field.name] for field in fields(StoredFact)]
_ENTITIES = [column.key for column in _COLUMNS].index("entities")


def _read_back(column: sa.Column[Any]) -> Callable[[Any], Any]:
    """What a value of a column has become when it is read again."""
    made: Mapping[type, Callable[[Any], Any]] = {
        CleanText: clean_text,
        UtcDateTime: as_utc,
        sa.Float: float,
    }
    change = made.get(type(column.type))
    return (lambda value: value) if change is None else _if_any(change)


def _if_any(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else change(value)


_READ_BACK = [(column.key, _read_back(column)) for column in _COLUMNS]
NEVER_TRUE: tuple[EndReason, ...] = ("corrected", "edited", "merged")
"""Ended facts that no question about the past should see."""

_CHUNK = 500
"""Ids per statement; SQLite takes a limited number of parameters."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Where a new fact comes from.

    Attributes:
        user_id: Whose it is.
        at: When it was said.
        turn_id: The turn, or None for imports and edits.
        source_type: gate, tool, model, import or manual.
        version: Gate version.
    """

    user_id: str
    at: datetime
    turn_id: str | None
    source_type: str
    version: str


def stored(row: Row[Any]) -> StoredFact:
    """A row as a :class:`StoredFact`."""
    values = list(row[: len(_COLUMNS)])  # what a query adds stands behind the columns
    values[_ENTITIES] = tuple(values[_ENTITIES])
    return StoredFact(*values)


def select_facts() -> sa.Select[Any]:
    """The columns that make a :class:`StoredFact`."""
    return sa.select(*_COLUMNS)


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


_INSERT_FACT = sa.insert(facts)
_INSERT_LINK = sa.insert(fact_turns)
_LINKED = sa.select(sa.literal(1)).where(
    *(fact_turns.c[name] == sa.bindparam(name) for name in ("fact_id", "turn_id", "role"))
)
_INSERT_WORDS = sa.insert(fact_words)
_DELETE_WORDS = sa.delete(fact_words).where(fact_words.c.fact_id == sa.bindparam("fact"))
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


@cache
def _change(columns: tuple[str, ...]) -> sa.Update:
    """Changes columns of one fact to the parameters of their names."""
    new = {name: sa.bindparam(f"new_{name}", type_=facts.c[name].type) for name in columns}
    return sa.update(facts).where(facts.c.id == sa.bindparam("fact")).values(new)


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


def insert(
    connection: Connection,
    fact: Fact,
    stamp: Stamp,
    *,
    valid_until: datetime | None = None,
    end_reason: str = "",
    superseded_by: str | None = None,
    conflict: bool = False,
    valid_from: datetime | None = None,
) -> StoredFact:
    """Writes a new fact with its words and its source."""
    fact_id = new_id()
    begins = valid_from or stamp.at
    if valid_until is not None and begins > valid_until:
        begins = valid_until
    category: Category = fact.category if fact.category in CATEGORIES else "personal_facts"
    row: dict[str, Any] = {
        "id": fact_id,
        "user_id": stamp.user_id,
        "subject": fact.subject,
        "slot": fact.slot,
        "value": fact.value,
        "value_key": value_key(fact.value),
        "text": fact.text,
        "text_key": text_key(fact.text),
        "category": category,
        "kind": fact.kind,
        "cardinality": fact.cardinality,
        "polarity": fact.polarity,
        "confidence": fact.confidence,
        "entities": [clean_text(entity) for entity in fact.entities],
        "domain": fact.domain,
        "sensitive": fact.sensitive,
        "when": fact.when,
        "expires_at": expiry_of(fact),
        "recorded_at": stamp.at,
        "valid_from": begins,
        "valid_until": valid_until,
        "ended_at": stamp.at if valid_until is not None else None,
        "end_reason": end_reason,
        "superseded_by": superseded_by,
        "conflict": conflict,
        "source_type": stamp.source_type,
        "turn_id": stamp.turn_id,
        "rule_id": fact.rule_id,
        "extraction_method": fact.extraction_method,
        "extraction_version": stamp.version,
        "use_count": 0,
    }
    connection.execute(_INSERT_FACT, row)
    words = (fact.subject, fact.text, fact.value, fact.entities)
    write_words(connection, stamp.user_id, fact_id, *words, fresh=True)
    if stamp.turn_id is not None:
        link = {"fact_id": fact_id, "turn_id": stamp.turn_id, "role": "stated"}
        connection.execute(_INSERT_LINK, link)
    return as_written(row)


def as_written(row: Mapping[str, Any]) -> StoredFact:
    """A row as it would be read back, without reading it.

    Args:
        row: Values of columns as they were inserted; a column that is missing is empty.
    """
    values = [read(row.get(name)) for name, read in _READ_BACK]
    values[_ENTITIES] = tuple(values[_ENTITIES])
    return StoredFact(*values)


def write_words(
    connection: Connection,
    user_id: str,
    fact_id: str,
    subject: str,
    text: str,
    value: str,
    entities: Iterable[str],
    *,
    fresh: bool = False,
) -> None:
    """(Re)writes the word index of one fact; a ``fresh`` one has no words there yet."""
    if not fresh:
        connection.execute(_DELETE_WORDS, {"fact": fact_id})
    relation = relation_of(subject).replace(".", " ").replace("_", " ")
    words = content_words([text, value, *entities, name_of(subject), relation])
    if words:
        connection.execute(
            _INSERT_WORDS,
            [{"fact_id": fact_id, "word": word, "user_id": user_id} for word in sorted(words)],
        )


def link_turn(connection: Connection, fact_id: str, turn_id: str, role: str) -> None:
    """Notes that a turn stated, confirmed or ended a fact. Saying so twice is fine."""
    key = {"fact_id": fact_id, "turn_id": turn_id, "role": role}
    if connection.execute(_LINKED, key).first() is None:
        connection.execute(_INSERT_LINK, key)


def end(
    connection: Connection,
    fact_id: str,
    *,
    at: datetime,
    why: EndReason,
    until: datetime | None = None,
    superseded_by: str | None = None,
    turn_id: str | None = None,
) -> None:
    """Closes a live fact; its row stays."""
    change(
        connection,
        fact_id,
        {
            "valid_until": until or at,
            "ended_at": at,
            "end_reason": why,
            "superseded_by": superseded_by,
            "conflict": False,
        },
    )
    if turn_id is not None:
        link_turn(connection, fact_id, turn_id, "ended")


def reopen(connection: Connection, fact_id: str) -> None:
    """Makes an ended fact live again: what ended it was not so."""
    change(
        connection,
        fact_id,
        {"valid_until": None, "ended_at": None, "end_reason": "", "superseded_by": None},
    )


def change(connection: Connection, fact_id: str, values: Mapping[str, object]) -> None:
    """Changes columns of one fact."""
    given = {"fact": fact_id, **{f"new_{name}": value for name, value in values.items()}}
    connection.execute(_change(tuple(values)), given)


def moment_of(when: str | None, fallback: datetime) -> datetime:
    """The moment an ISO date names, or ``fallback`` for none and for yearly days."""
    if when is None or when.startswith("--"):
        return fallback
    try:
        return as_utc(datetime.fromisoformat(when))
    except ValueError:
        return fallback
