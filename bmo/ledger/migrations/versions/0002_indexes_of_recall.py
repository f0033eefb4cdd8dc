"""Indexes for what every recall reads: facts by id, the newest of a slot, facts by words.

Revision: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Applies the change."""
    # Without (user_id, id) SQLite, which keeps no statistics here, reads all facts of the user to
    # find ten by their ids: 5 ms at 6,000 facts.
    op.create_index("ix_facts_user_id", "facts", ["user_id", "id"])
    # Newest first with a limit: with valid_from at the end only as many rows are read.
    op.drop_index("ix_facts_slot", table_name="facts")
    op.create_index("ix_facts_slot", "facts", ["user_id", "subject", "slot", "valid_from"])
    # With fact_id in it the index alone answers which facts hold a word.
    op.drop_index("ix_fact_words_word", table_name="fact_words")
    op.create_index("ix_fact_words_word", "fact_words", ["user_id", "word", "fact_id"])
    # Nearly every row has no withdrawn_by, and SQLite took this index to find the live ones.
    some = sa.text("withdrawn_by IS NOT NULL")
    op.drop_index("ix_facts_withdrawn", table_name="facts")
    op.create_index(
        "ix_facts_withdrawn", "facts", ["withdrawn_by"], sqlite_where=some, postgresql_where=some
    )
