"""Forgetting: what is removed from the ledger when a fact must leave no trace.

One transaction removes the row, its words, vector, recalls, feedback and outbox entries, takes the
words out of the turns they came from, and puts ``purge`` entries in the outbox for the index. The
recorder applies those, has the index compacted and the database vacuumed, and then the receipt
is complete.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ids import guests_begin, new_id
from bmo.ledger import fact_writing
from bmo.ledger import outbox as outbox_ops
from bmo.ledger.database import count_changed, hold_user
from bmo.ledger.fact_writing import drop_version, raise_version
from bmo.ledger.facts import fetch, select_facts
from bmo.ledger.records import Receipt
from bmo.ledger.redaction import forgettable, redact_facts, redact_turns, turns_of_days
from bmo.ledger.schema import (
    decisions,
    erasures,
    fact_turns,
    fact_vectors,
    fact_words,
    facts,
    feedback,
    meta,
    model_days,
    outbox,
    recall_items,
    recalls,
    tombstones,
    turns,
)
from bmo.ledger.values import value_key
from bmo.turn import Fact, StoredFact

HASHED = "#"
"""Begins the name of a wiped user."""

_SALT = "tombstone_salt"
# Built once: building a statement takes longer than running it, and each fact asks for it.
_SALT_IS = sa.select(meta.c.value).where(meta.c.key == _SALT)
_BURIED = (
    sa.select(tombstones.c.digest)
    .where(
        tombstones.c.digest.in_(sa.bindparam("digests", expanding=True)),
        tombstones.c.at >= sa.bindparam("at", type_=tombstones.c.at.type),
    )
    .limit(1)
)
_MAKE_SALT = sa.text("INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT DO NOTHING")
_LIFT = sa.delete(tombstones).where(tombstones.c.digest == sa.bindparam("grave"))


def erase_facts(
    connection: Connection,
    user_id: str,
    gone: Sequence[StoredFact],
    *,
    scope: str,
    at: datetime,
    turn_id: str | None,
    topics: Sequence[str] = (),
    days: Sequence[datetime] = (),
    spent: Collection[str] = (),
    erasure_id: str | None = None,
) -> Receipt:
    """Erases facts, live or ended.

    Args:
        connection: A writing connection.
        user_id: Whose facts; facts of others are never touched.
        gone: The facts.
        scope: For the receipt.
        at: When it was asked for; what is said later may be stored again.
        turn_id: The turn that asked, whose words go as well.
        topics: What was asked to be forgotten, in words.
        days: Beginning and end of the days of which no words may be left, or nothing.
        spent: Turns of which no words may be left but those of what stays.
        erasure_id: Of a request that waited for its confirmation; None for a new one.

    Returns:
        The receipt so far; the index's part follows.
    """
    gone = [fact for fact in gone if fact.user_id == user_id]
    gone += _same_words(connection, user_id, gone)
    ids = [fact.id for fact in gone]
    receipt_id = erasure_id or new_id()
    words = forgettable(connection, user_id, gone, topics, of_somebody=scope == "subject")
    places = {"outbox": 0}
    whole = {*turns_of_days(connection, user_id, days, at), *([turn_id] if turn_id else [])}
    counts, wordless = redact_turns(connection, user_id, ids, words, whole, spent)
    places |= counts
    for changed in redact_facts(connection, user_id, ids, words, spent):
        places["facts_masked"] = places.get("facts_masked", 0) + 1
        if changed.valid_until is None:
            outbox_ops.put(connection, "update", user_id, changed.id, erasure_id=receipt_id)
    salt = _made_salt(connection)
    for fact in gone:
        _bury(connection, _digest(salt, user_id, fact), user_id, at)
        places["outbox"] += outbox_ops.drop_for_fact(connection, fact.id)
        outbox_ops.put(connection, "purge", user_id, fact.id, erasure_id=receipt_id)
    for place, table in (
        ("recalls", recall_items),
        ("feedback", feedback),
        ("words", fact_words),
        ("vectors", fact_vectors),
    ):
        places[place] = count_changed(connection, sa.delete(table), table.c.fact_id, ids)
    count_changed(connection, sa.delete(fact_turns), fact_turns.c.fact_id, ids)
    # What was superseded by an erased fact stays ended, but no longer points at it.
    unlink = sa.update(facts).values(superseded_by=None)
    count_changed(connection, unlink, facts.c.superseded_by, ids)
    places["facts"] = count_changed(connection, sa.delete(facts), facts.c.id, ids)
    for fact in gone:
        fact_writing.settle_conflict(connection, fact)
    raise_version(connection, user_id)
    places["tombstones"] = len(ids)
    listed = {"fact_ids": ids, "turn_ids": sorted(wordless)}
    return _write_receipt(connection, receipt_id, user_id, scope, at, turn_id, places, listed, days)


def _same_words(
    connection: Connection, user_id: str, gone: Sequence[StoredFact]
) -> list[StoredFact]:
    """Ended memories of the words that erased ones are a part of."""
    said = {(fact.turn_id, fact.said) for fact in gone if fact.slot is None and fact.turn_id}
    some = sorted({turn_id for turn_id, _ in said if turn_id})
    if not some:
        return []
    of_turns = select_facts().where(facts.c.user_id == user_id, facts.c.turn_id.in_(some))
    ids = {fact.id for fact in gone}
    return [
        fact
        for fact in fetch(connection, of_turns)
        if fact.slot is None and fact.end_reason == "superseded"
        if (fact.turn_id, fact.said) in said and fact.id not in ids
    ]


def erase_user(
    connection: Connection, user_id: str, *, at: datetime, erasure_id: str | None = None
) -> Receipt:
    """Erases all there is of a user: facts, turns, decisions, recalls, feedback, and his id.

    What guests said in his visits goes as well: their ids hold his, and nobody could ask for it. A
    tombstone for each remains, so that nothing said before can be brought back, and the receipts;
    they name him by a keyed hash. The index is told his id until it is done.
    """
    erasure_id = erasure_id or new_id()
    salt = _made_salt(connection)
    guests = _guests_of(connection, user_id)
    places = _erase_all(connection, user_id, salt, at, erasure_id)
    for guest in guests:
        hold_user(connection, guest)
        places += _erase_all(connection, guest, salt, at, erasure_id)
    places["guests"] = len(guests)
    hashed = _hashed_user(salt, user_id)
    receipt = _write_receipt(connection, erasure_id, hashed, "all", at, None, places)
    return replace(receipt, user_id=user_id)


def _erase_all(
    connection: Connection, user_id: str, salt: bytes, at: datetime, erasure_id: str
) -> Counter[str]:
    """Erases all rows of one id; returns how many from where."""
    hashed = _hashed_user(salt, user_id)
    mine = sa.select(facts.c.id).where(facts.c.user_id == user_id).scalar_subquery()
    places: Counter[str] = Counter()
    for name, table, condition in (
        ("outbox", outbox, sa.and_(outbox.c.user_id == user_id, outbox.c.op != "purge")),
        ("recalls", recalls, recalls.c.user_id == user_id),
        ("feedback", feedback, feedback.c.user_id == user_id),
        ("words", fact_words, fact_words.c.user_id == user_id),
        ("vectors", fact_vectors, fact_vectors.c.fact_id.in_(mine)),
        ("links", fact_turns, fact_turns.c.fact_id.in_(mine)),
        ("facts", facts, facts.c.user_id == user_id),
        ("decisions", decisions, decisions.c.user_id == user_id),
        ("model_days", model_days, model_days.c.user_id == user_id),
        ("turns", turns, turns.c.user_id == user_id),
        ("tombstones_replaced", tombstones, tombstones.c.user_id.in_([user_id, hashed])),
    ):
        places[name] = connection.execute(sa.delete(table).where(condition)).rowcount
    asked = erasures.c.user_id == user_id
    connection.execute(
        sa.delete(erasures).where(
            asked, erasures.c.status == "pending", erasures.c.id != erasure_id
        )
    )
    connection.execute(sa.update(erasures).where(asked).values(user_id=hashed, turn_id=None))
    # Once for everything of the user: his facts, and raw turns (MEM0_SETTING=NORMAL).
    outbox_ops.put(connection, "purge", user_id, "*", erasure_id=erasure_id)
    _bury(connection, _digest(salt, user_id), hashed, at)
    drop_version(connection, user_id)
    return places


def _guests_of(connection: Connection, user_id: str) -> list[str]:
    """The ids of guests who spoke in a user's visits."""
    begin = guests_begin(user_id)
    query = sa.select(turns.c.user_id, turns.c.session_id).distinct()
    found = connection.execute(query.where(turns.c.user_id.startswith(begin, autoescape=True)))
    # Somebody's identity may begin so; it does not name the visit.
    return sorted({one for one, visit in found if one.startswith(guests_begin(user_id, visit))})


