"""Reading and writing rows of ``facts``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from bmo.ledger.records import EndReason
from bmo.ledger.retention import expiry_of
from bmo.ledger.schema import as_utc, clean_text, fact_turns, fact_words, facts
from bmo.ledger.subjects import name_of, relation_of
from bmo.ledger.values import content_words, text_key, value_key
from bmo.turn import CATEGORIES, Category, Fact, StoredFact, new_id

_COLUMNS = [
    facts.c[name]
    for name in (
        "id user_id subject slot value text category kind cardinality polarity confidence "
        "valid_from valid_until superseded_by expires_at source_type turn_id rule_id "
        "extraction_method extraction_version entities domain sensitive use_count last_used_at "
        "index_id conflict when end_reason"
    ).split()
]
_NAMES = [column.key for column in _COLUMNS]
NEVER_TRUE: tuple[EndReason, ...] = ("corrected", "edited", "merged")
"""Ended facts that no question about the past should see."""

_WORD_ROWS = 3000
"""Rows of ``fact_words`` that one search by words reads, about."""

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
    values = dict(zip(_NAMES, row, strict=False))  # what a query adds stands behind the columns
    values["entities"] = tuple(values["entities"])
    return StoredFact(**values)


def select_facts() -> sa.Select[Any]:
    """The columns that make a :class:`StoredFact`."""
    return sa.select(*_COLUMNS)


def is_live(now: datetime | None = None) -> sa.ColumnElement[bool]:
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


_MINE = sa.and_(
    fact_words.c.user_id == sa.bindparam("user"),
    fact_words.c.word.in_(sa.bindparam("words", expanding=True)),
)
_WORD_COUNTS = (
    sa.select(fact_words.c.word, sa.func.count().label("facts"))
    .where(_MINE)
    .group_by(fact_words.c.word)
)


def _ranked_by_words(*conditions: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Facts that hold words of a query, rarest words first; built once, since building is dear."""
    counts = _WORD_COUNTS.subquery()
    score = sa.func.sum(1.0 / counts.c.facts).label("score")
    ranked = (
        sa.select(fact_words.c.user_id, fact_words.c.fact_id, score)
        .join(counts, counts.c.word == fact_words.c.word)
        .where(_MINE)
        .group_by(fact_words.c.user_id, fact_words.c.fact_id)
        .order_by(score.desc(), fact_words.c.fact_id)
        .limit(sa.bindparam("most"))
        .subquery()
    )
    return (
        select_facts()
        .add_columns(ranked.c.score)
        # The user comes from the ranked rows: with his id itself here SQLite would read all his
        # live facts and look each up among the ranked ones.
        .join(
            ranked,
            sa.and_(facts.c.user_id == ranked.c.user_id, facts.c.id == ranked.c.fact_id),
        )
        .where(*conditions)
        .order_by(ranked.c.score.desc(), facts.c.valid_from.desc(), facts.c.id)
        .limit(sa.bindparam("limit"))
    )


_BY_WORDS = _ranked_by_words()
_BY_WORDS_LIVE = _ranked_by_words(is_live())


def fetch(connection: Connection, query: sa.Select[Any]) -> list[StoredFact]:
    """Runs a query made of :func:`select_facts`."""
    return [stored(row) for row in connection.execute(query)]


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
    found = {fact.id: fact for fact in map(stored, rows)}
    return [found[fact_id] for fact_id in ids if fact_id in found]


def by_ids(connection: Connection, user_id: str, ids: Collection[str]) -> list[StoredFact]:
    """Facts of a user by id, in the order of ``ids``; unknown and others' ids are left out."""
    found: dict[str, StoredFact] = {}
    wanted = list(dict.fromkeys(ids))
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        query = select_facts().where(facts.c.user_id == user_id, facts.c.id.in_(chunk))
        found.update((row.id, row) for row in fetch(connection, query))
    return [found[fact_id] for fact_id in wanted if fact_id in found]


