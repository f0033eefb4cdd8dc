"""Mem0 without its own SQLite file: what people said is written in one place less.

Mem0 keeps every memory's text, old and new, for ever in a file beside the process ("history"),
and the last ten turns of each user ("messages"). On a fleet each worker would have such a file,
and a worker that died would leave one behind, out of reach of whoever forgets. Nothing reads the
history (the ledger has it), and the turns that Mem0's extraction looks at come from the ledger
with each call. So nothing is kept, and nothing has to be erased.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class NoHistory:
    """Stands where Mem0 has its ``SQLiteManager``. Safe from any thread."""

    def __init__(self) -> None:
        """Nothing is kept."""
        self._call = threading.local()

    @contextmanager
    def said_before(self, turns: Sequence[str]) -> Iterator[None]:
        """What ``get_last_messages`` tells this thread meanwhile.

        Args:
            turns: The user's words before, oldest first.
        """
        self._call.messages = [{"role": "user", "content": text} for text in turns]
        try:
            yield
        finally:
            self._call.messages = []

    def get_last_messages(self, session_scope: str, limit: int = 10) -> list[dict[str, Any]]:
        """The turns handed over on this thread, the last ``limit`` of them."""
        messages: list[dict[str, Any]] = getattr(self._call, "messages", [])
        return messages[-limit:]

    def save_messages(self, messages: Sequence[Mapping[str, Any]], session_scope: str) -> None:
        """The ledger has them."""

    def add_history(self, memory_id: str, *texts: Any, **more: Any) -> None:
        """The ledger has it."""

    def batch_add_history(self, records: Sequence[Mapping[str, Any]]) -> None:
        """The ledger has it."""

    def get_history(self, memory_id: str) -> list[dict[str, Any]]:
        """None here; ``bmo memories history ID`` asks the ledger."""
        return []

    def reset(self) -> None:
        """There is nothing to reset."""

    def close(self) -> None:
        """There is nothing to close."""


def remove_history_files(directory: Path) -> None:
    """Removes the files that earlier versions let Mem0 write.

    Args:
        directory: Mem0's own directory in ``BMO_HOME``.
    """
    for file in directory.glob("history-*.db*"):
        # On Windows a process of an earlier version may have it open: the next start removes it.
        with contextlib.suppress(PermissionError):
            file.unlink(missing_ok=True)
