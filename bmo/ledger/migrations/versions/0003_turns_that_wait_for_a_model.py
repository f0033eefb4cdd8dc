"""Turns that wait for a model: held ones, and in some modes memories to be put better.

Revision: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    op.create_table(
        "model_queue",
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=128), nullable=False),
        sa.Column("aim", sa.String(length=8), nullable=False),
        sa.Column("promise", sa.Float(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name="fk_model_queue_turn_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn_id", name="pk_model_queue"),
    )
    op.create_index("ix_model_queue_next", "model_queue", ["next_at", "user_id"])
    # What was held before this table was there waits as well. Injections and secrets never do.
    newest = "SELECT max(id) FROM decisions GROUP BY turn_id"
    op.execute(
        "INSERT INTO model_queue (turn_id, user_id, aim, promise, attempts, next_at, last_error) "
        "SELECT t.id, t.user_id, 'held', NULL, 0, t.at, '' FROM turns t "
        "JOIN decisions d ON d.turn_id = t.id "
        f"WHERE d.id IN ({newest}) AND d.verdict = 'hold' AND d.resolution = '' "
        "AND t.text <> '' AND NOT t.redacted "
        "AND CAST(d.signals AS TEXT) NOT LIKE '%\"injection\"%' "
        "AND CAST(d.signals AS TEXT) NOT LIKE '%\"sensitive\"%' "
        "AND CAST(d.signals AS TEXT) NOT LIKE '%\"forget\"%'"
    )
