"""The ledger: what was said, what was decided, what is true, and what must be forgotten.

SQLAlchemy Core on SQLite or PostgreSQL; the truth of which the index is a copy.
"""

from bmo.ledger.database import LedgerUnavailable
from bmo.ledger.engine import Inspection, inspect_ledger
from bmo.ledger.exchange import LONGEST_TEXT, ExchangeError, Imported, check_turn
from bmo.ledger.fact_writing import Version
from bmo.ledger.ledger import Ledger
from bmo.ledger.recall_log import words_used
from bmo.ledger.records import (
    Aim,
    Backlog,
    Ended,
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
    Written,
)
from bmo.ledger.restating import Restated

__all__ = [
    "LONGEST_TEXT",
    "Aim",
    "Backlog",
    "Ended",
    "ExchangeError",
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
    "Written",
    "check_turn",
    "inspect_ledger",
    "words_used",
]
