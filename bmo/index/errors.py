"""What can be wrong with the index; each message is one sentence that names the fix."""

from __future__ import annotations


class IndexUnavailable(RuntimeError):
    """The index cannot be reached or opened now; the ledger keeps what it has to learn."""


class InferenceFailed(RuntimeError):
    """Mem0's extraction gave no usable answer for a turn; the turn waits in the outbox."""


class StoreInUse(IndexUnavailable):
    """Another process owns the embedded store."""
