"""Which agent a turn was told to, and which agents of its user may be given what it tells.

Revision: 0030
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    for table in ("turns", "facts"):
        for name, length, empty in (("agent_id", 128, ""), ("visibility", 8, "shared")):
            column = sa.Column(name, sa.String(length), nullable=False, server_default=empty)
            op.add_column(table, column)
