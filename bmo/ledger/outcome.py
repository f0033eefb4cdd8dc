"""What became of a turn, while it is being recorded."""

from __future__ import annotations

from dataclasses import dataclass, field

from bmo.ledger.records import Ended, PendingErasure, Receipt, Recorded
from bmo.turn import Fact, StoredFact


@dataclass(slots=True)
class Outcome:
    """Collects what happens to facts; becomes a ``Recorded``."""

    added: list[StoredFact] = field(default_factory=list)
    confirmed: list[StoredFact] = field(default_factory=list)
    restated: list[StoredFact] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    conflicts: list[StoredFact] = field(default_factory=list)
    unmatched: list[Fact] = field(default_factory=list)
    suppressed: list[Fact] = field(default_factory=list)
    forgotten: dict[str, StoredFact] = field(default_factory=dict)
    """What is erased with the turn."""
    topics: list[str] = field(default_factory=list)
    """What was asked to be forgotten, in words."""
    pending: PendingErasure | None = None
    again: bool = False
    """The turn was recorded before: it is reprocessed."""

    def recorded(self, turn_id: str, receipt: Receipt | None = None) -> Recorded:
        """The frozen record of it."""
        return Recorded(
            turn_id=turn_id,
            added=tuple(self.added),
            confirmed=tuple(self.confirmed),
            restated=tuple(self.restated),
            ended=tuple(self.ended),
            conflicts=tuple(self.conflicts),
            pending_erasure=self.pending,
            receipt=receipt,
            unmatched=tuple(self.unmatched),
            suppressed=tuple(self.suppressed),
        )