def word_counts(connection: Connection, user_id: str, words: Collection[str]) -> dict[str, int]:
    """Number of a user's facts that hold each of ``words``; words in none are left out."""
    asked = {"user": user_id, "words": sorted(words)}
    return {str(word): int(count) for word, count in connection.execute(_WORD_COUNTS, asked)}


def words_like(connection: Connection, user_id: str, beginning: str) -> list[str]:
    """The distinct words of a user's facts that begin with ``beginning``, in order."""
    word = fact_words.c.word
    begins = sa.func.substr(word, 1, len(beginning)) == beginning
    if connection.dialect.name == "sqlite":
        # A range finds them by the index; elsewhere order is the collation's, not the letters'.
        begins = sa.and_(word >= beginning, word < beginning + "\U0010ffff")
    query = sa.select(word).where(fact_words.c.user_id == user_id, begins).distinct()
    query = query.order_by(word)
    return [str(word) for word in connection.execute(query).scalars()]


def by_words(
    connection: Connection,
    user_id: str,
    words: Collection[str],
    *,
    live: bool,
    limit: int,
    counts: Mapping[str, int] | None = None,
) -> list[tuple[StoredFact, float]]:
    """Facts that share words with a query, rarest words first.

    Args:
        connection: An open connection.
        user_id: Whose facts.
        words: Result of ``content_words``.
        live: Only live facts.
        limit: Number of facts, at most.
        counts: Result of ``word_counts`` for ``words``, where it is there already.

    Returns:
        (fact, share of the query's weight it has: 0..1), best first. A word's weight is the
        inverse of the number of facts it is in.
    """
    wanted = sorted(words)[:64]
    if not wanted:
        return []
    if counts is None:
        counts = word_counts(connection, user_id, wanted)
    counts = {word: counts[word] for word in wanted if word in counts}
    if not counts:
        return []
    telling = _telling(counts)
    given = {
        "user": user_id,
        "words": sorted(telling),
        "most": limit * 4 if live else limit,
        "limit": limit,
    }
    found = connection.execute(_BY_WORDS_LIVE if live else _BY_WORDS, given)
    weights = {word: 1.0 / count for word, count in counts.items()}
    rarest = 1.0
    total = sum(weights.values()) + (len(wanted) - len(weights)) * rarest
    return [(stored(row), float(row.score) / total) for row in found]


def _telling(counts: Mapping[str, int]) -> list[str]:
    """The rarest words, as many as are in ``_WORD_ROWS`` facts; at least one.

    A word in every second fact weighs next to nothing, and at 50,000 facts its rows are dear.
    """
    kept: list[str] = []
    rows = 0
    for word, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        rows += count
        if kept and rows > _WORD_ROWS:
            break
        kept.append(word)
    return kept


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
    same = (
        facts.c.value_key == value_key(fact.value)
        if fact.value
        else facts.c.text_key == text_key(fact.text)
    )
    query = select_facts().where(
        facts.c.user_id == user_id,
        same,
        facts.c.subject == fact.subject,
        facts.c.slot.in_(slots) if slots is not None else sa.true(),
        is_live(),
    )
    return fetch(connection, query.order_by(facts.c.valid_from, facts.c.id))


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
    query = select_facts().where(
        facts.c.user_id == user_id,
        facts.c.subject == fact.subject,
        facts.c.slot.in_(slots),
        is_live(),
    )
    if conflict:
        query = query.where(facts.c.conflict.is_(True))
    if latest:
        return fetch(connection, query.order_by(facts.c.valid_from.desc(), facts.c.id).limit(1))
    return fetch(connection, query.order_by(facts.c.valid_from, facts.c.id))


def live_by_ids(connection: Connection, user_id: str, ids: Collection[str]) -> list[StoredFact]:
    """The live ones of a few facts of a user."""
    if not ids:
        return []
    query = select_facts().where(facts.c.user_id == user_id, facts.c.id.in_(list(ids)), is_live())
    return fetch(connection, query.order_by(facts.c.id))


def same_text(connection: Connection, fact: Fact, user_id: str) -> list[StoredFact]:
    """Live facts with the same words."""
    query = select_facts().where(
        facts.c.user_id == user_id, facts.c.text_key == text_key(fact.text), is_live()
    )
    return fetch(connection, query)


