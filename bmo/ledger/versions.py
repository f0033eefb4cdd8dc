"""The version of a user's memory: another number than before says that something in it is gone.

It goes up with every write that ends, changes or erases memories, in the same transaction. Workers
that share a ledger look at it before they use what they read earlier.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.schema import user_versions

Version = tuple[tuple[str, int], ...]
"""The user's number and everybody's; only to be compared."""

EVERYBODY: Final = "*"
"""Whose number goes up when a user is wiped: of him nothing stays, not even a number. No user id
that is allowed is so."""

_RAISE = sa.text(
    "INSERT INTO user_versions (user_id, version) VALUES (:user, 1) "
    "ON CONFLICT (user_id) DO UPDATE SET version = user_versions.version + 1"
)
_VERSION = (
    sa.select(user_versions.c.user_id, user_versions.c.version)
    .where(user_versions.c.user_id.in_([sa.bindparam("user"), EVERYBODY]))
    .order_by(user_versions.c.user_id)
)
_DELETE = sa.delete(user_versions).where(user_versions.c.user_id == sa.bindparam("user"))


def raise_version(connection: Connection, user_id: str) -> None:
    """Notes that memories of a user ended, changed or were erased."""
    connection.execute(_RAISE, {"user": user_id})


def drop_version(connection: Connection, user_id: str) -> None:
    """Notes that a user was wiped."""
    connection.execute(_DELETE, {"user": user_id})
    connection.execute(_RAISE, {"user": EVERYBODY})


def version_of(connection: Connection, user_id: str) -> Version:
    """The version of a user's memory."""
    found = connection.execute(_VERSION, {"user": user_id}).all()
    return tuple((row.user_id, row.version) for row in found)
