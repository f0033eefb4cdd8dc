"""Taking words out of the ledger: what an erased fact leaves behind, and where it stands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import doubles, fact_writing
from bmo.ledger.database import count_changed, rows_among
from bmo.ledger.facts import by_ids, select_facts, stored
from bmo.ledger.schema import fact_turns, fact_words, facts, turns
from bmo.ledger.values import content_words, mask_words, name_of, spelt_with
from bmo.turn import StoredFact

MASK = "[forgotten]"
"""Stands in a text where erased words stood."""

EMPTIED = {"text": "", "assistant_before": "", "assistant_after": "", "redacted": True}
"""Columns of a turn of which no words are left."""

_AT_ONCE = 400
"""Facts that are read at a time while others may be enough."""

_MOST_SPELLINGS = 60
"""Pieces of words looked for at a time; SQLite takes expressions of limited depth."""

_LEAST_WORD = 2
"""Letters that a word to be taken out has at least: "Jo" and "Al" are names."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is to be taken out.

    Attributes:
        all: Words of the erased facts that no other fact has, as of ``content_words``.
        names: Those of them by which somebody or something was to be forgotten: where one
            stands, all goes that became no other fact.
    """

    all: frozenset[str]
    names: frozenset[str] = frozenset()


def forgettable(
    connection: Connection,
    user_id: str,
    gone: Sequence[StoredFact],
    topics: Sequence[str],
    *,
    of_somebody: bool,
) -> Words:
    """The words that go with erased facts: their own, and of their questions what was named."""
    wanted: set[str] = set()
    named: set[str] = set()
    for fact in gone:
        told = [fact.value, name_of(fact.subject), *fact.entities]
        wanted |= content_words(told if any(told) else [fact.text])
        named |= content_words([name_of(fact.subject)])
        told = [fact.text, fact.value, fact.asked, fact.said]
        named |= content_words(topics) & content_words(told)
    others = {fact.id for fact in gone}
    found = frozenset(
        word
        for word in sorted(wanted | named)
        if len(word) >= _LEAST_WORD and not _is_held(connection, user_id, word, others)
    )
    return Words(found, found & named if of_somebody else frozenset())


def empty_turns(connection: Connection, user_id: str, turn_ids: Collection[str]) -> None:
    """Takes all words out of turns; their decisions stay."""
    empty = sa.update(turns).where(turns.c.user_id == user_id).values(EMPTIED)
    count_changed(connection, empty, turns.c.id, sorted(turn_ids))


def turns_of_days(
    connection: Connection, user_id: str, days: Sequence[datetime], until: datetime
) -> list[str]:
    """Turns with words that a user said on certain days.

    Args:
        connection: Any.
        user_id: Whose.
        days: Beginning and end, or nothing for no days.
        until: Moment of the request: what was said later stays.
    """
    if not days:
        return []
    start, end = days
    query = sa.select(turns.c.id).where(
        turns.c.user_id == user_id,
        turns.c.text != "",
        turns.c.at >= start,
        turns.c.at < end,
        turns.c.at <= until,
    )
    return [*connection.execute(query).scalars()]


def turns_about(connection: Connection, user_id: str, topic: str) -> list[str]:
    """Turns that have all content words of a topic and became no memory."""
    wanted = content_words([topic])
    rows = _holding(connection, turns, (turns.c.text,), user_id, wanted)
    ids = [row.id for row in rows if wanted <= content_words([row.text])]
    links = sa.select(fact_turns.c.turn_id)
    told = {row.turn_id for row in rows_among(connection, links, fact_turns.c.turn_id, ids)}
    return [one for one in ids if one not in told]


def redact_turns(
    connection: Connection,
    user_id: str,
    ids: Sequence[str],
    words: Words,
    whole: Collection[str] = (),
    spent: Collection[str] = (),
) -> tuple[dict[str, int], set[str]]:
    """Takes words out of turns.

    Turns of ``whole``, turns from which nothing else is known, and turns that name who was to be
    forgotten and told nothing else lose all their words; in all others the words are masked. Of a
    turn that a model put into other words, and of one of ``spent``, nothing is left but what
    became of it and stays.

    Returns:
        Counts, and the turns of which no other words are left.
    """
    columns = (turns.c.text, turns.c.assistant_before, turns.c.assistant_after)
    holding = _holding(connection, turns, columns, user_id, words.all)
    links = sa.select(fact_turns.c.turn_id, fact_turns.c.fact_id)
    linked = {row.turn_id for row in rows_among(connection, links, fact_turns.c.fact_id, ids)}
    own = sa.select(turns.c.id).where(turns.c.user_id == user_id)
    mine = {row.id for row in rows_among(connection, own, turns.c.id, sorted(spent))}
    telling = sorted({*linked, *mine, *(row.id for row in holding)})
    found, gone = rows_among(connection, links, fact_turns.c.turn_id, telling), {*ids}
    kept = {row.turn_id for row in found if row.fact_id not in gone}
    emptied = ((linked | mine) - kept) | {*whole}
    masked, reduced = 0, (_reworded(connection, ids) | mine) & kept
    for reworded in sorted(reduced):
        left = _kept_text(connection, reworded, ids)
        empty_turns(connection, user_id, [reworded])
        connection.execute(sa.update(turns).where(turns.c.id == reworded).values(text=left))
        masked += 1
        holding = [row for row in holding if row.id != reworded]
    for row in holding:
        named = bool(words.names & content_words([row.text]))
        if named and row.id not in kept:
            emptied.add(row.id)
        if row.id in emptied:
            continue
        masked += 1
        after = {column.name: _without(row._mapping[column.name], words, "") for column in columns}
        if named:
            after["text"] = _kept_text(connection, row.id, ids)
            reduced.add(row.id)
        connection.execute(
            sa.update(turns).where(turns.c.id == row.id).values(redacted=True, **after)
        )
    empty_turns(connection, user_id, emptied)
    return {"turns": len(emptied), "turns_masked": masked}, emptied | reduced


def redact_facts(
    connection: Connection,
    user_id: str,
    ids: Sequence[str],
    words: Words,
    spent: Collection[str] = (),
) -> list[StoredFact]:
    """Takes words out of what other facts came from and what they answer.

    A question that holds one goes whole; of the words that a fact came from nothing is left
    beside its text where they name who was to be forgotten, where they are of a turn of ``spent``,
    or where a model put the same turn into words of its own: which of them said what is not known.

    Returns:
        The facts that changed.
    """
    changed: list[StoredFact] = []
    held = _holding(connection, facts, (facts.c.said, facts.c.asked), user_id, words.all)
    reworded = _reworded(connection, ids) | {*spent}
    beside = sa.select(facts.c.id).where(facts.c.user_id == user_id)
    told = rows_among(connection, beside, facts.c.turn_id, sorted(reworded))
    touched = {row.id for row in held} | {row.id for row in told}
    for fact in by_ids(connection, user_id, sorted(touched.difference(ids))):
        said = _without(fact.said, words, fact.text)
        said = fact.text if fact.turn_id in reworded else said
        asked = "" if words.all & content_words([fact.asked]) else fact.asked
        new = replace(fact, said=said, asked=asked)
        fact_writing.change(connection, fact.id, {"said": said, "asked": asked, "digest": None})
        fact_writing.write_words(connection, new)
        changed.append(new)
    # Without their questions some may state the same.
    doubles.settle_by_ids(connection, user_id, [fact.id for fact in changed])
    return changed


def _reworded(connection: Connection, ids: Sequence[str]) -> set[str]:
    """The turns of which a model wrote some facts: their words are not those of the facts."""
    query = sa.select(facts.c.turn_id).where(
        facts.c.source_type == "model", facts.c.turn_id.is_not(None)
    )
    return {row.turn_id for row in rows_among(connection, query, facts.c.id, ids)}


def _kept_text(connection: Connection, turn_id: str, ids: Sequence[str]) -> str:
    """What became facts of a turn, without some of them."""
    query = (
        sa.select(facts.c.id, facts.c.text)
        .join(fact_turns, fact_turns.c.fact_id == facts.c.id)
        .where(fact_turns.c.turn_id == turn_id)
        .order_by(facts.c.id)
    )
    return "; ".join(row.text for row in connection.execute(query) if row.id not in set(ids))


def _without(text: str, words: Words, instead: str) -> str:
    """A text with words masked; ``instead`` where it names who was to be forgotten."""
    if words.names & content_words([text]):
        return instead
    return mask_words(text, words.all, MASK)


def _is_held(connection: Connection, user_id: str, word: str, gone: Collection[str]) -> bool:
    """Whether a fact that stays has a word itself, not only in the question it answers."""
    query = (
        select_facts()
        .join(fact_words, fact_words.c.fact_id == facts.c.id)
        .where(fact_words.c.user_id == user_id, fact_words.c.word == word)
    )
    with connection.execute(query, execution_options={"yield_per": _AT_ONCE}) as found:
        others = (fact for fact in map(stored, found) if fact.id not in gone)
        return any(word in fact_writing.own_words(fact) for fact in others)


def _holding(
    connection: Connection,
    table: sa.Table,
    columns: Sequence[sa.Column[str]],
    user_id: str,
    words: frozenset[str],
) -> list[sa.Row[tuple[str, ...]]]:
    """Rows of a user in which one of some words stands."""
    if not words:
        return []
    query = sa.select(table.c.id, *columns).where(table.c.user_id == user_id)
    found = connection.execute(query.where(_may_hold(connection, columns, words))).all()
    return [row for row in found if words & content_words(row[1:])]


def _may_hold(
    connection: Connection, columns: Sequence[sa.Column[str]], words: frozenset[str]
) -> sa.ColumnElement[bool]:
    """Rows in which one of ``words`` may stand: the database reads the others past quickly."""
    pieces = sorted({spelt_with(word) for word in words})
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


def _bytes_of(connection: Connection, column: sa.Column[str]) -> sa.ColumnElement[int]:
    """Length in bytes; SQLite knows ``octet_length`` only since 3.43."""
    if connection.dialect.name == "sqlite":
        return sa.func.length(sa.cast(column, sa.LargeBinary))
    return sa.func.octet_length(column)
