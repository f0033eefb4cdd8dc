"""Looking facts up costs the same however many a user has.

Revision: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_LIVE = "valid_until IS NULL AND withdrawn_by IS NULL"


def upgrade() -> None:
    """Applies the change."""
    op.create_index(
        "ix_facts_live_slot",
        "facts",
        ["user_id", "slot", "valid_from"],
        sqlite_where=sa.text(_LIVE),
        postgresql_where=sa.text(_LIVE),
    )
    op.create_index("ix_facts_newest", "facts", ["user_id", "valid_from"])
    given = sa.text("superseded_by IS NOT NULL")
    op.create_index(
        "ix_facts_superseded_by",
        "facts",
        ["superseded_by"],
        sqlite_where=given,
        postgresql_where=given,
    )
