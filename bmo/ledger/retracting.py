"""Taking back: a retraction ends the facts it names, has them erased, or asks first."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ids import new_id
from bmo.ledger import fact_writing, outbox
from bmo.ledger import facts as rows
from bmo.ledger.fact_writing import raise_version
from bmo.ledger.reconcile import statement_key
from bmo.ledger.records import Ended, Outcome, PendingErasure
from bmo.ledger.schema import erasures, fact_words, facts
from bmo.ledger.values import content_words, name_of, text_key, value_key
from bmo.turn import Fact, RetractScope, StoredFact, Turn

_ENDED = (facts.c.valid_until.is_not(None), facts.c.withdrawn_by.is_(None))


def retract(connection: Connection, turn: Turn, fact: Fact, forget: bool, outcome: Outcome) -> None:
    """Applies one retraction of a turn.

    What is over ends. A request to forget erases few memories with the turn's other erasures
    (``outcome.forgotten``) and asks first for a person, a thing, certain days, or everything. Of
    days and of everything words may be left though no memory is.
    """
    scope: RetractScope = fact.scope or "memory"
    wide = forget and scope in ("period", "all")
    if wide:
        told = [facts.c.user_id == turn.user_id, facts.c.withdrawn_by.is_(None)]
        if scope == "period":
            start, end = fact.days or (turn.at, turn.at)
            told += [facts.c.valid_from >= start, facts.c.valid_from < end]
        meant = rows.fetch(connection, rows.select_facts().where(*told))
    else:
        meant = rows.live_by_ids(connection, turn.user_id, fact.ends)
        if forget:
            meant += _earlier(connection, turn.user_id, fact, meant, scope)
    if outcome.again:
        # A turn that is reprocessed takes back nothing that was said after it.
        meant = [known for known in meant if known.valid_from <= turn.at]
    if not meant and not wide:
        outcome.unmatched.append(fact)
    meant = sorted(meant, key=lambda known: (known.valid_from, known.text, known.id))
    live = [known for known in meant if known.valid_until is None]
    if forget and scope != "memory" and (meant or wide):
        outcome.pending = _ask_first(connection, turn, fact, scope, meant)
        outcome.ended += [Ended(known, "withdrawn") for known in live]
    elif forget:
        outcome.forgotten |= {known.id: known for known in meant}
        outcome.topics += [fact.text, fact.value]
        outcome.ended += [Ended(known, "forgotten") for known in live]
    else:
        outcome.ended += [
            fact_writing.end(connection, known, "retracted", at=turn.at, turn_id=turn.id)
            for known in live
        ]


def _earlier(
    connection: Connection,
    user_id: str,
    fact: Fact,
    meant: Sequence[StoredFact],
    scope: RetractScope,
) -> list[StoredFact]:
    """Ended facts that go with live ones that are to be forgotten.

    Those that said the same; where a person or thing is meant all that were about it as well.
    """
    ids = {known.id for known in meant}
    keys = {statement_key(known) for known in meant}
    told = _ended(connection, user_id, facts.c.text_key, {text_key(f.text) for f in meant})
    told += _ended(connection, user_id, facts.c.value_key, {value_key(f.value) for f in meant})
    found = [row for row in told if statement_key(row) in keys]
    before = _ended(connection, user_id, facts.c.superseded_by, ids)
    found += [row for row in before if scope == "subject" or row.end_reason in rows.NEVER_TRUE]
    if scope == "subject":
        people = {known.subject for known in meant if name_of(known.subject)}
        found += _ended(connection, user_id, facts.c.subject, people)
        names = content_words([*fact.entities, *map(name_of, {fact.subject, *people})])
        holding = sa.select(fact_words.c.fact_id).where(
            fact_words.c.user_id == user_id, fact_words.c.word.in_(sorted(names))
        )
        named = set(connection.execute(holding).scalars()) if names else set()
        found += _ended(connection, user_id, facts.c.id, named)
    return list({row.id: row for row in found if row.id not in ids}.values())


def _ended(
    connection: Connection, user_id: str, column: sa.Column[str], wanted: Collection[str]
) -> list[StoredFact]:
    """Ended facts of a user by a column."""
    some = sorted(one for one in wanted if one)
    if not some:
        return []
    query = rows.select_facts().where(facts.c.user_id == user_id, *_ENDED, column.in_(some))
    return rows.fetch(connection, query)


def _ask_first(
    connection: Connection, turn: Turn, fact: Fact, scope: RetractScope, meant: Sequence[StoredFact]
) -> PendingErasure:
    """Takes the facts out of recall at once; they are erased when the user confirms."""
    erasure_id = new_id()
    connection.execute(
        sa.insert(erasures).values(
            id=erasure_id,
            user_id=turn.user_id,
            scope=scope,
            turn_id=turn.id,
            asked_at=turn.at,
            status="pending",
            # What was named, until it is erased: a receipt holds no words.
            receipt={
                "topics": [fact.text, fact.value, *fact.entities],
                "days": [moment.isoformat() for moment in fact.days or ()],
            },
        )
    )
    for known in meant:
        fact_writing.change(connection, known.id, {"withdrawn_by": erasure_id, "digest": None})
        if known.valid_until is None:
            outbox.put(connection, "delete", turn.user_id, known.id)
    raise_version(connection, turn.user_id)
    return PendingErasure(erasure_id, turn.user_id, scope, turn.at, tuple(meant))
