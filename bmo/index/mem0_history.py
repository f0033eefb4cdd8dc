"""Mem0's own SQLite file: it keeps the text of deleted memories for ever, unless told."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

_CHUNK = 400
_TIMEOUT_S = 10.0


def purge_history(path: Path, index_ids: Sequence[str]) -> int:
    """Removes all rows about memories from Mem0's history; returns how many there were."""
    removed = 0
    with closing(_open(path)) as connection, connection:
        for start in range(0, len(index_ids), _CHUNK):
            chunk = index_ids[start : start + _CHUNK]
            marks = ", ".join("?" * len(chunk))
            found = connection.execute(
                f"DELETE FROM history WHERE memory_id IN ({marks})", tuple(chunk)
            )
            removed += found.rowcount
    return removed


def purge_messages(path: Path, user_id: str) -> int:
    """Removes a user's rows from Mem0's messages table; returns how many there were.

    Only Mem0's own extraction writes there (MEM0_SETTING=NORMAL with a key).
    """
    scope = "user_id=" + user_id.replace("%", "%25").replace("&", "%26").replace("=", "%3D")
    with closing(_open(path)) as connection, connection:
        # Mem0 joins agent, run and user, in this order, by "&".
        return connection.execute(
            "DELETE FROM messages WHERE session_scope = ? OR substr(session_scope, -length(?)) = ?",
            (scope, f"&{scope}", f"&{scope}"),
        ).rowcount


def vacuum_history(path: Path) -> None:
    """Rewrites the file without its free pages."""
    with closing(_open(path)) as connection:
        connection.execute("VACUUM")


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_TIMEOUT_S)
    connection.execute("PRAGMA secure_delete = ON")
    return connection
