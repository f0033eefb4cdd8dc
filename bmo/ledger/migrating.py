"""The schema's version: looked up with plain SQL, brought up to date with Alembic.

Alembic and what it imports take .1 s and some 10 MB; nearly every start finds the schema as it
should be and does without.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from bmo.ledger.connections import reading, writing
from bmo.ledger.errors import LedgerUnavailable

SCHEMA: Final = "0005"
"""The newest schema this BMO knows: the last of the migrations."""

_MIGRATIONS = Path(__file__).parent / "migrations"
# Any number, the same in every process: PostgreSQL lets one process migrate at a time.
_MIGRATION_LOCK = 7_020_617_001

logger = logging.getLogger(__name__)


def migrate(engine: Engine) -> None:
    """Applies the migrations that are missing, in one transaction.

    Raises:
        LedgerUnavailable: The schema was made by another version of BMO.
    """
    with reading(engine) as connection:
        if schema_of(connection) == SCHEMA:
            return
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    with writing(engine) as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        found = schema_of(connection)
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise LedgerUnavailable(
                f"The ledger's schema {found!r} was made by another version of BMO; "
                "use that version, or set BMO_LEDGER_URL (or BMO_HOME) to another ledger."
            ) from None
    logger.debug("ledger schema", extra={"now": SCHEMA, "was": found})


def schema_of(connection: Connection) -> str | None:
    """The version a database says it has; None for an empty one."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return None if found is None else str(found)