def is_buried(connection: Connection, user_id: str, at: datetime, *told: Fact) -> bool:
    """Whether the whole user, or one of some facts, was erased since ``at``.

    What is said after an erasure is not.
    """
    salt = _salt(connection)
    if salt is None:
        return False
    digests = [_digest(salt, user_id), *(_digest(salt, user_id, fact) for fact in told)]
    return connection.execute(_BURIED, {"digests": digests, "at": at}).first() is not None


def said_anew(connection: Connection, user_id: str, fact: Fact, at: datetime) -> bool:
    """Whether a fact said at ``at`` may be stored; its tombstone goes if it was erased before.

    Returns:
        False when it was erased since it was said.
    """
    if is_buried(connection, user_id, at, fact):
        return False
    if (salt := _salt(connection)) is not None:
        connection.execute(_LIFT, {"grave": _digest(salt, user_id, fact)})
    return True


def _write_receipt(
    connection: Connection,
    erasure_id: str,
    user_id: str,
    scope: str,
    at: datetime,
    turn_id: str | None,
    places: Mapping[str, int],
    listed: Mapping[str, Sequence[str]] = MappingProxyType({}),
    days: Sequence[datetime] = (),
) -> Receipt:
    """Writes a receipt; ``listed``: ids of what was erased."""
    counted = {place: count for place, count in places.items() if count}
    ids = {name: some for name, some in listed.items() if some}
    written: dict[str, Any] = {**counted, **ids}
    if days:
        written["days"] = [moment.isoformat() for moment in days]
    known = connection.execute(
        sa.update(erasures)
        .where(erasures.c.id == erasure_id)
        .values(status="erasing", receipt=written, turn_id=turn_id)
    )
    if known.rowcount == 0:
        connection.execute(
            sa.insert(erasures).values(
                id=erasure_id,
                user_id=user_id,
                scope=scope,
                turn_id=turn_id,
                asked_at=at,
                status="erasing",
                receipt=written,
            )
        )
    named = {name: tuple(some) for name, some in ids.items()}
    return Receipt(erasure_id, user_id, scope, at, counted, False, days=tuple(days), **named)


