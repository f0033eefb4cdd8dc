"""The gate's mode beside each decision, and what a model was asked for a user in a day.

Revision: 0040
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    op.add_column("decisions", sa.Column("mode", sa.String(16), nullable=False, server_default=""))
    op.create_table(
        "model_days",
        sa.Column("user_id", sa.String(128), nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("calls", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "day", name="pk_model_days"),
    )
