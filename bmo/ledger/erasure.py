"""Forgetting: what is removed from the ledger when a fact must leave no trace.

One transaction removes the row, its words, recalls, feedback and outbox entries, takes the words
out of the turns they came from, and puts ``purge`` entries in the outbox for the index. The
recorder applies those, has the index compacted and the database vacuumed, and then the receipt
is complete.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ids import new_id
from bmo.ledger import outbox as outbox_ops
from bmo.ledger.records import Receipt
from bmo.ledger.redaction import forgettable_words, redact_turns
from bmo.ledger.schema import (
    decisions,
    erasures,
    fact_turns,
    fact_words,
    facts,
    feedback,
    meta,
    outbox,
    recall_items,
    recalls,
    tombstones,
    turns,
)
from bmo.ledger.values import value_key
from bmo.turn import Fact, StoredFact

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
_LIFT = sa.delete(tombstones).where(tombstones.c.digest == sa.bindparam("grave"))
_PURGED = sa.select(erasures.c.id).where(
    erasures.c.status == "erasing",
    erasures.c.id.not_in(sa.select(outbox.c.erasure_id).where(outbox.c.erasure_id.is_not(None))),
)
_CHUNK = 400


def erase_facts(
    connection: Connection,
    user_id: str,
    gone: Sequence[StoredFact],
    *,
    scope: str,
    at: datetime,
    now: datetime,
    turn_id: str | None,
    erasure_id: str | None = None,
) -> Receipt:
    """Erases facts, live or ended.

    Args:
        connection: A writing connection.
        user_id: Whose facts; facts of others are never touched.
        gone: The facts.
        scope: For the receipt.
        at: When it was asked for; what is said later may be stored again.
        now: The present moment, for the outbox.
        turn_id: The turn that asked, whose words go as well.
        erasure_id: Of a request that waited for its confirmation; None for a new one.

    Returns:
        The receipt so far; the index's part follows.
    """
    gone = [fact for fact in gone if fact.user_id == user_id]
    ids = [fact.id for fact in gone]
    receipt_id = erasure_id or new_id()
    words = forgettable_words(connection, user_id, gone)
    places = {"turns": 0, "turns_masked": 0, "outbox": 0, "recalls": 0, "feedback": 0}
    places |= redact_turns(connection, user_id, ids, words, turn_id)
    salt = _made_salt(connection)
    for fact in gone:
        _bury(
            connection,
            _digest(salt, user_id, fact.subject, fact.slot, fact.value, fact.text),
            user_id,
            at,
        )
        places["outbox"] += outbox_ops.drop_for_fact(connection, fact.id)
        outbox_ops.put(
            connection,
            "purge",
            user_id,
            fact.id,
            now,
            index_id=fact.index_id,
            erasure_id=receipt_id,
        )
    places["recalls"] = _delete_in(connection, recall_items, recall_items.c.fact_id, ids)
    places["feedback"] = _delete_in(connection, feedback, feedback.c.fact_id, ids)
    places["words"] = _delete_in(connection, fact_words, fact_words.c.fact_id, ids)
    _delete_in(connection, fact_turns, fact_turns.c.fact_id, ids)
    _forget_links(connection, ids)
    places["facts"] = _delete_in(connection, facts, facts.c.id, ids)
    places["tombstones"] = len(ids)
    return _write_receipt(connection, receipt_id, user_id, scope, at, turn_id, places)


def erase_user(
    connection: Connection,
    user_id: str,
    *,
    at: datetime,
    now: datetime,
    erasure_id: str | None = None,
) -> Receipt:
    """Erases all there is of a user: facts, turns, decisions, recalls, feedback.

    A tombstone for the user remains, so that nothing said before can be brought back.
    """
    erasure_id = erasure_id or new_id()
    entries = [
        (str(fact_id), index_id)
        for fact_id, index_id in connection.execute(
            sa.select(facts.c.id, facts.c.index_id).where(facts.c.user_id == user_id)
        )
    ]
    places: dict[str, int] = {}
    waiting = connection.execute(sa.delete(outbox).where(outbox.c.user_id == user_id))
    places["outbox"] = waiting.rowcount
    mine = sa.select(facts.c.id).where(facts.c.user_id == user_id).scalar_subquery()
    for name, table, condition in (
        ("recalls", recalls, recalls.c.user_id == user_id),
        ("feedback", feedback, feedback.c.user_id == user_id),
        ("words", fact_words, fact_words.c.user_id == user_id),
        ("links", fact_turns, fact_turns.c.fact_id.in_(mine)),
        ("facts", facts, facts.c.user_id == user_id),
        ("decisions", decisions, decisions.c.user_id == user_id),
        ("turns", turns, turns.c.user_id == user_id),
        ("tombstones_replaced", tombstones, tombstones.c.user_id == user_id),
    ):
        places[name] = connection.execute(sa.delete(table).where(condition)).rowcount
    for fact_id, index_id in entries:
        outbox_ops.put(
            connection, "purge", user_id, fact_id, now, index_id=index_id, erasure_id=erasure_id
        )
    # Raw turns (MEM0_SETTING=NORMAL) have no fact: the index is asked for everything of the user.
    outbox_ops.put(connection, "purge", user_id, "*", now, erasure_id=erasure_id)
    _bury(connection, _digest(_made_salt(connection), user_id, "*", None, "*", ""), user_id, at)
    return _write_receipt(connection, erasure_id, user_id, "all", at, None, places)


def is_buried(connection: Connection, user_id: str, fact: Fact, at: datetime) -> bool:
    """Whether a fact said at ``at`` was erased since. What is said after an erasure is not."""
    salt = _salt(connection)
    return salt is not None and _is_buried(connection, salt, user_id, fact, at)


def _is_buried(connection: Connection, salt: bytes, user_id: str, fact: Fact, at: datetime) -> bool:
    digests = [
        _digest(salt, user_id, fact.subject, fact.slot, fact.value, fact.text),
        _digest(salt, user_id, "*", None, "*", ""),
    ]
    return connection.execute(_BURIED, {"digests": digests, "at": at}).first() is not None


def said_anew(connection: Connection, user_id: str, fact: Fact, at: datetime) -> bool:
    """Whether a fact said at ``at`` may be stored; its tombstone goes if it was erased before.

    Returns:
        False when it was erased since it was said.
    """
    salt = _salt(connection)
    if salt is None:
        return True
    if _is_buried(connection, salt, user_id, fact, at):
        return False
    digest = _digest(salt, user_id, fact.subject, fact.slot, fact.value, fact.text)
    connection.execute(_LIFT, {"grave": digest})
    return True


def add_places(connection: Connection, erasure_id: str, places: Mapping[str, int]) -> None:
    """Adds counts to a receipt."""
    row = connection.execute(
        sa.select(erasures.c.receipt).where(erasures.c.id == erasure_id)
    ).first()
    if row is None:
        return
    total = dict(row.receipt)
    for place, count in places.items():
        total[place] = total.get(place, 0) + count
    connection.execute(sa.update(erasures).where(erasures.c.id == erasure_id).values(receipt=total))


def purged(connection: Connection) -> list[str]:
    """Erasures whose index entries are gone, but not yet the traces in files."""
    return [str(erasure_id) for erasure_id in connection.execute(_PURGED).scalars()]


def complete(connection: Connection, erasure_ids: Collection[str]) -> None:
    """Marks receipts as complete."""
    connection.execute(
        sa.update(erasures).where(erasures.c.id.in_(erasure_ids)).values(status="done")
    )


def read_receipt(connection: Connection, user_id: str, erasure_id: str) -> Receipt | None:
    """A receipt of a user, or None."""
    row = connection.execute(
        sa.select(erasures).where(erasures.c.id == erasure_id, erasures.c.user_id == user_id)
    ).first()
    if row is None:
        return None
    return Receipt(row.id, row.user_id, row.scope, row.asked_at, row.receipt, row.status == "done")


def _write_receipt(
    connection: Connection,
    erasure_id: str,
    user_id: str,
    scope: str,
    at: datetime,
    turn_id: str | None,
    places: Mapping[str, int],
) -> Receipt:
    counted = {place: count for place, count in places.items() if count}
    known = connection.execute(
        sa.update(erasures)
        .where(erasures.c.id == erasure_id)
        .values(status="erasing", receipt=counted)
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
                receipt=counted,
            )
        )
    return Receipt(erasure_id, user_id, scope, at, counted, complete=False)


def _forget_links(connection: Connection, ids: Sequence[str]) -> None:
    """What was superseded by an erased fact stays ended, but no longer points at it."""
    for start in range(0, len(ids), _CHUNK):
        connection.execute(
            sa.update(facts)
            .where(facts.c.superseded_by.in_(ids[start : start + _CHUNK]))
            .values(superseded_by=None)
        )


def _delete_in(
    connection: Connection,
    table: sa.Table,
    column: sa.Column[str],
    ids: Sequence[str],
) -> int:
    count = 0
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        count += connection.execute(sa.delete(table).where(column.in_(chunk))).rowcount
    return count


def _bury(connection: Connection, digest: str, user_id: str, at: datetime) -> None:
    connection.execute(_LIFT, {"grave": digest})
    connection.execute(sa.insert(tombstones).values(digest=digest, user_id=user_id, at=at))


def _salt(connection: Connection) -> bytes | None:
    """Key of the hashes, or None while nothing was ever erased."""
    found = connection.execute(_SALT_IS).scalar()
    return None if found is None else bytes.fromhex(found)


def _made_salt(connection: Connection) -> bytes:
    """Key of the hashes: without it a list of common words would give the erased ones away."""
    salt = _salt(connection)
    if salt is None:
        salt = secrets.token_bytes(32)
        connection.execute(sa.insert(meta).values(key=_SALT, value=salt.hex()))
    return salt


def _digest(
    salt: bytes, user_id: str, subject: str, slot: str | None, value: str, text: str
) -> str:
    what = value_key(value) if value else value_key(text)
    content = "\x1f".join((user_id, subject, slot or "", what))
    return hashlib.blake2b(content.encode("utf-8", "replace"), key=salt, digest_size=24).hexdigest()
