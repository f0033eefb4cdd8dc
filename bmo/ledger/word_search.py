"""Facts by the words they hold: which words there are, how rare they are, who shares them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.facts import is_live, select_facts, stored
from bmo.ledger.schema import fact_words, facts
from bmo.ledger.values import forms_of
from bmo.turn import StoredFact

_WORD_ROWS = 3000
"""Rows of ``fact_words`` that one search by words reads, about."""

_CHUNK = 500
"""Ids per statement; SQLite takes a limited number of parameters."""
_COMMON = 800
"""Facts from which on a word is left out where a rarer one stands beside it."""

COUNTED = 4000
"""Facts from which on a word is not counted further: more than any reader of the counts tells
apart, and few enough that a word in all of 50,000 facts costs a tenth."""

_MOST_WORDS = 64
_PLACES = (1, 2, 4, 8, 16, 32, _MOST_WORDS)
"""How many words a statement has room for; few sizes, so that few statements are compiled."""

_REAL: sa.Double[float] = sa.Double()

_MINE = sa.and_(
    fact_words.c.user_id == sa.bindparam("user"),
    fact_words.c.word.in_(sa.bindparam("words", expanding=True)),
)
_HOLDING = sa.select(fact_words.c.fact_id).where(_MINE).distinct()
_OF_THESE = (
    sa.select(fact_words.c.fact_id)
    .where(
        fact_words.c.fact_id.in_(sa.bindparam("ids", expanding=True)),
        fact_words.c.word.in_(sa.bindparam("words", expanding=True)),
    )
    .distinct()
)


@cache
def _word_counts(places: int) -> sa.CompoundSelect[Any]:
    """Words with the number of facts that hold them, up to ``COUNTED``; built once each."""
    counts: list[Any] = []
    for n in range(places):
        word = sa.bindparam(f"word{n}", type_=sa.String())
        holding = (
            sa.select(sa.literal(1))
            .where(fact_words.c.user_id == sa.bindparam("user"), fact_words.c.word == word)
            .limit(sa.bindparam("most"))
            .subquery()
        )
        counts.append(
            sa.select(word.label("word"), sa.func.count().label("facts")).select_from(holding)
        )
    return sa.union_all(*counts)


def _ranked(places: int) -> sa.Subquery:
    """Ids of the facts that hold words, heaviest first."""
    if places == 1:
        # All weigh the same: the index has them in their order already.
        score: sa.ColumnElement[float] = sa.bindparam("weight0", type_=_REAL).label("score")
        return (
            sa.select(fact_words.c.user_id, fact_words.c.fact_id, score)
            .where(
                fact_words.c.user_id == sa.bindparam("user"),
                fact_words.c.word == sa.bindparam("word0"),
            )
            .order_by(fact_words.c.fact_id)
            .limit(sa.bindparam("most"))
            .subquery()
        )
    weight = sa.case(
        *(
            (fact_words.c.word == sa.bindparam(f"word{n}"), sa.bindparam(f"weight{n}", type_=_REAL))
            for n in range(places)
        ),
        else_=sa.literal(0.0, _REAL),
    )
    score = sa.func.sum(weight).label("score")
    # Grouped by the fact alone, which is quicker: all rows are of one user.
    user = sa.func.min(fact_words.c.user_id).label("user_id")
    return (
        sa.select(user, fact_words.c.fact_id, score)
        .where(_MINE)
        .group_by(fact_words.c.fact_id)
        .order_by(score.desc(), fact_words.c.fact_id)
        .limit(sa.bindparam("most"))
        .subquery()
    )


@cache
def _ranked_by_words(places: int, *, live: bool) -> sa.Select[Any]:
    """Facts that hold words of a query, heaviest first; built once each, since building is dear.

    Args:
        places: Words with their weights: "word0", "weight0" ...
        live: Only live facts.
    """
    ranked = _ranked(places)
    return (
        select_facts()
        .add_columns(ranked.c.score)
        # The user comes from the ranked rows: with his id itself here SQLite would read all his
        # live facts and look each up among the ranked ones.
        .join(
            ranked,
            sa.and_(facts.c.user_id == ranked.c.user_id, facts.c.id == ranked.c.fact_id),
        )
        .where(is_live() if live else sa.true())
        .order_by(ranked.c.score.desc(), facts.c.valid_from.desc(), facts.c.id)
        .limit(sa.bindparam("limit"))
    )


def word_counts(connection: Connection, user_id: str, words: Collection[str]) -> dict[str, int]:
    """Number of a user's facts that hold each of ``words``; words in none are left out.

    Nobody asks how common a common word is: none is counted beyond ``COUNTED``.
    """
    wanted = sorted(words)
    counts: dict[str, int] = {}
    for start in range(0, len(wanted), _MOST_WORDS):
        some = wanted[start : start + _MOST_WORDS]
        places = next(size for size in _PLACES if size >= len(some))
        given: dict[str, Any] = {"user": user_id, "most": COUNTED}
        for n in range(places):  # no fact holds the empty word
            given[f"word{n}"] = some[n] if n < len(some) else ""
        found = connection.execute(_word_counts(places), given)
        counts |= {str(word): int(count) for word, count in found if count}
    return counts


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


def holding_all(connection: Connection, user_id: str, words: Collection[str]) -> list[str]:
    """Ids of all facts, live or ended, that hold every one of ``words`` in some form.

    A word's forms are those with the same stem (see ``values.stem``). However many facts hold
    the common words, only those with the rarest one are looked at.

    Args:
        connection: An open connection.
        user_id: Whose facts.
        words: Result of ``content_words``; for none nothing is found.
    """
    forms = [forms_of(word) for word in sorted(words)]
    if not forms:
        return []
    every = {form for group in forms for form in group}
    counts = word_counts(connection, user_id, every)
    forms.sort(key=lambda group: sum(counts.get(form, 0) for form in group))
    found: set[str] | None = None
    for group in forms:
        present = [form for form in group if form in counts]
        if not present:
            return []
        found = (
            set(connection.execute(_HOLDING, {"user": user_id, "words": present}).scalars())
            if found is None
            else _that_hold(connection, found, present)
        )
    return sorted(found or ())


def _that_hold(connection: Connection, ids: Collection[str], words: Sequence[str]) -> set[str]:
    left: set[str] = set()
    wanted = sorted(ids)
    for start in range(0, len(wanted), _CHUNK):
        given = {"ids": wanted[start : start + _CHUNK], "words": words}
        left.update(connection.execute(_OF_THESE, given).scalars())
    return left


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
    wanted = sorted(words)[:_MOST_WORDS]
    if not wanted:
        return []
    if counts is None:
        counts = word_counts(connection, user_id, wanted)
    counts = {word: counts[word] for word in wanted if word in counts}
    if not counts:
        return []
    weights = {word: 1.0 / count for word, count in counts.items()}
    telling = sorted(_telling(counts))
    places = next(size for size in _PLACES if size >= len(telling))
    given: dict[str, Any] = {
        "user": user_id,
        "most": limit * 4 if live else limit,
        "limit": limit,
    }
    if places > 1:
        given["words"] = telling
    for n in range(places):  # no fact holds the empty word
        given[f"word{n}"] = telling[n] if n < len(telling) else ""
        given[f"weight{n}"] = weights[telling[n]] if n < len(telling) else 0.0
    found = connection.execute(_ranked_by_words(places, live=live), given).all()
    rarest = 1.0
    total = sum(weights.values()) + (len(wanted) - len(weights)) * rarest
    return [(stored(row), float(row.score) / total) for row in found]


def _telling(counts: Mapping[str, int]) -> list[str]:
    """The rarest words, as many as are in ``_WORD_ROWS`` facts; at least one.

    A word in every tenth fact weighs next to nothing, and at 10,000 facts its rows are dear.
    """
    kept: list[str] = []
    rows = 0
    for word, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        rows += count
        if kept and (rows > _WORD_ROWS or count > _COMMON):
            break
        kept.append(word)
    return kept
