"""Facts by the words they hold: which words there are, how rare they are, who shares them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.facts import by_ids, is_live
from bmo.ledger.schema import fact_words, facts
from bmo.turn import StoredFact

COUNTED = 4000
"""Facts from which on a word is not counted further: more than any reader of the counts tells
apart, and few enough that a word in all of 50,000 facts costs a tenth."""

_WORD_ROWS = 3000
"""Rows of ``fact_words`` that one search by words reads, about."""

_COMMON = 800
"""Facts from which on a word is left out where a rarer one stands beside it."""

_MOST_WORDS = 64
_MOST_IDS = 400

_HOLDING = sa.select(fact_words.c.fact_id).where(
    fact_words.c.user_id == sa.bindparam("user"), fact_words.c.word == sa.bindparam("word")
)
_FIRST = _HOLDING.order_by(fact_words.c.fact_id).limit(sa.bindparam("most", type_=sa.Integer()))
_COUNT = sa.select(sa.func.count()).select_from(
    _HOLDING.limit(sa.bindparam("most", type_=sa.Integer())).subquery()
)

_LIVE_SINCE = sa.select(facts.c.id, facts.c.valid_from).where(
    facts.c.user_id == sa.bindparam("user"),
    facts.c.id.in_(sa.bindparam("ids", expanding=True)),
    is_live(),
)


def word_counts(connection: Connection, user_id: str, words: Collection[str]) -> dict[str, int]:
    """Number of a user's facts that hold each of ``words``; words in none are left out.

    Nobody asks how common a common word is: none is counted beyond ``COUNTED``.
    """
    given = {"user": user_id, "most": COUNTED}
    counts = {
        word: int(connection.execute(_COUNT, {**given, "word": word}).scalar_one())
        for word in sorted(words)
    }
    return {word: count for word, count in counts.items() if count}


def by_words(
    connection: Connection, user_id: str, words: Collection[str], limit: int
) -> list[tuple[StoredFact, float]]:
    """Live facts that share words with a query, rarest words first.

    Args:
        connection: An open connection.
        user_id: Whose facts.
        words: Result of ``content_words``.
        limit: Number of facts, at most.

    Returns:
        (fact, share of the query's weight it has: 0..1), best first. A word's weight is the
        inverse of the number of facts it is in.
    """
    wanted = sorted(words)[:_MOST_WORDS]
    counts = word_counts(connection, user_id, wanted)
    weights: defaultdict[str, float] = defaultdict(float)
    for word in _telling(counts):
        given = {"user": user_id, "word": word, "most": _WORD_ROWS}
        for fact_id in connection.execute(_FIRST, given).scalars():
            weights[fact_id] += 1.0 / counts[word]
    best = sorted(weights, key=lambda fact_id: (-weights[fact_id], fact_id))
    since: dict[str, datetime] = {}  # of many that are live only the few that are given are read
    step = max(1, min(4 * limit, _MOST_IDS))
    for start in range(0, len(best), step):
        if len(since) >= limit:
            break
        some = {"user": user_id, "ids": best[start : start + step]}
        since |= {row.id: row.valid_from for row in connection.execute(_LIVE_SINCE, some).all()}
    first = sorted(since, key=lambda one: (-weights[one], -since[one].timestamp(), one))[:limit]
    total = sum(1.0 / count for count in counts.values()) + len(wanted) - len(counts)
    return [(fact, weights[fact.id] / total) for fact in by_ids(connection, user_id, first)]


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
