"""Taking back: a retraction ends facts, erases them, or asks first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ids import new_id
from bmo.ledger import fact_writing, outbox, turn_log, word_search
from bmo.ledger import facts as rows
from bmo.ledger.change_tables import PARTNERS
from bmo.ledger.changes import names_in, reach, rejoined
from bmo.ledger.ending import end_fact
from bmo.ledger.outcome import Outcome
from bmo.ledger.records import Ended, PendingErasure
from bmo.ledger.retraction import ASKED, Target, scope_of, target_of
from bmo.ledger.said_over import TOPICS
from bmo.ledger.schema import erasures, facts
from bmo.ledger.subject_search import subjects_of
from bmo.ledger.subjects import is_person, last_relation, name_of, relation_of, within
from bmo.ledger.values import asked_slots, content_words, value_key
from bmo.turn import TAKEN_BACK, Fact, StoredFact, Turn

_CANDIDATES = 60
"""Facts looked at when a fact names no slot."""

_CHUNK = 500
"""Ids per statement; SQLite takes a limited number of parameters."""


def retract(
    connection: Connection,
    turn: Turn,
    fact: Fact,
    near: Mapping[str, float],
    forget: bool,
    now: datetime,
    outcome: Outcome,
) -> None:
    """Applies one retraction of a turn.

    "Not any more" ends facts; a request to forget erases what is named and narrow with the turn's
    other erasures (``outcome.forgotten``) and asks first for what is wide.

    Args:
        connection: A writing connection.
        turn: The turn that takes back.
        fact: What it takes back.
        near: Fact id -> cosine similarity to the retraction's text.
        forget: Whether the user asked to forget.
        now: The present moment, for the outbox.
        outcome: Where the result goes.
    """
    if fact.rule_id == TAKEN_BACK:
        _undo(connection, turn, fact, now, outcome)
        return
    target = _target(connection, turn, fact, near, ended_too=forget, again=outcome.again)
    if not target.facts:
        if forget and target.scope == "all":
            outcome.pending = _ask_first(connection, turn, target, now)
        outcome.unmatched.append(fact)
        return
    if not forget and not (target.wide and target.scope == "all"):
        for known in target.facts:
            outcome.ended.append(
                end_fact(
                    connection, turn.user_id, known, "retracted", now, at=turn.at, turn_id=turn.id
                )
            )
        return
    if target.wide:
        outcome.pending = _ask_first(connection, turn, target, now)
        outcome.ended += [
            Ended(known, "withdrawn") for known in target.facts if known.valid_until is None
        ]
        return
    outcome.forgotten |= {known.id: known for known in target.facts}
    outcome.forgotten_scope = target.scope
    outcome.ended += [
        Ended(known, "forgotten") for known in target.facts if known.valid_until is None
    ]


def _undo(connection: Connection, turn: Turn, fact: Fact, now: datetime, outcome: Outcome) -> None:
    """What the turn just before told was never so; what it ended lives on."""
    before = turn_log.turn_before(connection, turn)
    told = turn_log.stated(connection, before) if before is not None else []
    over = turn_log.ended(connection, before) if before is not None else []
    query = rows.select_facts().where(
        facts.c.user_id == turn.user_id, facts.c.withdrawn_by.is_(None)
    )
    live = _those(connection, query.where(facts.c.valid_until.is_(None)), told)
    # What ended again since did so for another reason (a turn may be recorded anew).
    ended = query.where(facts.c.valid_until.is_not(None), facts.c.ended_at <= turn.at)
    gone = [known for known in _those(connection, ended, over) if known.id not in told]
    if not live and not gone:
        outcome.unmatched.append(fact)
    for known in live:
        outcome.ended.append(
            end_fact(connection, turn.user_id, known, "corrected", now, at=turn.at, turn_id=turn.id)
        )
    for known in gone:
        _live_again(connection, turn.user_id, known.id, now, outcome)


def rejoin(
    connection: Connection, user_id: str, fact: Fact, now: datetime, outcome: Outcome
) -> None:
    """Makes live again what ended with a partner, when the couple is together again."""
    theirs = subjects_of(connection, user_id, lambda s: within(s, PARTNERS))
    over = rows.select_facts().where(
        facts.c.user_id == user_id,
        facts.c.withdrawn_by.is_(None),
        facts.c.end_reason == "retracted",
        facts.c.subject.in_(theirs),
    )
    for known in rejoined(fact, rows.fetch(connection, over)):
        _live_again(connection, user_id, known.id, now, outcome)


def _live_again(
    connection: Connection, user_id: str, fact_id: str, now: datetime, outcome: Outcome
) -> None:
    fact_writing.reopen(connection, fact_id)
    outbox.put(connection, "add", user_id, fact_id, now)
    outcome.changed += rows.by_ids(connection, user_id, [fact_id])


def _ask_first(connection: Connection, turn: Turn, target: Target, now: datetime) -> PendingErasure:
    """Takes the facts out of recall at once; they are erased when the user confirms."""
    erasure_id = new_id()
    connection.execute(
        sa.insert(erasures).values(
            id=erasure_id,
            user_id=turn.user_id,
            scope=target.scope,
            turn_id=turn.id,
            asked_at=turn.at,
            status="pending",
            receipt={},
        )
    )
    for known in target.facts:
        fact_writing.change(connection, known.id, {"withdrawn_by": erasure_id})
        if known.valid_until is None:
            outbox.put(connection, "delete", turn.user_id, known.id, now, index_id=known.index_id)
    return PendingErasure(erasure_id, turn.user_id, target.scope, turn.at, target.facts)


def _target(
    connection: Connection,
    turn: Turn,
    fact: Fact,
    near: Mapping[str, float],
    *,
    ended_too: bool,
    again: bool,
) -> Target:
    scope = scope_of(fact)
    query = rows.select_facts().where(
        facts.c.user_id == turn.user_id, facts.c.withdrawn_by.is_(None)
    )
    if not ended_too:
        query = query.where(facts.c.valid_until.is_(None))
    if again:
        # A turn that is reprocessed takes back nothing that was said after it.
        query = query.where(facts.c.recorded_at <= turn.at)
    latest: list[str] = []
    if scope == "last":
        latest = turn_log.latest_stored(connection, turn)
        known = rows.by_ids(connection, turn.user_id, latest)
        known = [row for row in known if ended_too or row.valid_until is None]
    elif fact.rule_id != ASKED and fact.slot in TOPICS and scope != "memory":
        known = _of_topic(connection, turn, fact, query)
        known = [row for row in known if not again or row.valid_from <= turn.at]
    elif scope == "all":
        known = rows.fetch(connection, query.order_by(facts.c.valid_from, facts.c.id))
    else:
        known = _candidates(connection, turn, fact, near, query, ended_too=ended_too, again=again)
    return target_of(fact, known, latest=latest, near=near)


def _of_topic(
    connection: Connection, turn: Turn, fact: Fact, query: sa.Select[tuple[object, ...]]
) -> list[StoredFact]:
    """Live facts that a change of this topic may end, wherever they stand."""
    where = reach(fact)
    found = rows.fetch(connection, query.where(facts.c.slot.in_(where.slots)))
    theirs = subjects_of(connection, turn.user_id, lambda s: within(s, where.relations))
    found += rows.fetch(connection, query.where(facts.c.subject.in_(theirs)))
    words = where.words | names_in(found)
    worded = word_search.by_words(connection, turn.user_id, words, live=True, limit=_CANDIDATES)
    return list({row.id: row for row in [*found, *(row for row, _ in worded)]}.values())


def _candidates(
    connection: Connection,
    turn: Turn,
    fact: Fact,
    near: Mapping[str, float],
    query: sa.Select[tuple[object, ...]],
    *,
    ended_too: bool,
    again: bool,
) -> list[StoredFact]:
    """All facts that ``target_of`` may mean, without reading all of the user's."""
    user_id, scope = turn.user_id, scope_of(fact)
    found = []
    if fact.slot is not None:
        of_slot = query.where(facts.c.slot == fact.slot)
        if scope == "value" and fact.value:
            of_slot = of_slot.where(facts.c.value_key == value_key(fact.value))
        found += rows.fetch(connection, of_slot)
    elif fact.rule_id == ASKED and scope == "value":
        theirs = query.where(facts.c.subject == fact.subject)
        found += rows.fetch(connection, theirs.where(facts.c.slot.in_(asked_slots(fact.value))))
    if scope == "subject" or is_person(fact.subject):
        found += _of_family(connection, user_id, fact, query)
    said = {content_words([words]) for words in (fact.value, fact.text)}
    for told in said:
        ids = word_search.holding_all(connection, user_id, told)
        found += _those(connection, query, ids)
    words = content_words([fact.value, fact.text])
    worded = word_search.by_words(connection, user_id, words, live=not ended_too, limit=_CANDIDATES)
    found += [row for row, _ in worded]
    found += rows.by_ids(connection, user_id, list(near))
    people = {row.subject for row in found if is_person(row.subject) and name_of(row.subject)}
    if people:
        found += rows.fetch(connection, query.where(facts.c.subject.in_(sorted(people))))
    return [
        row
        for row in {row.id: row for row in found}.values()
        if (ended_too or row.valid_until is None) and (not again or row.valid_from <= turn.at)
    ]


