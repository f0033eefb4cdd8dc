"""Which live facts a new one may confirm, end or rename: a few, however many there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlalchemy.engine import Connection

from bmo.ledger import facts as rows
from bmo.ledger import word_search
from bmo.ledger.changes import reach
from bmo.ledger.subject_search import of_people
from bmo.ledger.subjects import is_person, name_of, relation_of
from bmo.ledger.values import content_words, ended_with, opposite_slot
from bmo.turn import Fact, StoredFact

_CANDIDATES = 60
"""Facts looked at when only words say which ones are meant."""


def touched(
    connection: Connection,
    user_id: str,
    fact: Fact,
    near: Mapping[str, float],
    *,
    change: bool = False,
) -> list[StoredFact]:
    """The facts that a new one is reconciled with.

    Args:
        connection: An open connection.
        user_id: Whose facts.
        fact: The new fact.
        near: Fact id -> cosine similarity of facts near it in meaning.
        change: The turn says that something is different from before.

    Returns:
        Live facts, each once.
    """
    found: list[StoredFact] = []
    if fact.slot is not None:
        found += _touched_in_slot(connection, user_id, fact)
    else:
        found += rows.same_text(connection, fact, user_id)
    if is_person(fact.subject):
        relation, name = relation_of(fact.subject), name_of(fact.subject)
        found += of_people(connection, user_id, relation, name)
        if fact.op == "correct" and fact.replaces:
            found += of_people(connection, user_id, relation, fact.replaces.casefold())
    if fact.replaces or change or (fact.slot is None and fact.tense == "past"):
        words = content_words([fact.replaces or fact.text])
        hits = word_search.by_words(connection, user_id, words, live=True, limit=_CANDIDATES)
        found += [row for row, _ in hits]
    found += _reached(connection, user_id, fact)
    found += rows.live_by_ids(connection, user_id, list(near))
    return list({row.id: row for row in found}.values())


def _reached(connection: Connection, user_id: str, fact: Fact) -> list[StoredFact]:
    """Live facts that what is stated may end beside those of its own slot."""
    where = reach(fact)
    found: list[StoredFact] = []
    if where.slots:
        owner = replace(fact, subject="user") if where.relations else fact
        found += rows.of_slots(connection, owner, user_id, where.slots)
    for relation in where.relations:
        found += of_people(connection, user_id, relation, "")
    if where.words:
        hits = word_search.by_words(connection, user_id, where.words, live=True, limit=_CANDIDATES)
        found += [row for row, _ in hits]
    return found


def _touched_in_slot(connection: Connection, user_id: str, fact: Fact) -> list[StoredFact]:
    if fact.slot is None:
        return []
    other = opposite_slot(fact.slot)
    slots = [fact.slot, *([other] if other else [])]
    ends_everywhere = fact.tense == "past" and fact.subject == "team"
    found = rows.same_value(connection, fact, user_id, None if ends_everywhere else slots)
    if fact.polarity == "negative":
        words = word_search.by_words(
            connection, user_id, content_words([fact.value]), live=True, limit=_CANDIDATES
        )
        found += [row for row, _ in words if row.slot == fact.slot]
    if fact.cardinality == "one":
        linked = [fact.slot, *ended_with(fact.slot)]
        found += rows.of_slots(connection, fact, user_id, linked)
    elif fact.op == "correct":
        found += rows.of_slots(connection, fact, user_id, [fact.slot], latest=True)
    return found
