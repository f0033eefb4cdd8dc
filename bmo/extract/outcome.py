"""What became of the turns that were to be settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bmo.extract.extractor import Refusal
from bmo.turn import Decision

Status = Literal["settled", "held", "failed"]
"""What became of a turn.

- ``settled``: an extractor answered; the decision allows its facts, or discards.
- ``held``: it answered, and everything it proposed was refused, or the turn may not be shown to a
  model. Asking again soon would say the same.
- ``failed``: nobody gave a usable answer; ask again later.
"""


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What became of one turn.

    Attributes:
        turn_id: The turn.
        status: See ``Status``.
        decision: Ready for the ledger; ``fallback`` is true for a failed one.
        refused: What a model proposed and acceptance refused.
    """

    turn_id: str
    status: Status
    decision: Decision
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """One call to an extractor.

    Attributes:
        extractor: Its name.
        seconds: How long it took.
        input_tokens: Tokens sent.
        output_tokens: Tokens that came back.
        cost: US dollars.
        error: "" when it gave a usable answer.
        turns: Turns it was asked about.
    """

    extractor: str
    seconds: float
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    error: str = ""
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of all turns of one request.

    Attributes:
        outcomes: One a turn, in the order they were given.
        calls: Every call that was made, failed ones too.
        retry_after_s: When something failed: seconds before it is worth asking again.
    """

    outcomes: tuple[TurnOutcome, ...]
    calls: tuple[Call, ...] = ()
    retry_after_s: float | None = None

    @property
    def cost(self) -> float:
        """US dollars of all calls."""
        return sum(call.cost for call in self.calls)

    @property
    def seconds(self) -> float:
        """Seconds of all calls."""
        return sum(call.seconds for call in self.calls)

    @property
    def tokens(self) -> int:
        """Tokens of all calls, both ways."""
        return sum(call.input_tokens + call.output_tokens for call in self.calls)

    @property
    def failed(self) -> bool:
        """Whether a turn failed."""
        return any(outcome.status == "failed" for outcome in self.outcomes)

    @property
    def method(self) -> str:
        """Who answered last, or ""."""
        return next((call.extractor for call in reversed(self.calls) if not call.error), "")

    def outcome(self, turn_id: str) -> TurnOutcome:
        """The outcome of a turn.

        Raises:
            KeyError: It was not among them.
        """
        for outcome in self.outcomes:
            if outcome.turn_id == turn_id:
                return outcome
        raise KeyError(turn_id)
