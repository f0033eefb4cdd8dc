"""Taking words out of turns: which words an erased fact leaves behind, and where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.schema import fact_turns, fact_words, turns
from bmo.ledger.subjects import name_of
from bmo.ledger.values import content_words, mask_words, spelt_with
from bmo.turn import StoredFact

MASK = "[forgotten]"
"""Stands in a turn's text where erased words stood."""

_CHUNK = 400

_MOST_SPELLINGS = 60
"""Pieces of words looked for at a time; SQLite takes expressions of limited depth."""


def empty_turns(connection: Connection, user_id: str, turn_ids: Sequence[str]) -> None:
    """Takes all words out of turns; their decisions stay."""
    for start in range(0, len(turn_ids), _CHUNK):
        connection.execute(
            sa.update(turns)
            .where(turns.c.user_id == user_id, turns.c.id.in_(turn_ids[start : start + _CHUNK]))
            .values(text="", assistant_before="", assistant_after="", redacted=True)
        )


def forgettable_words(
    connection: Connection, user_id: str, gone: Sequence[StoredFact]
) -> frozenset[str]:
    """The words to take out of the turns: those of the erased facts that no other fact has."""
    wanted: set[str] = set()
    for fact in gone:
        told = [fact.value, name_of(fact.subject), *fact.entities]
        wanted |= content_words(told if any(told) else [fact.text])
    wanted = {word for word in wanted if len(word) > 2}
    if not wanted:
        return frozenset()
    ids = {fact.id for fact in gone}
    rows = connection.execute(
        sa.select(fact_words.c.word, fact_words.c.fact_id).where(
            fact_words.c.user_id == user_id, fact_words.c.word.in_(sorted(wanted))
        )
    )
    return frozenset(wanted - {row.word for row in rows if row.fact_id not in ids})


def redact_turns(
    connection: Connection,
    user_id: str,
    ids: Sequence[str],
    words: frozenset[str],
    turn_id: str | None,
) -> dict[str, int]:
    """Takes words out of turns.

    The turn that asked and turns from which nothing else is known lose all their words; in all
    other turns of the user the erased words are masked.
    """
    touched = _linked_turns(connection, ids)
    kept = _turns_with_other_facts(connection, touched, ids)
    emptied = [*(touched - kept), *([turn_id] if turn_id is not None else [])]
    empty_turns(connection, user_id, emptied)
    masked = 0
    if words:
        columns = (turns.c.text, turns.c.assistant_before, turns.c.assistant_after)
        query = sa.select(turns.c.id, *columns).where(turns.c.user_id == user_id)
        rows = connection.execute(query.where(_may_hold(connection, columns, words)))
        for row in rows.all():
            before = {column.name: row._mapping[column.name] for column in columns}
            after = {name: mask_words(text, words, MASK) for name, text in before.items()}
            if after != before:
                masked += 1
                connection.execute(
                    sa.update(turns).where(turns.c.id == row.id).values(redacted=True, **after)
                )
    return {"turns": len(emptied), "turns_masked": masked}


def _may_hold(
    connection: Connection, columns: Sequence[sa.ColumnElement[str]], words: frozenset[str]
) -> sa.ColumnElement[bool]:
    """Turns in which one of ``words`` may stand: the database reads the others past quickly.

    Args:
        connection: An open connection.
        columns: Where it may stand.
        words: Result of ``content_words``.
    """
    pieces = sorted({piece for word in words for piece in spelt_with(word)})
    if len(pieces) > _MOST_SPELLINGS:
        return sa.true()
    return sa.or_(
        *(
            # Accents and other letters may be spelt in more ways than a database can compare.
            sa.or_(
                sa.func.length(column) != _bytes_of(connection, column),
                *(column.icontains(piece, autoescape=True) for piece in pieces),
            )
            for column in columns
        )
    )


def _bytes_of(connection: Connection, column: sa.ColumnElement[str]) -> sa.ColumnElement[int]:
    """Length in bytes; SQLite knows ``octet_length`` only since 3.43."""
    if connection.dialect.name == "sqlite":
        return sa.func.length(sa.cast(column, sa.LargeBinary))
    return sa.func.octet_length(column)


def _linked_turns(connection: Connection, ids: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        query = sa.select(fact_turns.c.turn_id).where(fact_turns.c.fact_id.in_(chunk))
        found.update(str(turn_id) for turn_id in connection.execute(query).scalars())
    return found


def _turns_with_other_facts(
    connection: Connection, turn_ids: Iterable[str], ids: Sequence[str]
) -> set[str]:
    gone = set(ids)
    kept: set[str] = set()
    wanted = sorted(turn_ids)
    for start in range(0, len(wanted), _CHUNK):
        query = sa.select(fact_turns.c.turn_id, fact_turns.c.fact_id).where(
            fact_turns.c.turn_id.in_(wanted[start : start + _CHUNK])
        )
        kept.update(row.turn_id for row in connection.execute(query) if row.fact_id not in gone)
    return kept
