"""What can go wrong with the ledger as a whole."""

from __future__ import annotations


class LedgerUnavailable(RuntimeError):
    """The ledger cannot be opened; the message is one sentence that names the fix."""