def of_people(connection: Connection, user_id: str, relation: str, name: str) -> list[StoredFact]:
    """Live facts of everybody of a relation, and of everybody of that name."""
    query = select_facts().where(
        facts.c.user_id == user_id,
        sa.or_(
            facts.c.subject == relation,
            facts.c.subject.startswith(f"{relation}:", autoescape=True),
            facts.c.subject.endswith(f":{name}", autoescape=True) if name else sa.false(),
        ),
        is_live(),
    )
    return fetch(connection, query.order_by(facts.c.valid_from, facts.c.id))


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
    connection.execute(
        sa.insert(facts).values(
            id=fact_id,
            user_id=stamp.user_id,
            subject=fact.subject,
            slot=fact.slot,
            value=fact.value,
            value_key=value_key(fact.value),
            text=fact.text,
            text_key=text_key(fact.text),
            category=category,
            kind=fact.kind,
            cardinality=fact.cardinality,
            polarity=fact.polarity,
            confidence=fact.confidence,
            entities=[clean_text(entity) for entity in fact.entities],
            domain=fact.domain,
            sensitive=fact.sensitive,
            when=fact.when,
            expires_at=expiry_of(fact),
            recorded_at=stamp.at,
            valid_from=begins,
            valid_until=valid_until,
            ended_at=stamp.at if valid_until is not None else None,
            end_reason=end_reason,
            superseded_by=superseded_by,
            conflict=conflict,
            source_type=stamp.source_type,
            turn_id=stamp.turn_id,
            rule_id=fact.rule_id,
            extraction_method=fact.extraction_method,
            extraction_version=stamp.version,
            use_count=0,
        )
    )
    write_words(
        connection, stamp.user_id, fact_id, fact.subject, fact.text, fact.value, fact.entities
    )
    if stamp.turn_id is not None:
        link_turn(connection, fact_id, stamp.turn_id, "stated")
    return by_ids(connection, stamp.user_id, [fact_id])[0]


def write_words(
    connection: Connection,
    user_id: str,
    fact_id: str,
    subject: str,
    text: str,
    value: str,
    entities: Iterable[str],
) -> None:
    """(Re)writes the word index of one fact."""
    connection.execute(sa.delete(fact_words).where(fact_words.c.fact_id == fact_id))
    relation = relation_of(subject).replace(".", " ").replace("_", " ")
    words = content_words([text, value, *entities, name_of(subject), relation])
    if words:
        connection.execute(
            sa.insert(fact_words),
            [{"fact_id": fact_id, "word": word, "user_id": user_id} for word in sorted(words)],
        )


def link_turn(connection: Connection, fact_id: str, turn_id: str, role: str) -> None:
    """Notes that a turn stated, confirmed or ended a fact. Saying so twice is fine."""
    key = {"fact_id": fact_id, "turn_id": turn_id, "role": role}
    known = connection.execute(sa.select(sa.literal(1)).where(*_matches(key)).limit(1)).first()
    if known is None:
        connection.execute(sa.insert(fact_turns).values(key))


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
    connection.execute(
        sa.update(facts)
        .where(facts.c.id == fact_id)
        .values(
            valid_until=until or at,
            ended_at=at,
            end_reason=why,
            superseded_by=superseded_by,
            conflict=False,
        )
    )
    if turn_id is not None:
        link_turn(connection, fact_id, turn_id, "ended")


def change(connection: Connection, fact_id: str, values: Mapping[str, object]) -> None:
    """Changes columns of one fact."""
    connection.execute(sa.update(facts).where(facts.c.id == fact_id).values(**values))


def moment_of(when: str | None, fallback: datetime) -> datetime:
    """The moment an ISO date names, or ``fallback`` for none and for yearly days."""
    if when is None or when.startswith("--"):
        return fallback
    try:
        return as_utc(datetime.fromisoformat(when))
    except ValueError:
        return fallback


def _matches(key: Mapping[str, str]) -> list[sa.ColumnElement[bool]]:
    return [fact_turns.c[name] == value for name, value in key.items()]
