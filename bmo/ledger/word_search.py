"""Facts by the words they hold: which words there are, how rare they are, who shares them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.facts import live_by_ids
from bmo.ledger.schema import fact_words
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
    connection: Connection,
    user_id: str,
    words: Collection[str],
    *,
    limit: int,
    counts: Mapping[str, int] | None = None,
) -> list[tuple[StoredFact, float]]:
    """Live facts that share words with a query, rarest words first.

    Args:
        connection: An open connection.
        user_id: Whose facts.
        words: Result of ``content_words``.
        limit: Number of facts, at most.
        counts: Result of ``word_counts`` for ``words``, where it is there already.

    Returns:
        (fact, share of the query's weight it has: 0..1), best first. A word's weight is the
        inverse of the number of facts it is in.
    """
    wanted = sorted(words)[:_MOST_WORDS]
    if counts is None:
        counts = word_counts(connection, user_id, wanted)
    counts = {word: counts[word] for word in wanted if word in counts}
    weights: defaultdict[str, float] = defaultdict(float)
    for word in _telling(counts):
        given = {"user": user_id, "word": word, "most": _WORD_ROWS}
        for fact_id in connection.execute(_FIRST, given).scalars():
            weights[fact_id] += 1.0 / counts[word]
    best = sorted(weights, key=lambda fact_id: (-weights[fact_id], fact_id))
    found: list[StoredFact] = []
    step = max(1, min(4 * limit, _MOST_IDS))
    for start in range(0, len(best), step):
        if len(found) >= limit:
            break
        found += live_by_ids(connection, user_id, best[start : start + step])
    found.sort(key=lambda fact: (-weights[fact.id], -fact.valid_from.timestamp(), fact.id))
    total = sum(1.0 / count for count in counts.values()) + len(wanted) - len(counts)
    return [(fact, weights[fact.id] / total) for fact in found[:limit]]


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
