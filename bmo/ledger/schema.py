"""The ledger's tables, and how Python values become columns.

One schema for SQLite and PostgreSQL. A new ledger is made of it, an older one brought to it by
``migrations``; ``tests/integration/test_ledger_opening.py`` checks that both agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.types import TypeDecorator

from bmo.turn import storable

_NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class CleanText(TypeDecorator[str]):
    """Text that passed :func:`storable`."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Cleans ``value`` on its way into SQL."""
        return None if value is None else storable(value)


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: timezone-aware in Python, UTC in SQL."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Converts to UTC; SQLite keeps no zone, so it is taken off there."""
        if value is None:
            return None
        moment = as_utc(value)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Gives the zone back."""
        return None if value is None else as_utc(value)


def as_utc(moment: datetime) -> datetime:
    """``moment`` in UTC; a naive one is read as UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


metadata = sa.MetaData(naming_convention=_NAMING)

_id = sa.String(64)
_user = sa.String(128)
_word = sa.String(64)


def _audience() -> tuple[sa.Column[str], sa.Column[str]]:
    """Which agent was told, and which agents may be given what it was told."""
    return (
        sa.Column("agent_id", _user, nullable=False, default="", server_default=""),
        sa.Column(
            "visibility", sa.String(8), nullable=False, default="shared", server_default="shared"
        ),
    )


def _partial(name: str, *columns: str, where: sa.TextClause, unique: bool = False) -> sa.Index:
    """An index of some rows."""
    return sa.Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", _word, primary_key=True),
    sa.Column("value", CleanText, nullable=False),
)
"""Small facts about the ledger itself: salt of the tombstones, progress of a rebuild."""

user_versions = sa.Table(
    "user_versions",
    metadata,
    sa.Column("user_id", _user, primary_key=True),
    sa.Column("version", sa.BigInteger, nullable=False),
)
"""How often memories of a user ended, changed or were erased (see ``fact_writing``)."""

