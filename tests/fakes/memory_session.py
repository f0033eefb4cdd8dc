"""A memory session that writes down what it is asked, for tests of the LiveKit glue.

It speaks ``bmo.memory.MemorySession``'s protocol. ``fault`` makes it raise, hang or return rubbish
at one of its doors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, cast

from bmo.memory import MemorySession
from bmo.settings import Settings
from bmo.turn import (
    Decision,
    Recall,
    RecalledMemory,
    RecallPlan,
    ScoreParts,
    StoredFact,
    Turn,
)

Fault = Literal["raise", "hang", "rubbish"]


def stored_fact(text: str, **changes: Any) -> StoredFact:
    """A ledger row with this canonical text."""
    row: dict[str, Any] = {
        "id": "0" * 32,
        "user_id": "glenn",
        "subject": "user",
        "slot": None,
        "value": "",
        "text": text,
        "category": "personal_facts",
        "kind": "fact",
        "cardinality": "many",
        "polarity": "positive",
        "confidence": 0.9,
        "valid_from": datetime(2026, 3, 1, tzinfo=UTC),
    }
    return StoredFact(**{**row, **changes})


def recall_of(*texts: str, trigger: str = "own_fact_question") -> Recall:
    """A recall that found these memories."""
    memories = tuple(
        RecalledMemory(stored_fact(text), 1.0, ScoreParts(semantic=1.0), "slot") for text in texts
    )
    block = "Known about the user:\n" + "\n".join(f"- {text}" for text in texts) if texts else ""
    return Recall(plan=RecallPlan(recall=True, trigger=trigger), memories=memories, context=block)


@dataclass
class FakeService:
    """The part of MemoryService that the agent reads."""

    settings: Settings


@dataclass(eq=False)
class FakeMemorySession:
    """Notes every call.

    Attributes:
        known: Words in a turn -> memories recalled for it.
        profile_texts: Memories of the profile.
        faults: Door ("submit_turn", "recall", "profile", "prefetch", "note_reply", "flush") ->
            how it fails.
    """

    settings: Settings = field(default_factory=Settings.model_construct)
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    profile_texts: tuple[str, ...] = ()
    faults: Mapping[str, Fault] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    recalls: list[str] = field(default_factory=list)
    prefetched: list[str] = field(default_factory=list)
    replies: list[tuple[str, str]] = field(default_factory=list)
    flushes: int = 0
    user_id: str = "glenn"
    session_id: str = "visit"
    off_record: bool = False
    profile_version: int = 0
    participant: str | None = None
    shared_by_agents: object | None = None
    is_open: bool = True

    @property
    def service(self) -> FakeService:
        return FakeService(self.settings)

    @property
    def texts(self) -> list[str]:
        """Words of every gated turn, in order."""
        return [turn.text for turn in self.turns]

    def as_session(self) -> MemorySession:
        """Itself, typed as what it stands for."""
        return cast(MemorySession, self)

    def clock(self) -> datetime:
        return datetime(2026, 3, 1, 9, tzinfo=UTC)

    def submit_turn(self, turn: Turn) -> asyncio.Task[Decision]:
        self.turns.append(turn)
        if self.faults.get("submit_turn") == "rubbish":
            return cast("asyncio.Task[Decision]", object())
        if self.faults.get("submit_turn") == "raise":
            raise RuntimeError("gate is broken")
        return asyncio.ensure_future(self._decide())

    async def on_turn(self, turn: Turn) -> Decision:
        return await self.submit_turn(turn)

    async def _decide(self) -> Decision:
        if self.faults.get("submit_turn") == "hang":
            await asyncio.Event().wait()
        return Decision(verdict="discard", signals=("other",), reason="fake", confidence=1.0)

    async def recorded(self, turn_id: str) -> None:
        return None

    async def recall(self, turn: Turn) -> Recall:
        self.recalls.append(turn.text)
        await self._fault("recall")
        if self.faults.get("recall") == "rubbish":
            return cast(Recall, "rubbish")
        for words, texts in self.known.items():
            if words in turn.text:
                return recall_of(*texts)
        return Recall(plan=RecallPlan(recall=False, trigger="statement"))

    async def notice(self, turn: Turn) -> str:
        return ""

    def may_ask_back(self, turn: Turn) -> bool:
        return False

    async def with_owed_notice(self, turn_id: str, recall: Recall) -> Recall:
        return recall

    async def profile(self) -> Recall:
        await self._fault("profile")
        if self.faults.get("profile") == "rubbish":
            return cast(Recall, 42)
        if not self.profile_texts:
            return Recall(plan=RecallPlan(recall=False, trigger="profile"))
        return recall_of(*self.profile_texts, trigger="profile")

    def prefetch(self, interim_text: str) -> None:
        self.prefetched.append(interim_text)
        if "prefetch" in self.faults:
            raise RuntimeError("prefetch is broken")

    def note_reply(self, turn_id: str, text: str) -> None:
        self.replies.append((turn_id, text))
        if "note_reply" in self.faults:
            raise RuntimeError("note_reply is broken")

    async def flush(self) -> None:
        self.flushes += 1
        await self._fault("flush")

    async def aclose(self) -> None:
        await self.flush()

    async def _fault(self, door: str) -> None:
        fault = self.faults.get(door)
        if fault == "raise":
            raise RuntimeError(f"{door} is broken")
        if fault == "hang":
            await asyncio.Event().wait()
