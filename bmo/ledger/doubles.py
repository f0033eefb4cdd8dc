"""That no two live memories of a user state the same: a digest of what each states, unique.

Reconciling merges what is said again before it is written. What an edit, an import, a request to
forget that is taken back, or an erased question makes equal later is merged here, and what versions
before left doubled when a ledger is opened. The database refuses the rest (``uq_facts_digest``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.database import chunks, hold_user
from bmo.ledger.fact_writing import change, end, link_turn
from bmo.ledger.facts import IS_SOURCE, fetch, is_live, live_by_ids, select_facts, stored
from bmo.ledger.reconcile import statement_key
from bmo.ledger.schema import fact_turns, facts, feedback
from bmo.ledger.values import text_key
from bmo.quotation import answered
from bmo.turn import StoredFact

_NOTE = (
    sa.update(facts)
    .where(facts.c.id == sa.bindparam("fact"))
    .values(digest=sa.bindparam("new_digest"))
)
_HOLDERS = (
    select_facts()
    .add_columns(facts.c.digest)
    .where(is_live(), facts.c.digest.in_(sa.bindparam("digests", expanding=True)))
)
_WITHOUT = (
    select_facts()
    .where(is_live(), facts.c.digest.is_(None))
    .order_by(facts.c.id)
    .limit(sa.bindparam("most", type_=sa.Integer()))
)


def statement_digest(fact: StoredFact) -> str:
    """What no two live memories share: whose it is, who may be given it, and what it states."""
    audience = ("",) if fact.visibility == "shared" else (fact.visibility, fact.agent_id)
    subject, slot, what, polarity = statement_key(fact)
    question = "" if fact.slot is not None else text_key(answered(fact))
    # What has no letters or digits is compared as it stands.
    told = (fact.user_id, *audience, subject, slot, what or fact.text, polarity, question)
    content = "\x1f".join(told).encode("utf-8", "replace")
    return hashlib.blake2b(content, digest_size=24).hexdigest()


def settle(connection: Connection, found: Sequence[StoredFact]) -> dict[str, StoredFact]:
    """Notes what memories state; of those that state the same the earliest stays live.

    Args:
        connection: A writing connection; the users are held.
        found: Memories as they stand, live.

    Returns:
        Id of each -> the memory that says it from now on.
    """
    digests = {fact.id: statement_digest(fact) for fact in found}
    says: dict[str, StoredFact] = {}
    # A row that an older worker reworded since no longer states what its digest says.
    news: dict[str, str | None] = {}
    for some in chunks({*digests.values()}):
        for row in connection.execute(_HOLDERS, {"digests": some}):
            holder = stored(row)
            if statement_digest(holder) != row.digest:
                news[holder.id] = None
            elif holder.id not in digests:
                says[row.digest] = holder
    for fact in sorted(found, key=_age):
        digest, known = digests[fact.id], says.get(digests[fact.id])
        if known is None:
            says[digest], news[fact.id] = fact, digest
            continue
        earlier, later = sorted((known, fact), key=_age)
        says[digest] = _merge(connection, later, earlier)
        news.pop(later.id, None)
        news[earlier.id] = digest
    if news:
        given = [{"fact": fact_id, "new_digest": digest} for fact_id, digest in news.items()]
        # Rows that lose a digest come first: another may take it.
        connection.execute(_NOTE, sorted(given, key=lambda one: one["new_digest"] is not None))
    return {fact_id: says[digest] for fact_id, digest in digests.items()}


def settle_by_ids(connection: Connection, user_id: str, ids: Collection[str]) -> None:
    """The same for the live ones of some memories of a user."""
    settle(connection, live_by_ids(connection, user_id, ids))


def any_unnoted(connection: Connection) -> bool:
    """Whether there are live memories that a version before wrote."""
    return connection.execute(_WITHOUT, {"most": 1}).first() is not None


def settle_some(connection: Connection, most: int) -> bool:
    """The same for memories that nobody noted yet: those of versions before.

    Returns:
        Whether there may be more.
    """
    found = fetch(connection, _WITHOUT, {"most": most})
    for user_id in sorted({fact.user_id for fact in found}):
        hold_user(connection, user_id)
    settle(connection, fetch(connection, _WITHOUT, {"most": most}) if found else ())
    return len(found) == most


def _age(fact: StoredFact) -> tuple[datetime, str]:
    return fact.valid_from, fact.id


def _merge(connection: Connection, later: StoredFact, earlier: StoredFact) -> StoredFact:
    """Ends a memory as part of an earlier one, which gets its sources, counts and judgements."""
    expires = [fact.expires_at for fact in (earlier, later) if fact.expires_at is not None]
    used = [fact.last_used_at for fact in (earlier, later) if fact.last_used_at is not None]
    values: dict[str, Any] = {
        "confidence": max(earlier.confidence, later.confidence),
        "kind": "hard_rule" if later.kind == "hard_rule" else earlier.kind,
        "sensitive": earlier.sensitive or later.sensitive,
        # One of them was to last.
        "expires_at": max(expires) if len(expires) == 2 else None,
        "use_count": earlier.use_count + later.use_count,
        "last_used_at": max(used, default=None),
        "conflict": earlier.conflict or later.conflict,
    }
    change(connection, earlier.id, values)
    told = sa.select(fact_turns.c.turn_id).where(IS_SOURCE)
    missing = told.where(
        fact_turns.c.fact_id == later.id,
        fact_turns.c.turn_id.not_in(told.where(fact_turns.c.fact_id == earlier.id)),
    )
    for turn_id in {*connection.execute(missing).scalars()}:
        link_turn(connection, earlier.id, turn_id, "confirmed")
    judged = sa.update(feedback).where(feedback.c.fact_id == later.id)
    connection.execute(judged.values(fact_id=earlier.id))
    # It never was another memory: no question about the past shows it.
    end(connection, later, "merged", at=later.valid_from, superseded_by=earlier.id)
    return replace(earlier, **values)