turns = sa.Table(
    "turns",
    metadata,
    sa.Column("id", _id, primary_key=True),
    sa.Column("user_id", _user, nullable=False),
    sa.Column("session_id", CleanText, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("text", CleanText, nullable=False),
    sa.Column("assistant_before", CleanText, nullable=False),
    sa.Column("assistant_after", CleanText, nullable=False),
    sa.Column("language", sa.String(16)),
    sa.Column("confidence", sa.Float),
    # True once words were taken out (erasure, retention): no reply may write them back.
    sa.Column("redacted", sa.Boolean, nullable=False, default=False),
    # Order of arrival; two turns of one session may carry the same moment.
    sa.Column("seq", sa.BigInteger, nullable=False),
    *_audience(),
    sa.Index("ix_turns_user_session", "user_id", "session_id", "seq"),
    sa.Index("ix_turns_user_at", "user_id", "at"),
    sa.Index("ix_turns_seq", "seq"),
)

decisions = sa.Table(
    "decisions",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column(
        "turn_id", _id, sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    sa.Column("user_id", _user, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("verdict", sa.String(16), nullable=False),
    sa.Column("signals", sa.JSON, nullable=False),
    sa.Column("reason", CleanText, nullable=False),
    sa.Column("rule_id", CleanText, nullable=False),
    sa.Column("confidence", sa.Float, nullable=False),
    sa.Column("gate_version", CleanText, nullable=False),
    sa.Column("fallback", sa.Boolean, nullable=False),
    sa.Column("extraction_method", CleanText, nullable=False),
    sa.Column("facts_extracted", sa.Integer, nullable=False),
    sa.Column("elapsed_us", sa.Float, nullable=False),
    # What a person or a model made of a held turn later: "", "allowed" or "discarded".
    sa.Column("resolution", sa.String(16), nullable=False, default=""),
    # The gate's mode then; "" for what no gate decided, and in rows of versions before.
    sa.Column("mode", sa.String(16), nullable=False, default="", server_default=""),
    sa.Index("ix_decisions_user_verdict", "user_id", "verdict", "resolution"),
)
"""The gatekeeper log: one row per turn and gate pass."""

model_queue = sa.Table(
    "model_queue",
    metadata,
    sa.Column("turn_id", _id, sa.ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("user_id", _user, nullable=False),
    # What the model is asked for: "held", "polish" or "every" (see model_queue.py).
    sa.Column("aim", sa.String(8), nullable=False),
    # The encoder's P(allow) of the turn: the most promising are settled first.
    sa.Column("promise", sa.Float),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("next_at", UtcDateTime, nullable=False),
    sa.Column("last_error", CleanText, nullable=False, default=""),
    sa.Index("ix_model_queue_next", "next_at", "user_id"),
)
"""Turns that a model may still look at, off the voice path. A row goes when the turn is settled."""

model_days = sa.Table(
    "model_days",
    metadata,
    sa.Column("user_id", _user, primary_key=True),
    # ISO date in UTC; of a user only the newest day is kept.
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
)
"""What models were asked for a user in a day: calls begun, tokens both ways."""

OTHER_PEOPLE = sa.text("subject <> 'user' AND subject <> 'team'")
"""Facts of the people the user talks of; beside the live ones' condition an index holds them."""

_LIVE = sa.text("valid_until IS NULL AND withdrawn_by IS NULL")
_LIVE_OTHERS = sa.text(f"{_LIVE.text} AND {OTHER_PEOPLE}")
_LIVE_UNNOTED = sa.text(f"digest IS NULL AND {_LIVE.text}")

facts = sa.Table(
    "facts",
    metadata,
    sa.Column("id", _id, primary_key=True),
    sa.Column("user_id", _user, nullable=False),
    sa.Column("subject", CleanText, nullable=False),
    sa.Column("slot", CleanText),
    sa.Column("value", CleanText, nullable=False),
    # Normal forms (see values.py), so that "same value" and "same text" are index look-ups.
    sa.Column("value_key", CleanText, nullable=False),
    sa.Column("text", CleanText, nullable=False),
    sa.Column("text_key", CleanText, nullable=False),
    # The user's words it came from, and the assistant's before them; "" in rows of versions before.
    sa.Column("said", CleanText, nullable=False, default="", server_default=""),
    sa.Column("asked", CleanText, nullable=False, default="", server_default=""),
    sa.Column("category", sa.String(32), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("cardinality", sa.String(8), nullable=False),
    sa.Column("polarity", sa.String(16), nullable=False),
    sa.Column("confidence", sa.Float, nullable=False),
    sa.Column("entities", sa.JSON, nullable=False),
    sa.Column("domain", CleanText),
    sa.Column("sensitive", sa.Boolean, nullable=False),
    sa.Column("when", CleanText),
    sa.Column("expires_at", UtcDateTime),
    sa.Column("recorded_at", UtcDateTime, nullable=False),
    sa.Column("valid_from", UtcDateTime, nullable=False),
    sa.Column("valid_until", UtcDateTime),
    # Since when it is known to have ended: what was believed before that stays answerable.
    sa.Column("ended_at", UtcDateTime),
    sa.Column("end_reason", sa.String(24), nullable=False, default=""),
    sa.Column("superseded_by", _id),
    sa.Column("conflict", sa.Boolean, nullable=False, default=False),
    # Set while a wide erasure waits for its confirmation: out of recall, not yet gone.
    sa.Column("withdrawn_by", _id),
    sa.Column("source_type", sa.String(16), nullable=False),
    sa.Column("turn_id", _id, sa.ForeignKey("turns.id", ondelete="SET NULL")),
    sa.Column("rule_id", CleanText, nullable=False),
    sa.Column("extraction_method", CleanText, nullable=False),
    sa.Column("extraction_version", CleanText, nullable=False),
    sa.Column("use_count", sa.Integer, nullable=False, default=0),
    sa.Column("last_used_at", UtcDateTime),
    sa.Column("index_id", _id),
    *_audience(),
    # What it states (see doubles.py); NULL until it is noted, as in rows of versions before.
    sa.Column("digest", _id),
    sa.Index("ix_facts_user_id", "user_id", "id"),
    sa.Index("ix_facts_slot", "user_id", "subject", "slot", "valid_from"),
    sa.Index("ix_facts_live", "user_id", "valid_until", "valid_from"),
    _partial("ix_facts_live_slot", "user_id", "slot", "valid_from", where=_LIVE),
    # What was known at a moment, newest first, until there is enough of it.
    sa.Index("ix_facts_newest", "user_id", "valid_from"),
    sa.Index("ix_facts_text_key", "user_id", "text_key"),
    sa.Index("ix_facts_value_key", "user_id", "value_key"),
    sa.Index("ix_facts_turn", "turn_id"),
    # Who is known, newest first, without reading the facts themselves.
    _partial("ix_facts_people", "user_id", "subject", "valid_from", where=_LIVE_OTHERS),
    _partial("uq_facts_digest", "digest", where=_LIVE, unique=True),
    _partial("ix_facts_unnoted", "id", where=_LIVE_UNNOTED),
    _partial("ix_facts_superseded_by", "superseded_by", where=sa.text("superseded_by IS NOT NULL")),
    # Only the few that are withdrawn: SQLite must not look for live facts through it.
    _partial("ix_facts_withdrawn", "withdrawn_by", where=sa.text("withdrawn_by IS NOT NULL")),
)

fact_turns = sa.Table(
    "fact_turns",
    metadata,
    sa.Column("fact_id", _id, sa.ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("turn_id", _id, sa.ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("role", sa.String(12), primary_key=True),
    sa.Index("ix_fact_turns_turn", "turn_id"),
)
"""Every turn that stated, confirmed or ended a fact."""

fact_words = sa.Table(
    "fact_words",
    metadata,
    sa.Column("fact_id", _id, sa.ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("word", _word, primary_key=True),
    sa.Column("user_id", _user, nullable=False),
    sa.Index("ix_fact_words_word", "user_id", "word", "fact_id"),
)
"""Word index of the facts' texts. A table of our own and not FTS5: its rows vanish on erasure."""

fact_vectors = sa.Table(
    "fact_vectors",
    metadata,
    sa.Column("fact_id", _id, sa.ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True),
    # The index's, by whose name embedder and size are known: for another one it is made anew.
    sa.Column("collection", _word, nullable=False),
    sa.Column("vector", sa.LargeBinary, nullable=False),
)
"""The vector of a live fact's words as it is in the index, so that an index that is lost is filled
again without the embedder. It goes with the words it was made of: see ``DROPS_VECTORS``."""

_WORDS_GONE = "NEW.valid_until IS NOT NULL OR NEW.text <> OLD.text OR NEW.asked <> OLD.asked"
_DROP_VECTOR = "BEGIN DELETE FROM fact_vectors WHERE fact_id = NEW.id; "
_WHEN_CHANGED = "AFTER UPDATE OF text, asked, valid_until ON facts FOR EACH ROW WHEN"

DROPS_VECTORS: Final[Mapping[str, tuple[str, ...]]] = {
    "sqlite": (f"CREATE TRIGGER drop_fact_vector {_WHEN_CHANGED} {_WORDS_GONE} {_DROP_VECTOR}END",),
    "postgresql": (
        "CREATE FUNCTION drop_fact_vector() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ {_DROP_VECTOR}RETURN NULL; END $$",
        f"CREATE TRIGGER drop_fact_vector {_WHEN_CHANGED} ({_WORDS_GONE}) "
        "EXECUTE FUNCTION drop_fact_vector()",
    ),
}
"""Dialect -> what takes a fact's vector away with its words. The database does it: a worker of a
version before, which knows of no vectors, rewords facts as well."""

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("op", sa.String(8), nullable=False),
    sa.Column("user_id", _user, nullable=False),
    # A fact's id, or a turn's for op "raw"; no foreign key, a purge outlives its fact.
    sa.Column("fact_id", _id, nullable=False),
    sa.Column("index_id", _id),
    sa.Column("erasure_id", _id),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("next_at", UtcDateTime, nullable=False),
    sa.Column("leased_by", _id),
    sa.Column("leased_until", UtcDateTime),
    sa.Column("last_error", CleanText, nullable=False, default=""),
    sa.Index("ix_outbox_fact", "fact_id"),
    sa.Index("ix_outbox_next", "next_at"),
    sa.Index("ix_outbox_erasure", "erasure_id"),
    sqlite_autoincrement=True,
)
"""What the index still has to learn, written in the transaction that made it true."""

recalls = sa.Table(
    "recalls",
    metadata,
    sa.Column("id", _id, primary_key=True),
    sa.Column("user_id", _user, nullable=False),
    # No foreign key: a recall is often written before the turn it was made for.
    sa.Column("turn_id", _id, nullable=False, index=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("trigger", CleanText, nullable=False),
    sa.Column("recalled", sa.Boolean, nullable=False),
    sa.Column("budget_tokens", sa.Integer, nullable=False),
    sa.Column("tokens", sa.Integer, nullable=False),
    sa.Column("elapsed_ms", sa.Float, nullable=False),
    sa.Column("fallback", sa.Boolean, nullable=False),
    sa.Column("reason", CleanText, nullable=False),
    sa.Index("ix_recalls_user_at", "user_id", "at"),
)
"""What was given for which turn. No words: those are in the facts."""

recall_items = sa.Table(
    "recall_items",
    metadata,
    sa.Column("recall_id", _id, sa.ForeignKey("recalls.id", ondelete="CASCADE"), primary_key=True),
    sa.Column(
        "fact_id", _id, sa.ForeignKey("facts.id", ondelete="CASCADE"), primary_key=True, index=True
    ),
    sa.Column("given", sa.Boolean, nullable=False),
    sa.Column("why", CleanText, nullable=False),
    sa.Column("score", sa.Float, nullable=False),
    sa.Column("semantic", sa.Float, nullable=False),
    sa.Column("recency", sa.Float, nullable=False),
    sa.Column("domain", sa.Float, nullable=False),
    sa.Column("usage", sa.Float, nullable=False),
    sa.Column("kind", sa.Float, nullable=False),
)

feedback = sa.Table(
    "feedback",
    metadata,
    sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("user_id", _user, nullable=False, index=True),
    sa.Column("fact_id", _id, sa.ForeignKey("facts.id", ondelete="CASCADE"), index=True),
    sa.Column("turn_id", _id, sa.ForeignKey("turns.id", ondelete="SET NULL"), index=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("helpful", sa.Boolean, nullable=False),
    sa.Column("source", sa.String(16), nullable=False),
)

tombstones = sa.Table(
    "tombstones",
    metadata,
    sa.Column("digest", _id, primary_key=True),
    sa.Column("user_id", _user, nullable=False, index=True),
    sa.Column("at", UtcDateTime, nullable=False),
)
"""Keyed hashes of erased (user, subject, slot, value): reprocessing must not bring them back."""

erasures = sa.Table(
    "erasures",
    metadata,
    sa.Column("id", _id, primary_key=True),
    sa.Column("user_id", _user, nullable=False, index=True),
    sa.Column("scope", sa.String(16), nullable=False),
    sa.Column("turn_id", _id),
    sa.Column("asked_at", UtcDateTime, nullable=False),
    sa.Column("status", sa.String(12), nullable=False),
    # The receipt: places and counts, never words.
    sa.Column("receipt", sa.JSON, nullable=False),
)
