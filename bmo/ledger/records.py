"""What the ledger hands back: frozen records, no behaviour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from bmo.turn import Fact, Kind, ScoreParts, Signal, StoredFact, Turn, Verdict, Visibility

EndReason = Literal[
    "superseded", "corrected", "contradicted", "past", "retracted", "edited", "merged"
]
"""Why a fact ended.

- ``superseded``: a newer value of a slot that holds one.
- ``corrected``, ``edited``: it was never true.
- ``contradicted``: the opposite was said of the same value.
- ``past``: "used to" (written by versions before).
- ``retracted``: it is over, or was taken back.
- ``merged``: another row says the same, or more.
"""

LAST_RETRY = timedelta(minutes=5)
"""Longest that an outbox entry is put off."""

OutboxOp = Literal["add", "update", "delete", "purge", "raw"]
"""What the index has to do. ``purge`` deletes and removes Mem0's own traces; ``raw`` adds a turn's
words as they are (MEM0_SETTING=NORMAL)."""

HeldResolution = Literal["allowed", "discarded"]

Aim = Literal["held", "polish", "every"]
"""What a model is asked about a turn.

- ``held``: whether the gate should have allowed it.
- ``polish``: a slot and cleaner words for what was allowed as it was said (mode hybrid).
- ``every``: what else it says (mode llm).
"""

NearDuplicates = Callable[[str, str], Sequence[tuple[str, float]]]
"""(user_id, text) -> (fact id, cosine similarity), most similar first."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A fact that is no longer live.

    Attributes:
        fact: The row as it was.
        why: An ``EndReason``, "forgotten" (erased) or "withdrawn" (erasure waits for its word).
    """

    fact: StoredFact
    why: str


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """A wide request to forget that waits to be confirmed; its facts are out of recall already.

    Attributes:
        id: For ``confirm_erasure`` and ``cancel_erasure``.
        user_id: Whose memories.
        scope: The request's scope.
        asked_at: When it was asked for.
        facts: What would be erased.
    """

    id: str
    user_id: str
    scope: str
    asked_at: datetime
    facts: tuple[StoredFact, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an erasure removed from where. It holds counts, never words.

    Attributes:
        id: Id of the erasure.
        user_id: Whose memories.
        scope: "memory", "subject", "period", "all" or "fact".
        at: When it was asked for.
        places: Place -> number of entries removed there.
        complete: False while the index or the vacuum is still to come.
        fact_ids: What was erased, so that it can be erased again from a restored backup; empty for
            all of a user.
        turn_ids: Turns of which no words were left but those of what stays, for the same end.
        stays: Servers that keep deleted bytes until they use their room again ("postgresql",
            "qdrant"); empty where all files are BMO's own.
        days: When the days begin and end of which every word was erased; empty for another scope.
    """

    id: str
    user_id: str
    scope: str
    at: datetime
    places: Mapping[str, int]
    complete: bool
    fact_ids: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    days: tuple[datetime, ...] = ()
    turn_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of a turn in the ledger.

    Attributes:
        turn_id: The turn.
        added: New facts, also those that a newer one had ended already.
        confirmed: Facts that were known already.
        restated: Facts whose text was replaced by a better one, under the same id.
        ended: Facts that are no longer live, with the reason.
        conflicts: Live facts that contradict each other and cannot be ordered.
        pending_erasure: A wide request to forget, to be confirmed.
        receipt: What was erased at once.
        unmatched: Retractions for which nothing was found.
        suppressed: Facts not stored because they were erased after the turn was said.
    """

    turn_id: str
    added: tuple[StoredFact, ...] = ()
    confirmed: tuple[StoredFact, ...] = ()
    restated: tuple[StoredFact, ...] = ()
    ended: tuple[Ended, ...] = ()
    conflicts: tuple[StoredFact, ...] = ()
    pending_erasure: PendingErasure | None = None
    receipt: Receipt | None = None
    unmatched: tuple[Fact, ...] = ()
    suppressed: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A turn and what the gate last said of it.

    Attributes:
        id: The turn's id.
        user_id: Whose it is.
        session_id: Which visit.
        at: When.
        text: The words as they may be kept; "" when they were erased or expired.
        assistant_before: The assistant's words before it.
        assistant_after: The assistant's words after it.
        language: ISO 639-1 code or None.
        confidence: Transcript confidence or None.
        verdict: The latest verdict.
        signals: The latest signals.
        reason: Why.
        rule_id: The rule that decided, or "".
        decision_confidence: 0..1.
        gate_version: Which gate decided.
        fallback: A stage was missing or failed.
        resolution: What was made of a held turn later: "", "allowed" or "discarded".
        extraction_method: How the facts came about; "manual" where a person allowed the turn.
        redacted: Words were taken out; what is left must not be read by a gate again.
        agent_id: Which agent it was said to.
        visibility: Which agents may be given what it tells.
        mode: The gate's mode when it decided, or "" where that was not written down.
    """

    id: str
    user_id: str
    session_id: str
    at: datetime
    text: str
    assistant_before: str
    assistant_after: str
    language: str | None
    confidence: float | None
    verdict: Verdict
    signals: tuple[Signal, ...]
    reason: str
    rule_id: str
    decision_confidence: float
    gate_version: str
    fallback: bool
    resolution: str
    extraction_method: str
    redacted: bool
    agent_id: str
    visibility: Visibility
    mode: str

    @property
    def by_hand(self) -> bool:
        """Whether it is none of the gate's: a person decided on it, or it spoke to memory itself.

        "No" to "shall I erase it?" means nothing without the question.
        """
        return bool(self.resolution) or self.extraction_method in ("manual", "session")


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What became of a turn in the memory.

    Attributes:
        told: Facts the turn stated or confirmed, live or not.
        recalled: Whether memory was asked for when it was said.
        given: Memories that were given to the model for it, in the order of their scores.
    """

    told: tuple[StoredFact, ...] = ()
    recalled: bool = False
    given: tuple[StoredFact, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn that waits for a model.

    Attributes:
        turn: The turn, in the words the ledger may keep.
        aim: What the model is asked.
        promise: The encoder's P(allow), or None when it was not asked.
        attempts: Failures so far.
        next_at: When it is tried again.
        last_error: Why the last try failed, or "".
    """

    turn: Turn
    aim: Aim
    promise: float | None
    attempts: int
    next_at: datetime
    last_error: str


