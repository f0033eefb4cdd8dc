"""The schema's version: a new ledger is made at the newest one, an older one brought up to it.

Alembic and what it imports take .1 s and some 10 MB; only a ledger of an older BMO needs it.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.schema import CreateIndex, CreateTable

from bmo.ledger.connections import reading, writing
from bmo.ledger.errors import LedgerUnavailable
from bmo.ledger.fact_writing import rewrite_keys
from bmo.ledger.schema import metadata

SCHEMA: Final = "0040"
"""The newest schema this BMO knows: the last of the migrations."""

_MIGRATIONS = Path(__file__).parent / "migrations"
# Any number, the same in every process: PostgreSQL lets one process migrate at a time.
_MIGRATION_LOCK = 7_020_617_001

_VERSION = sa.Table(
    "alembic_version",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), primary_key=True),
)
"""As Alembic makes it."""

logger = logging.getLogger(__name__)


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


def migrate(engine: Engine) -> None:
    """Makes the tables, or applies the migrations that are missing, in one transaction.

    What is made of the memories' words is made anew: an older BMO may have compared them otherwise.

    Raises:
        LedgerUnavailable: The schema was made by another version of BMO.
    """
    with reading(engine) as connection:
        if schema_of(connection) == SCHEMA:
            return
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        found = schema_of(connection)
        if found == SCHEMA:
            return  # another process was quicker
        if found is None:
            _create(connection)
            connection.execute(sa.insert(_VERSION).values(version_num=SCHEMA))
        else:
            _upgrade(connection, found)
            rewrite_keys(connection)
        _describe_indexes(connection)
    logger.debug("ledger schema", extra={"now": SCHEMA, "was": found})


def _create(connection: Connection) -> None:
    """Makes all tables and indexes, in the same order each time: SQLite's planner goes by it."""
    for table in (*metadata.sorted_tables, _VERSION):
        connection.execute(CreateTable(table))
        for index in sorted(table.indexes, key=lambda one: str(one.name)):
            connection.execute(CreateIndex(index))


def _upgrade(connection: Connection, found: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError:
        raise LedgerUnavailable(
            f"The ledger's schema {found!r} was made by another version of BMO; "
            "use that version, or set BMO_LEDGER_URL (or BMO_HOME) to another ledger."
        ) from None


def _describe_indexes(connection: Connection) -> None:
    if connection.dialect.name != "sqlite":
        return
    connection.exec_driver_sql("ANALYZE alembic_version")  # makes the table of statistics
    connection.exec_driver_sql("DELETE FROM sqlite_stat1 WHERE tbl = 'facts'")
    shapes = [("facts", index, shape) for index, shape in _SHAPE.items()]
    connection.exec_driver_sql("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", shapes)
    connection.exec_driver_sql("ANALYZE sqlite_master")  # has this connection read it


def schema_of(connection: Connection) -> str | None:
    """The version a database says it has; None for an empty one."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if found is None else str(found)
