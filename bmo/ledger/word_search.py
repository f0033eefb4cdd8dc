"""Facts by the words they hold: which words there are, how rare they are, who shares them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.facts import is_live, select_facts, stored
from bmo.ledger.schema import fact_words, facts
from bmo.turn import StoredFact

_WORD_ROWS = 3000
"""Rows of ``fact_words`` that one search by words reads, about."""

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
