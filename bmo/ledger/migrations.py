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

FIRST: Final = "0005"
"""The schema of the first edition, the oldest that is brought up to date."""

STEPS: Final[Mapping[str, tuple[str, ...]]] = {
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
"""Schema -> the statements that make it of the one before, on SQLite and PostgreSQL alike."""