def _bury(connection: Connection, digest: str, user_id: str, at: datetime) -> None:
    connection.execute(_LIFT, {"grave": digest})
    connection.execute(sa.insert(tombstones).values(digest=digest, user_id=user_id, at=at))


def _salt(connection: Connection) -> bytes | None:
    """Key of the hashes, or None while nothing was ever erased."""
    found = connection.execute(_SALT_IS).scalar()
    return None if found is None else bytes.fromhex(found)


def _made_salt(connection: Connection) -> bytes:
    """Key of the hashes: without it a list of common words would give the erased ones away."""
    if (salt := _salt(connection)) is not None:
        return salt
    connection.execute(_MAKE_SALT, {"key": _SALT, "value": secrets.token_bytes(32).hex()})
    salt = _salt(connection)
    assert salt is not None  # this one, or that of whom another process erased in the same moment
    return salt


def is_prepared(connection: Connection) -> bool:
    """Whether the key of the hashes is there."""
    return _salt(connection) is not None


def prepare(connection: Connection) -> None:
    """Makes the key of the hashes where there is none: so that every backup has the same."""
    _made_salt(connection)


def named(connection: Connection, hashed: str, user_ids: Iterable[str]) -> str | None:
    """The one of some users whom a receipt names by a keyed hash, or None."""
    salt = _salt(connection)
    found = (one for one in user_ids if salt and _hashed_user(salt, one) == hashed)
    return next(found, None)


def names_of(connection: Connection, user_id: str) -> list[str]:
    """How a user stands in receipts: by his id, and by its hash once he was wiped."""
    salt = _salt(connection)
    return [user_id] if salt is None else [user_id, _hashed_user(salt, user_id)]


def _hashed_user(salt: bytes, user_id: str) -> str:
    """The name of a wiped user: no id that is allowed begins so."""
    return HASHED + hashlib.blake2b(user_id.encode(), key=salt, digest_size=24).hexdigest()


def _digest(salt: bytes, user_id: str, fact: Fact | StoredFact | None = None) -> str:
    """The keyed hash of a fact, or of all of a user."""
    told = ("*", "", "")
    if fact is not None:
        told = (fact.subject, fact.slot or "", value_key(fact.value or fact.text))
    content = "\x1f".join((user_id, *told))
    return hashlib.blake2b(content.encode("utf-8", "replace"), key=salt, digest_size=24).hexdigest()
