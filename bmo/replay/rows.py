"""The rows of a recording: the format ``bmo replay --json`` prints.

JSON lines: a row a turn, then a closing row a scenario. The format has a version, told by the
closing rows (``format``). Fields may be added within a version; one that loses a field or changes
its meaning gets a new number. Rows without ``format`` are version 0, as BMO 0.1.0 wrote them: they
have no contexts, no scores and no times of gate and recall. What each field means is in
``docs/replay.md``, and here where code needs to know more.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from bmo.turn import Verdict

FORMAT_NAME = "bmo-replay"
FORMAT_VERSION = 1
FORMAT = f"{FORMAT_NAME}/{FORMAT_VERSION}"
"""What a closing row says in ``format``."""

Place = tuple[int, int]
"""Number of the visit and of the turn in it, both from 0."""


class Row(BaseModel):
    """What all rows have in common."""

    # What a newer BMO of the same version adds is not looked at.
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Memory(Row):
    text: str
    """The user's words, or a canonical text."""
    asked: str = ""
    """The assistant's words before them."""

    @property
    def told(self) -> str:
        """Everything it tells: the words it answers, and its text."""
        return f"{self.asked} {self.text}".strip()


class StoredRow(_Memory):
    """A memory a turn asserted."""

    category: str
    slot: str | None
    kind: str
    confirmed: bool = False
    """True when it was known before and only said again."""
    subject: str = "user"
    rule: str = ""
    """The rule that wrote it, or ""."""
    extraction_method: str = ""
    """What wrote it: ``pattern:<rule>``, ``judge:<version>``, ``gemini:<model>`` ..."""


class EndedRow(Row):
    """A memory a turn ended."""

    text: str
    why: str
    """superseded, corrected, retracted, forgotten ..."""
    replaced_by: str = ""
    """Text of the memory that took its place, or ""."""
    said: Place | None = None
    """The turn it came from: [session, turn], or null."""


class ScoredRow(_Memory):
    """A memory that was considered for a turn."""

    asked: str = Field(default="", exclude=True)
    """The assistant's words before it; not written down."""
    why: str
    """slot, search, hard_rule, profile, or why it was left out."""
    score: float
    parts: dict[str, float] = {}
    """The score in parts that add up: semantic, recency, domain, usage, kind."""
    said: Place | None = None
    """The turn it came from: [session, turn], or null."""


class RecallRow(Row):
    """What the read gate did for a turn."""

    triggered: bool
    trigger: str
    """Why, or why not."""
    memories: tuple[str, ...]
    """The lines given to the model, in order."""
    selected: tuple[ScoredRow, ...] = ()
    left_out: tuple[ScoredRow, ...] = ()
    context: str | None = None
    """The block the model got ("" for none); null in version 0."""
    tokens: int = 0
    budget_tokens: int = 0
    elapsed_ms: float | None = None
    """Milliseconds from plan to block; null when no recall ran."""
    fallback: bool = False


class TurnRow(Row):
    """One turn as it went."""

    scenario: str
    session: int
    turn: int
    user: str
    verdict: Verdict | None
    """allow, hold, discard; null when the turn never reached the gate."""
    signals: tuple[str, ...]
    reason: str
    rule: str = ""
    confidence: float | None = None
    stored: tuple[StoredRow, ...]
    ended: tuple[EndedRow, ...]
    recall: RecallRow
    profile: tuple[str, ...] | None
    """Texts of the profile; only on a visit's first turn."""
    mismatches: tuple[str, ...]
    hook_ms: float
    """Milliseconds LiveKit measured in the hook."""
    at: str | None = None
    """When it was said, ISO 8601, in the scenario's time."""
    written: str | None = None
    """The words as they may be written down, where that differs: secrets are masked."""
    assistant: str = ""
    """The assistant's words after it, secrets masked."""
    extraction_method: str = ""
    """What decided: ``pattern``, ``judge:<version>``, ``raw`` ..."""
    gate_version: str = ""
    fallback: bool = False
    gate_ms: float | None = None
    profile_context: str | None = None
    """The profile as the model got it; only on a visit's first turn."""
    profile_told: tuple[str, ...] | None = Field(default=None, exclude=True)
    """Everything that the memories of the profile tell; not written down."""

    @property
    def words(self) -> str:
        """What the person said, as it may be shown."""
        return self.user if self.written is None else self.written


class ScenarioRow(Row):
    """How a scenario ended."""

    scenario: str
    live: tuple[str, ...]
    told: tuple[str, ...] = Field(default=(), exclude=True)
    """Everything that these tell; not written down."""
    mismatches: tuple[str, ...]
    format: str = f"{FORMAT_NAME}/0"
    """Name and version of the format."""
    about: str = ""
    language: str = ""
    mode: str = ""
    """What it was played with: GATEKEEPER_MODE, or ``normal`` without gates."""
    elapsed_s: float | None = None


@dataclass(frozen=True, slots=True)
class RecordedScenario:
    """One scenario as it was written down."""

    turns: tuple[TurnRow, ...]
    end: ScenarioRow

    @property
    def id(self) -> str:
        """The scenario's id."""
        return self.end.scenario

    @property
    def version(self) -> int:
        """Version of the format it is written in."""
        return int(self.end.format.rpartition("/")[2])

    @property
    def all_mismatches(self) -> tuple[str, ...]:
        """Every difference from what the scenario says, with where it was."""
        per_turn = (
            f"session {turn.session}, turn {turn.turn} ({turn.words[:48]!r}): {mismatch}"
            for turn in self.turns
            for mismatch in turn.mismatches
        )
        return (*per_turn, *(f"at the end: {mismatch}" for mismatch in self.end.mismatches))

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return not self.all_mismatches
