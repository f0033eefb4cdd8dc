"""Alembic's entry point: runs the migrations on the connection the ledger hands over."""

from __future__ import annotations

from alembic import context

from bmo.ledger.schema import metadata


def _run() -> None:
    connection = context.config.attributes["connection"]
    context.configure(
        connection=connection,
        target_metadata=metadata,
        # SQLite cannot alter a column in place.
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


_run()
