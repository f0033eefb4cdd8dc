"""The first schema. New ledgers are made at the newest one (see ``migrating``): nothing to do here.

Revision: 0001
"""

from __future__ import annotations

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies nothing: whoever has this schema has its tables."""
