"""The first schema: turns, decisions, facts, outbox, recalls, feedback, tombstones, erasures.

Revision: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    op.create_table(
        "erasures",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("receipt", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
    )
    op.create_index("ix_erasures_user_id", "erasures", ["user_id"])

    op.create_table(
        "meta",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_meta"),
    )
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("op", sa.String(length=8), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("fact_id", sa.String(length=64), nullable=False),
        sa.Column("index_id", sa.String(length=64), nullable=True),
        sa.Column("erasure_id", sa.String(length=64), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("leased_by", sa.String(length=64), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_erasure", "outbox", ["erasure_id"])
    op.create_index("ix_outbox_fact", "outbox", ["fact_id"])
    op.create_index("ix_outbox_next", "outbox", ["next_at"])

    op.create_table(
        "recalls",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("recalled", sa.Boolean(), nullable=False),
        sa.Column("budget_tokens", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("elapsed_ms", sa.Float(), nullable=False),
        sa.Column("fallback", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_recalls"),
    )
    op.create_index("ix_recalls_turn_id", "recalls", ["turn_id"])
    op.create_index("ix_recalls_user_at", "recalls", ["user_id", "at"])

    op.create_table(
        "tombstones",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_tombstones"),
    )
    op.create_index("ix_tombstones_user_id", "tombstones", ["user_id"])

    op.create_table(
        "turns",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("assistant_before", sa.Text(), nullable=False),
        sa.Column("assistant_after", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=16), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("redacted", sa.Boolean(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
    )
    op.create_index("ix_turns_seq", "turns", ["seq"])
    op.create_index("ix_turns_user_at", "turns", ["user_id", "at"])
    op.create_index("ix_turns_user_session", "turns", ["user_id", "session_id", "seq"])

    op.create_table(
        "decisions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("signals", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("rule_id", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("gate_version", sa.Text(), nullable=False),
        sa.Column("fallback", sa.Boolean(), nullable=False),
        sa.Column("extraction_method", sa.Text(), nullable=False),
        sa.Column("facts_extracted", sa.Integer(), nullable=False),
        sa.Column("elapsed_us", sa.Float(), nullable=False),
        sa.Column("resolution", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_decisions_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_decisions"),
    )
    op.create_index("ix_decisions_turn_id", "decisions", ["turn_id"])
    op.create_index("ix_decisions_user_verdict", "decisions", ["user_id", "verdict", "resolution"])

    op.create_table(
        "facts",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=True),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("value_key", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_key", sa.Text(), nullable=False),
        sa.Column("category", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("cardinality", sa.String(length=8), nullable=False),
        sa.Column("polarity", sa.String(length=16), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("entities", sa.JSON(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=True),
        sa.Column("sensitive", sa.Boolean(), nullable=False),
        sa.Column("when", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("end_reason", sa.String(length=24), nullable=False),
        sa.Column("superseded_by", sa.String(length=64), nullable=True),
        sa.Column("conflict", sa.Boolean(), nullable=False),
        sa.Column("withdrawn_by", sa.String(length=64), nullable=True),
        sa.Column("source_type", sa.String(length=16), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=True),
        sa.Column("rule_id", sa.Text(), nullable=False),
        sa.Column("extraction_method", sa.Text(), nullable=False),
        sa.Column("extraction_version", sa.Text(), nullable=False),
        sa.Column("use_count", sa.Integer(), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("index_id", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_facts_turn_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_facts"),
    )
    op.create_index("ix_facts_live", "facts", ["user_id", "valid_until", "valid_from"])
    op.create_index("ix_facts_slot", "facts", ["user_id", "subject", "slot", "valid_until"])
    op.create_index("ix_facts_text_key", "facts", ["user_id", "text_key"])
    op.create_index("ix_facts_turn", "facts", ["turn_id"])
    op.create_index("ix_facts_value_key", "facts", ["user_id", "value_key"])
    op.create_index("ix_facts_withdrawn", "facts", ["withdrawn_by"])

    op.create_table(
        "fact_turns",
        sa.Column("fact_id", sa.String(length=64), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=12), nullable=False),
        sa.ForeignKeyConstraint(
            ["fact_id"], ["facts.id"], name="fk_fact_turns_fact_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_fact_turns_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("fact_id", "turn_id", "role", name="pk_fact_turns"),
    )
    op.create_index("ix_fact_turns_turn", "fact_turns", ["turn_id"])

    op.create_table(
        "fact_words",
        sa.Column("fact_id", sa.String(length=64), nullable=False),
        sa.Column("word", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.ForeignKeyConstraint(
            ["fact_id"], ["facts.id"], name="fk_fact_words_fact_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("fact_id", "word", name="pk_fact_words"),
    )
    op.create_index("ix_fact_words_word", "fact_words", ["user_id", "word"])

    op.create_table(
        "feedback",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("fact_id", sa.String(length=64), nullable=True),
        sa.Column("turn_id", sa.String(length=64), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["fact_id"], ["facts.id"], name="fk_feedback_fact_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_feedback_turn_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
    )
    op.create_index("ix_feedback_fact_id", "feedback", ["fact_id"])
    op.create_index("ix_feedback_turn_id", "feedback", ["turn_id"])
    op.create_index("ix_feedback_user_id", "feedback", ["user_id"])

    op.create_table(
        "recall_items",
        sa.Column("recall_id", sa.String(length=64), nullable=False),
        sa.Column("fact_id", sa.String(length=64), nullable=False),
        sa.Column("given", sa.Boolean(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("semantic", sa.Float(), nullable=False),
        sa.Column("recency", sa.Float(), nullable=False),
        sa.Column("domain", sa.Float(), nullable=False),
        sa.Column("usage", sa.Float(), nullable=False),
        sa.Column("kind", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["fact_id"], ["facts.id"], name="fk_recall_items_fact_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["recall_id"], ["recalls.id"], name="fk_recall_items_recall_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("recall_id", "fact_id", name="pk_recall_items"),
    )
    op.create_index("ix_recall_items_fact_id", "recall_items", ["fact_id"])


def downgrade() -> None:
    """Takes the change back."""
    op.drop_index("ix_recall_items_fact_id", table_name="recall_items")

    op.drop_table("recall_items")
    op.drop_index("ix_feedback_user_id", table_name="feedback")
    op.drop_index("ix_feedback_turn_id", table_name="feedback")
    op.drop_index("ix_feedback_fact_id", table_name="feedback")

    op.drop_table("feedback")
    op.drop_index("ix_fact_words_word", table_name="fact_words")

    op.drop_table("fact_words")
    op.drop_index("ix_fact_turns_turn", table_name="fact_turns")

    op.drop_table("fact_turns")
    op.drop_index("ix_facts_withdrawn", table_name="facts")
    op.drop_index("ix_facts_value_key", table_name="facts")
    op.drop_index("ix_facts_turn", table_name="facts")
    op.drop_index("ix_facts_text_key", table_name="facts")
    op.drop_index("ix_facts_slot", table_name="facts")
    op.drop_index("ix_facts_live", table_name="facts")

    op.drop_table("facts")
    op.drop_index("ix_decisions_user_verdict", table_name="decisions")
    op.drop_index("ix_decisions_turn_id", table_name="decisions")

    op.drop_table("decisions")
    op.drop_index("ix_turns_user_session", table_name="turns")
    op.drop_index("ix_turns_user_at", table_name="turns")
    op.drop_index("ix_turns_seq", table_name="turns")

    op.drop_table("turns")
    op.drop_index("ix_tombstones_user_id", table_name="tombstones")

    op.drop_table("tombstones")
    op.drop_index("ix_recalls_user_at", table_name="recalls")
    op.drop_index("ix_recalls_turn_id", table_name="recalls")

    op.drop_table("recalls")
    op.drop_index("ix_outbox_next", table_name="outbox")
    op.drop_index("ix_outbox_fact", table_name="outbox")
    op.drop_index("ix_outbox_erasure", table_name="outbox")

    op.drop_table("outbox")
    op.drop_table("meta")
    op.drop_index("ix_erasures_user_id", table_name="erasures")

    op.drop_table("erasures")
