"""The schema's version: a new ledger is made at the newest one, an older one brought up to it.

Workers of two versions share a ledger while a fleet is upgraded, and when an upgrade is taken back.
So a ledger says two things of its schema: the newest migration it had (table ``meta``), and the
oldest schema whose BMO can still work with it. That one stands in a table by the name of Alembic's,
where a BMO of ``COMPARING`` and before looks for its own schema and no other.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.schema import CreateIndex, CreateTable

from bmo.ledger.database import LedgerUnavailable, reading, writing
from bmo.ledger.doubles import any_unnoted, settle_some
from bmo.ledger.fact_writing import rewrite_keys
from bmo.ledger.schema import DROPS_VECTORS, meta, metadata

FIRST: Final = "0005"
"""The schema of the first edition, the oldest that is brought up to date."""

_BYTES: Final = {"sqlite": "BLOB", "postgresql": "BYTEA"}
_VECTORS: Final = (
    "CREATE TABLE fact_vectors (fact_id VARCHAR(64) NOT NULL, collection VARCHAR(64) NOT NULL, "
    "vector {} NOT NULL, CONSTRAINT pk_fact_vectors PRIMARY KEY (fact_id), "
    "CONSTRAINT fk_fact_vectors_fact_id FOREIGN KEY(fact_id) REFERENCES facts (id) "
    "ON DELETE CASCADE)"
)

STEPS: Final[Mapping[str, tuple[str | Mapping[str, str], ...]]] = {
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
    # No two live memories of a user state the same. What an older worker writes has no digest.
    "0050": (
        "ALTER TABLE facts ADD COLUMN digest VARCHAR(64)",
        "CREATE UNIQUE INDEX uq_facts_digest ON facts (digest) "
        "WHERE valid_until IS NULL AND withdrawn_by IS NULL",
        "CREATE INDEX ix_facts_unnoted ON facts (id) "
        "WHERE digest IS NULL AND valid_until IS NULL AND withdrawn_by IS NULL",
    ),
    # The vectors of memories, which go with their words, whoever rewords, ends or erases them.
    "0060": (
        {dialect: _VECTORS.format(of_bytes) for dialect, of_bytes in _BYTES.items()},
        *({dialect: statement} for dialect, made in DROPS_VECTORS.items() for statement in made),
    ),
}
"""Schema -> the statements that make it of the one before, on SQLite and PostgreSQL alike, or those
of a dialect.

A step is never edited once it is released. Workers of the version before go on working with what it
made: it adds tables, indexes and columns that may be left out (nullable, or with a default of the
server's). What nothing reads or writes any more is taken away one version later, by a step that
raises ``OLDEST`` to the schema before it. ``tests/integration/test_rolling_upgrade.py`` compares.
"""


SCHEMA: Final = max(STEPS)
"""The newest schema this BMO knows."""

OLDEST: Final = "0005"
"""The oldest schema whose BMO can work with a ledger of ``SCHEMA``: every migration after it only
adds what a BMO that does not know it need not write (see ``migrations``)."""

COMPARING: Final = "0007"
"""The last schema whose BMO refuses any other than its own."""

KEYS_SINCE: Final = "0006"
"""From this schema on memories' words are compared as here; keys of older ones are made anew."""

# Any number, the same in every process: PostgreSQL lets one process migrate at a time.
_MIGRATION_LOCK = 7_020_617_001

_VERSION = sa.Table(
    "alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
)
"""As Alembic made it for versions before."""

_IS = meta.c.key == sa.bindparam("what")
_NEWEST = "schema"
_KEYS_FROM = "keys_from"
"""Rows of ``meta``: the newest migration; the last memory whose keys were made anew."""

_KEYS_AT_ONCE = 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """What a database says of its schema.

    Attributes:
        newest: The newest migration it had.
        oldest: The oldest schema whose BMO can work with it.
    """

    newest: str
    oldest: str

    @property
    def fits(self) -> bool:
        """Whether this BMO can work with it, perhaps after its migrations."""
        return self.oldest <= SCHEMA


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
    "uq_facts_digest": "40000 1",
    "ix_facts_unnoted": "100 1",
}
"""What a well-filled memory looks like to SQLite's planner. Without it it takes "two columns are
given" for "ten rows are left", and reads all live facts of a user (user and valid_until) to find
four slots. It is written by hand and not by ANALYZE so that the same ledger has the same plans
with ten facts and with 50,000. PostgreSQL keeps its own."""


