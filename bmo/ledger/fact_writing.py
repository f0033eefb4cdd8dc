"""Writing rows of ``facts``, with the words they are found by and the turns they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ids import new_id
from bmo.ledger.facts import COLUMNS, ENTITIES
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
from bmo.turn import CATEGORIES, Category, Fact, StoredFact

_INSERT_FACT = sa.insert(facts)
_INSERT_LINK = sa.insert(fact_turns)
_LINKED = sa.select(sa.literal(1)).where(
    *(fact_turns.c[name] == sa.bindparam(name) for name in ("fact_id", "turn_id", "role"))
)
_INSERT_WORDS = sa.insert(fact_words)
_DELETE_WORDS = sa.delete(fact_words).where(fact_words.c.fact_id == sa.bindparam("fact"))


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


_READ_BACK = [(column.key, _read_back(column)) for column in COLUMNS]


@cache
def _change(columns: tuple[str, ...]) -> sa.Update:
    """Changes columns of one fact to the parameters of their names."""
    new = {name: sa.bindparam(f"new_{name}", type_=facts.c[name].type) for name in columns}
    return sa.update(facts).where(facts.c.id == sa.bindparam("fact")).values(new)


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
    values[ENTITIES] = tuple(values[ENTITIES])
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
