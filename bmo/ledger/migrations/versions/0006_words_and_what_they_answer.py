"""A memory keeps the user's words it came from, and the assistant's words before them.

Revision: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    for name in ("said", "asked"):
        op.add_column("facts", sa.Column(name, sa.Text(), nullable=False, server_default=""))
