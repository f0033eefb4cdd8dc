"""What each schema of the ledger has that the one before it had not, as SQL.

A step is never edited once it is released. Workers of the version before go on working with what it
made: it adds tables, indexes and columns that may be left out (nullable, or with a default of the
server's). What nothing reads or writes any more is taken away one version later, by a step that
raises ``migrating.OLDEST`` to the schema before it. ``tests/integration/test_rolling_upgrade.py``
compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIRST: Final = "0001"
"""The first schema: whoever has it has its tables."""

_LIVE = "valid_until IS NULL AND withdrawn_by IS NULL"

STEPS: Final[Mapping[str, tuple[str, ...]]] = {
    # Indexes for what every recall reads: facts by id, the newest of a slot, facts by words; and of
    # what is withdrawn only the few rows that are: SQLite took it to find the live ones.
    "0002": (
        "CREATE INDEX ix_facts_user_id ON facts (user_id, id)",
        "DROP INDEX ix_facts_slot",
        "CREATE INDEX ix_facts_slot ON facts (user_id, subject, slot, valid_from)",
        "DROP INDEX ix_fact_words_word",
        "CREATE INDEX ix_fact_words_word ON fact_words (user_id, word, fact_id)",
        "DROP INDEX ix_facts_withdrawn",
        "CREATE INDEX ix_facts_withdrawn ON facts (withdrawn_by) WHERE withdrawn_by IS NOT NULL",
    ),
    # Turns that wait for a model; what was held before waits as well, but injections and secrets.
    "0003": (
        "CREATE TABLE model_queue (turn_id VARCHAR(64) NOT NULL, user_id VARCHAR(128) NOT NULL, "
        "aim VARCHAR(8) NOT NULL, promise FLOAT, attempts INTEGER NOT NULL, "
        "next_at {moment} NOT NULL, last_error TEXT NOT NULL, "
        "CONSTRAINT pk_model_queue PRIMARY KEY (turn_id), CONSTRAINT fk_model_queue_turn_id "
        "FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE)",
        "CREATE INDEX ix_model_queue_next ON model_queue (next_at, user_id)",
        "INSERT INTO model_queue (turn_id, user_id, aim, promise, attempts, next_at, last_error) "
        "SELECT t.id, t.user_id, 'held', NULL, 0, t.at, '' FROM turns t "
        "JOIN decisions d ON d.turn_id = t.id "
        "WHERE d.id IN (SELECT max(id) FROM decisions GROUP BY turn_id) AND d.verdict = 'hold' "
        "AND d.resolution = '' AND t.text <> '' AND NOT t.redacted "
        "AND CAST(d.signals AS TEXT) NOT LIKE '%\"injection\"%' "
        "AND CAST(d.signals AS TEXT) NOT LIKE '%\"sensitive\"%' "
        "AND CAST(d.signals AS TEXT) NOT LIKE '%\"forget\"%'",
    ),
    # Who is known: every question about somebody asks for it.
    "0004": (
        "CREATE INDEX ix_facts_people ON facts (user_id, subject, valid_from) "
        f"WHERE {_LIVE} AND subject <> 'user' AND subject <> 'team'",
    ),
    # Looking facts up costs the same however many a user has.
    "0005": (
        f"CREATE INDEX ix_facts_live_slot ON facts (user_id, slot, valid_from) WHERE {_LIVE}",
        "CREATE INDEX ix_facts_newest ON facts (user_id, valid_from)",
        "CREATE INDEX ix_facts_superseded_by ON facts (superseded_by) "
        "WHERE superseded_by IS NOT NULL",
    ),
    # A memory keeps the user's words it came from, and the assistant's words before them.
    "0006": (
        "ALTER TABLE facts ADD COLUMN said TEXT DEFAULT '' NOT NULL",
        "ALTER TABLE facts ADD COLUMN asked TEXT DEFAULT '' NOT NULL",
    ),
    # A version of each user's memory, which other workers look at.
    "0007": (
        "CREATE TABLE user_versions (user_id VARCHAR(128) NOT NULL, version BIGINT NOT NULL, "
        "CONSTRAINT pk_user_versions PRIMARY KEY (user_id))",
    ),
    # Which agent a turn was told to, and which agents of its user may be given what it tells.
    "0030": tuple(
        f"ALTER TABLE {table} ADD COLUMN {column} NOT NULL"
        for table in ("turns", "facts")
        for column in ("agent_id VARCHAR(128) DEFAULT ''", "visibility VARCHAR(8) DEFAULT 'shared'")
    ),
    # The gate's mode beside each decision, and what a model was asked for a user in a day.
    "0040": (
        "ALTER TABLE decisions ADD COLUMN mode VARCHAR(16) DEFAULT '' NOT NULL",
        "CREATE TABLE model_days (user_id VARCHAR(128) NOT NULL, day VARCHAR(10) NOT NULL, "
        "calls BIGINT NOT NULL, tokens BIGINT NOT NULL, "
        "CONSTRAINT pk_model_days PRIMARY KEY (user_id, day))",
    ),
}
"""Schema -> the statements that make it of the one before; ``{moment}`` is a column of time."""