def _of_family(
    connection: Connection, user_id: str, fact: Fact, query: sa.Select[tuple[object, ...]]
) -> list[StoredFact]:
    """Facts of whoever a retraction may be about, of whoever is theirs, and that name them."""
    topic = content_words([fact.value or fact.text])

    def called(subject: str) -> bool:
        relation, name = relation_of(subject), name_of(subject)
        return (
            relation == relation_of(fact.subject)
            or (bool(name) and name == name_of(fact.subject))
            or (bool(name) and value_key(name) in topic)
            or content_words([last_relation(subject).replace("_", " ")]) == topic
        )

    people = subjects_of(connection, user_id, lambda s: is_person(s) and called(s))
    people = list({*people, fact.subject} - {"user", "team"})
    owned = tuple(f"{subject}." for subject in people)
    theirs = subjects_of(connection, user_id, lambda s: s.startswith(owned)) if owned else []
    found = rows.fetch(connection, query.where(facts.c.subject.in_(sorted({*people, *theirs}))))
    words = [name_of(subject) or last_relation(subject).replace("_", " ") for subject in people]
    for word in sorted(set(words)):
        ids = word_search.holding_all(connection, user_id, content_words([word]))
        found += _those(connection, query, ids)
    return found


def _those(
    connection: Connection, query: sa.Select[tuple[object, ...]], ids: Sequence[str]
) -> list[StoredFact]:
    found: list[StoredFact] = []
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        found += rows.fetch(connection, query.where(facts.c.id.in_(chunk)))
    return found