def migrate(engine: Engine) -> None:
    """Makes the tables, or applies the migrations that are missing, in one transaction.

    Then, in pieces that survive a kill, what is made of memories' words is made anew, and those
    that a BMO before left doubled are merged, also when one worked here since.

    Raises:
        LedgerUnavailable: The schema was made by another version of BMO.
    """
    with reading(engine) as connection:
        found = schema_of(connection)
        rewriting = found is not None and _told(connection, _KEYS_FROM) is not None
    if found is None or found.newest < SCHEMA:
        with writing(engine) as connection:
            _one_by_one(connection)
            found = schema_of(connection)  # another process may have been quicker
            if found is None:
                _create(connection)
            elif found.newest < SCHEMA:
                _upgrade(connection, found)
            _describe_indexes(connection)
        rewriting = True
    elif not found.fits:
        raise _refusal(found)
    while rewriting:
        rewriting = _rewrite_some_keys(engine)
    with reading(engine) as connection:
        unnoted = any_unnoted(connection)
    while unnoted:
        with writing(engine) as connection:
            unnoted = settle_some(connection, _KEYS_AT_ONCE)


def _one_by_one(connection: Connection) -> None:
    """One process at a time; in SQLite a writer is alone anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))


def _create(connection: Connection) -> None:
    """Makes all tables and indexes, in the same order each time: SQLite's planner goes by it."""
    for table in (*metadata.sorted_tables, _VERSION):
        connection.execute(CreateTable(table))
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            connection.execute(CreateIndex(index))
    for statement in DROPS_VECTORS[connection.dialect.name]:
        connection.exec_driver_sql(statement)
    connection.execute(sa.insert(_VERSION).values(version_num=max(OLDEST, COMPARING)))
    _tell(connection, _NEWEST, SCHEMA)


def _upgrade(connection: Connection, found: SchemaVersion) -> None:
    """Applies migrations; whoever could work with the ledger before still can, if they allow it."""
    if found.newest not in (FIRST, *STEPS):
        raise _refusal(found)
    for schema in (one for one in STEPS if one > found.newest):
        apply_step(connection, schema)
    connection.execute(sa.update(_VERSION).values(version_num=max(OLDEST, found.oldest)))
    _tell(connection, _NEWEST, SCHEMA)
    if found.newest < KEYS_SINCE:
        _tell(connection, _KEYS_FROM, "")
    logger.debug("ledger schema", extra={"now": SCHEMA, "was": found.newest})


def apply_step(connection: Connection, schema: str) -> None:
    """Makes a schema of the one before."""
    dialect = connection.dialect.name
    for step in STEPS[schema]:
        statement = step if isinstance(step, str) else step.get(dialect)
        if statement is not None:
            connection.exec_driver_sql(statement)


def _rewrite_some_keys(engine: Engine) -> bool:
    """Makes some keys anew that an older BMO made; returns whether there are more.

    Not in the migration's transaction: it locks the table, which others read and write.
    """
    with writing(engine) as connection:
        _one_by_one(connection)
        after = _told(connection, _KEYS_FROM)
        if after is None:
            return False
        last = rewrite_keys(connection, after, _KEYS_AT_ONCE)
        _tell(connection, _KEYS_FROM, last)
        return last is not None


def _refusal(found: SchemaVersion) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"The ledger's schema {found.newest!r} was made by another version of BMO; "
        "use that version, or set BMO_LEDGER_URL (or BMO_HOME) to another ledger."
    )


def _told(connection: Connection, what: str) -> str | None:
    value = connection.execute(sa.select(meta.c.value).where(_IS), {"what": what}).scalar()
    return None if value is None else str(value)


def _tell(connection: Connection, what: str, value: str | None) -> None:
    connection.execute(sa.delete(meta).where(_IS), {"what": what})
    if value is not None:
        connection.execute(sa.insert(meta).values(key=what, value=value))


def _describe_indexes(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    connection.exec_driver_sql("ANALYZE alembic_version")  # makes the table of statistics
    connection.exec_driver_sql("DELETE FROM sqlite_stat1 WHERE tbl = 'facts'")
    shapes = [("facts", index, shape) for index, shape in _SHAPE.items()]
    connection.exec_driver_sql("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", shapes)
    connection.exec_driver_sql("ANALYZE sqlite_master")  # has this connection read it


def schema_of(connection: Connection) -> SchemaVersion | None:
    """What a database says of its schema; None for an empty one."""
    if not sa.inspect(connection).has_table(_VERSION.name):
        return None
    oldest = connection.execute(sa.select(_VERSION.c.version_num)).scalar()
    if oldest is None:
        return None
    newest = _told(connection, _NEWEST) or ""
    return SchemaVersion(max(newest, str(oldest)), str(oldest))
