"""The ledger: what was said, what was decided, what is true, and what must be forgotten.

SQLAlchemy Core on SQLite or PostgreSQL; the truth of which the index is a copy.
"""

from bmo.ledger.errors import LedgerUnavailable
from bmo.ledger.exchange import LONGEST_TEXT, ExchangeError, Imported
from bmo.ledger.facts import as_fact
from bmo.ledger.inspection import Inspection, inspect_ledger
from bmo.ledger.ledger import Ledger
from bmo.ledger.recall_log import words_used
from bmo.ledger.records import (
    Aim,
    Backlog,
    Ended,
    EndReason,
    HeldResolution,
    JudgedItem,
    LoggedTurn,
    NearDuplicates,
    OutboxItem,
    OutboxOp,
    PendingErasure,
    Receipt,
    Recorded,
    TurnOutcome,
    WaitingTurn,
    Why,
)
from bmo.ledger.restating import Restated
from bmo.ledger.versions import Version

__all__ = [
    "LONGEST_TEXT",
    "Aim",
    "Backlog",
    "EndReason",
    "Ended",
    "ExchangeError",
    "HeldResolution",
    "Imported",
    "Inspection",
    "JudgedItem",
    "Ledger",
    "LedgerUnavailable",
    "LoggedTurn",
    "NearDuplicates",
    "OutboxItem",
    "OutboxOp",
    "PendingErasure",
    "Receipt",
    "Recorded",
    "Restated",
    "TurnOutcome",
    "Version",
    "WaitingTurn",
    "Why",
    "as_fact",
    "inspect_ledger",
    "words_used",
]
