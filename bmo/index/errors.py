"""What can be wrong with the index; each message is one sentence that names the fix."""

from __future__ import annotations

from pathlib import Path


class IndexUnavailable(RuntimeError):
    """The index cannot be reached or opened now; the ledger keeps what it has to learn."""


class IndexLost(IndexUnavailable):
    """The server answers and has no such collection any more: its storage is another one."""


class IndexDamaged(IndexUnavailable):
    """The embedded store's files cannot be read; the ledger can make them anew.

    Attributes:
        directory: Where they are.
    """

    def __init__(self, sentence: str, directory: Path) -> None:
        """Says what is wrong.

        Args:
            sentence: Names the directory and the fix.
            directory: The store's own directory.
        """
        super().__init__(sentence)
        self.directory = directory


class InferenceFailed(RuntimeError):
    """Mem0's extraction gave no usable answer for a turn; the turn waits in the outbox."""


class IndexOfAnother(IndexUnavailable):
    """The index is the copy of another ledger; it is neither read nor changed."""


class StoreInUse(IndexUnavailable):
    """Another process owns the embedded store."""
