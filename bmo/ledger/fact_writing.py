"""Writing rows of ``facts``, with the words they are found by and the turns they come from.

Each user's memory has a version: another number than before says that something in it is gone. It
goes up with every write that ends, changes or erases memories, in the same transaction. Workers
that share a ledger look at it before they use what they read earlier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger import outbox
from bmo.ledger.database import hold_user
from bmo.ledger.facts import by_ids, fetch, of_slots, select_facts
from bmo.ledger.reconcile import conflict_key, slots_of_family
from bmo.ledger.records import Ended, EndReason
from bmo.ledger.schema import fact_turns, fact_words, facts, user_versions
from bmo.ledger.values import content_words, name_of, relation_of, text_key, value_key
from bmo.quotation import answered
from bmo.turn import CATEGORIES, Fact, StoredFact, Visibility, storable

Version = tuple[tuple[str, int], ...]
"""The user's number and everybody's; only to be compared."""

EVERYBODY: Final = "*"
"""Whose number goes up when a user is wiped: of him nothing stays, not even a number. No user id
that is allowed is so."""

_RAISE = sa.text(
    "INSERT INTO user_versions (user_id, version) VALUES (:user, 1) "
    "ON CONFLICT (user_id) DO UPDATE SET version = user_versions.version + 1"
)
_VERSION = (
    sa.select(user_versions.c.user_id, user_versions.c.version)
    .where(user_versions.c.user_id.in_([sa.bindparam("user"), EVERYBODY]))
    .order_by(user_versions.c.user_id)
)
_DELETE = sa.delete(user_versions).where(user_versions.c.user_id == sa.bindparam("user"))

_INSERT_FACT = sa.insert(facts)
_INSERT_LINK = sa.insert(fact_turns)
_LINKED = sa.select(sa.literal(1)).where(
    *(fact_turns.c[name] == sa.bindparam(name) for name in ("fact_id", "turn_id", "role"))
)
_INSERT_WORDS = sa.insert(fact_words)
_DELETE_WORDS = sa.delete(fact_words).where(fact_words.c.fact_id == sa.bindparam("fact"))


@dataclass(frozen=True, slots=True)
class Stamp:
    """Where a new fact comes from.

    Attributes:
        user_id: Whose it is.
        at: When it was said.
        turn_id: The turn, or None for imports and edits.
        source_type: gate, tool, model, import or manual.
        version: Gate version.
        agent_id: Which agent it was told to.
        visibility: Which agents may be given it.
    """

    user_id: str
    at: datetime
    turn_id: str | None
    source_type: str
    version: str
    agent_id: str = ""
    visibility: Visibility = "shared"

    def touches(self, row: StoredFact) -> bool:
        """Whether what comes from here may confirm or end a row: one of the same agents, or of all.

        What only some agents may be given must not take the place of what it is not seen beside.
        """
        own = (row.visibility, row.agent_id) == (self.visibility, self.agent_id)
        return own or row.visibility == "shared"


_AS_SAID = (
    *("subject", "slot", "value", "text", "kind", "cardinality", "polarity", "confidence"),
    *("domain", "sensitive", "expires_at", "rule_id", "extraction_method"),
)
"""Columns that hold what the gate said as it said it."""

_STORED = frozenset(field.name for field in fields(StoredFact))


def insert(
    connection: Connection,
    fact: Fact,
    stamp: Stamp,
    *,
    ended_by: StoredFact | None = None,
    conflict: bool = False,
    valid_from: datetime | None = None,
) -> StoredFact:
    """Writes a new fact under its own id, with its words and its source.

    A live one is not settled yet (see ``doubles``); nor is one that ``restate`` changed.

    Args:
        connection: A writing connection.
        fact: The fact.
        stamp: Where it comes from.
        ended_by: A newer fact that has taken its place already.
        conflict: Another live fact contradicts it without order in time.
        valid_from: Since when it holds; None is when it was said.
    """
    row: dict[str, Any] = {
        **_content(fact, stamp),
        "id": fact.id,
        "user_id": stamp.user_id,
        "said": fact.said,
        "asked": fact.asked,
        "when": None,
        "recorded_at": stamp.at,
        "valid_from": valid_from or stamp.at,
        "valid_until": ended_by.valid_from if ended_by else None,
        "ended_at": stamp.at if ended_by else None,
        "end_reason": "superseded" if ended_by else "",
        "superseded_by": ended_by.id if ended_by else None,
        "conflict": conflict,
        "turn_id": stamp.turn_id,
        "use_count": 0,
        "agent_id": stamp.agent_id,
        "visibility": stamp.visibility,
    }
    connection.execute(_INSERT_FACT, row)
    stored = by_ids(connection, stamp.user_id, [fact.id])[0]
    write_words(connection, stored, fresh=True)
    if stamp.turn_id is not None:
        link = {"fact_id": fact.id, "turn_id": stamp.turn_id, "role": "stated"}
        connection.execute(_INSERT_LINK, link)
    return stored


def restate(
    connection: Connection, known: StoredFact, better: Fact, stamp: Stamp, *, conflict: bool
) -> StoredFact:
    """Replaces what a live fact states: the same id, turn and words, a new text and version.

    What the gate was sure of stays: its confidence, that it is a hard rule, when it expires. The
    index follows by an outbox entry of the caller's.
    """
    better = replace(
        better,
        confidence=max(known.confidence, better.confidence),
        kind="hard_rule" if known.kind == "hard_rule" else better.kind,
        domain=better.domain or known.domain,
        sensitive=better.sensitive or known.sensitive,
        expires_at=known.expires_at,
    )
    new = {**_content(better, stamp), "conflict": conflict}
    change(connection, known.id, new)
    settle_conflict(connection, known)
    raise_version(connection, known.user_id)
    stored = replace(known, **{k: v for k, v in new.items() if k in _STORED})
    stored = replace(stored, entities=tuple(stored.entities))
    write_words(connection, stored)
    return stored


def _content(fact: Fact, stamp: Stamp) -> dict[str, Any]:
    """What a fact states and who wrote it, as columns."""
    return {
        **{name: getattr(fact, name) for name in _AS_SAID},
        "value_key": value_key(fact.value),
        "text_key": text_key(fact.text),
        "category": fact.category if fact.category in CATEGORIES else "personal_facts",
        "entities": [storable(entity) for entity in fact.entities],
        "source_type": stamp.source_type,
        "extraction_version": stamp.version,
        "digest": None,
    }


def write_words(connection: Connection, fact: StoredFact, *, fresh: bool = False) -> None:
    """(Re)writes the word index of one fact; a ``fresh`` one has no words there yet."""
    if not fresh:
        connection.execute(_DELETE_WORDS, {"fact": fact.id})
    # A model's text may share no word with what was said, which people search by all the same.
    said = fact.said if fact.source_type == "model" else ""
    words = own_words(fact) | content_words([answered(fact), said])
    if words:
        connection.execute(
            _INSERT_WORDS,
            [{"fact_id": fact.id, "word": w, "user_id": fact.user_id} for w in sorted(words)],
        )


def own_words(fact: StoredFact) -> frozenset[str]:
    """The words of a fact itself, without those of the question it answers."""
    relation = relation_of(fact.subject).replace(".", " ").replace("_", " ")
    return content_words([fact.text, fact.value, *fact.entities, name_of(fact.subject), relation])


def rewrite_keys(connection: Connection, after: str, most: int) -> str | None:
    """Makes anew what is made of some facts' words: keys to compare them by, and the word index.

    Args:
        connection: A writing connection.
        after: The facts whose ids come after this one, in order.
        most: Number of facts, at most.

    Returns:
        The last one's id, or None when there are no more.
    """
    some = select_facts().where(facts.c.id > after).order_by(facts.c.id).limit(most)
    for user_id in sorted({fact.user_id for fact in fetch(connection, some)}):
        hold_user(connection, user_id)
    found = fetch(connection, some)
    for fact in found:
        keys = {
            "value_key": value_key(fact.value),
            "text_key": text_key(fact.text),
            "digest": None,
        }
        change(connection, fact.id, keys)
        write_words(connection, fact)
    return found[-1].id if len(found) == most else None


def link_turn(connection: Connection, fact_id: str, turn_id: str, role: str) -> bool:
    """Notes that a turn stated, confirmed or ended a fact; returns whether that is news."""
    key = {"fact_id": fact_id, "turn_id": turn_id, "role": role}
    if connection.execute(_LINKED, key).first() is not None:
        return False
    connection.execute(_INSERT_LINK, key)
    return True


def end(
    connection: Connection,
    known: StoredFact,
    why: EndReason,
    *,
    at: datetime,
    superseded_by: str | None = None,
    turn_id: str | None = None,
) -> Ended:
    """Closes a live fact: its row stays, and the index forgets it."""
    ended = {
        "valid_until": max(at, known.valid_from),
        "ended_at": at,
        "end_reason": why,
        "superseded_by": superseded_by,
        "conflict": False,
    }
    change(connection, known.id, ended)
    raise_version(connection, known.user_id)
    if turn_id is not None:
        link_turn(connection, known.id, turn_id, "ended")
    outbox.put(connection, "delete", known.user_id, known.id)
    settle_conflict(connection, known)
    return Ended(known, why)


def settle_conflict(connection: Connection, gone: StoredFact) -> None:
    """A conflict of which one side is left is none; ``gone`` was the other."""
    if not gone.conflict or gone.slot is None:
        return
    live = of_slots(connection, gone.user_id, gone.subject, slots_of_family(gone.slot))
    left = [row for row in live if row.conflict and conflict_key(row) == conflict_key(gone)]
    if len(left) == 1:
        change(connection, left[0].id, {"conflict": False})


def change(connection: Connection, fact_id: str, values: Mapping[str, object]) -> None:
    """Changes columns of one fact."""
    connection.execute(sa.update(facts).where(facts.c.id == fact_id).values(**values))


def raise_version(connection: Connection, user_id: str) -> None:
    """Notes that memories of a user ended, changed or were erased."""
    connection.execute(_RAISE, {"user": user_id})


def drop_version(connection: Connection, user_id: str) -> None:
    """Notes that a user was wiped."""
    connection.execute(_DELETE, {"user": user_id})
    connection.execute(_RAISE, {"user": EVERYBODY})


def version_of(connection: Connection, user_id: str) -> Version:
    """The version of a user's memory."""
    found = connection.execute(_VERSION, {"user": user_id}).all()
    return tuple((row.user_id, row.version) for row in found)