@dataclass(frozen=True, slots=True)
class Why:
    """Where a fact comes from.

    Attributes:
        fact: The fact.
        said: The turns that stated or confirmed it, oldest first.
        replaced: Facts it took the place of, newest first.
        replaced_by: The fact that took its place, or None.
    """

    fact: StoredFact
    said: tuple[LoggedTurn, ...]
    replaced: tuple[StoredFact, ...]
    replaced_by: StoredFact | None


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One thing the index still has to do.

    Attributes:
        id: Row id; lower ids of a fact come first.
        op: What to do.
        user_id: Whose.
        fact_id: The fact, or the turn for ``raw``.
        erasure_id: The erasure a ``purge`` belongs to.
        attempts: Failures so far.
    """

    id: int
    op: OutboxOp
    user_id: str
    fact_id: str
    erasure_id: str | None
    attempts: int


@dataclass(frozen=True, slots=True)
class Written:
    """The entry that the index has of a fact now.

    Attributes:
        fact: As it was written.
        index_id: Mem0's id of the entry.
        collection: The index's, by whose name embedder and size are known.
        vector: The vector where it was made for this entry; None: the ledger has it.
    """

    fact: StoredFact
    index_id: str
    collection: str
    vector: bytes | None

    @property
    def is_news(self) -> bool:
        """Whether the ledger does not have all of it."""
        return self.vector is not None or self.fact.index_id != self.index_id


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in the outbox.

    Attributes:
        depth: Number of entries.
        oldest: When the oldest was put in, or None.
        first_due: When the first of those that were asked for is due, or None.
        last_due: When the last of them is.
    """

    depth: int
    oldest: datetime | None
    first_due: datetime | None
    last_due: datetime | None

    def is_due(self, now: datetime) -> bool:
        """Whether any may be due: also what a clock that went back since put too far ahead."""
        if self.first_due is None or self.last_due is None:
            return False
        return self.first_due <= now or self.last_due > now + LAST_RETRY


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """Whether a memory helped when it was given, and with which score it was given.

    Attributes:
        fact_id: The memory.
        kind: Its kind.
        parts: Its score in parts.
        helpful: Whether it helped.
    """

    fact_id: str
    kind: Kind
    parts: ScoreParts
    helpful: bool


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
