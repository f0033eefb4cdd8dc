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

# index -> rows in all; rows with the same first column; with the same first two; ...
_SHAPE = {
    "ix_facts_user_id": "50000 25000 1",
    "ix_facts_slot": "50000 25000 400 40 1",
    "ix_facts_live": "50000 25000 20000 2",
    "ix_facts_live_slot": "40000 20000 40 2",
    "ix_facts_newest": "50000 25000 2",
    "ix_facts_text_key": "50000 25000 2",
    "ix_facts_value_key": "50000 25000 20",
    "ix_facts_turn": "50000 2",
    "ix_facts_people": "1000 500 20 1",
    "ix_facts_withdrawn": "100 50",
    "ix_facts_superseded_by": "10000 2",
}
"""What a well-filled memory looks like to SQLite's planner. Without it it takes "two columns are
given" for "ten rows are left", and reads all live facts of a user (user and valid_until) to find
four slots. It is written by hand and not by ANALYZE so that the same ledger has the same plans
with ten facts and with 50,000. PostgreSQL keeps its own."""


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
    if op.get_bind().dialect.name == "sqlite":
        op.execute("ANALYZE alembic_version")  # makes the table of statistics
        op.execute("DELETE FROM sqlite_stat1 WHERE tbl = 'facts'")
        for index, shape in _SHAPE.items():
            op.execute(
                f"INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('facts', '{index}', '{shape}')"
            )
        op.execute("ANALYZE sqlite_master")  # has this connection read it; counts nothing


def downgrade() -> None:
    """Takes the change back."""
    for index in ("ix_facts_live_slot", "ix_facts_newest", "ix_facts_superseded_by"):
        op.drop_index(index, table_name="facts")
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DELETE FROM sqlite_stat1 WHERE tbl = 'facts'")
