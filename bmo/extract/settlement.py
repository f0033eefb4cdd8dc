"""What comes of asking a model: refusals, calls, and one outcome a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bmo.turn import Decision, StoredFact, Turn

RefusalReason = Literal[
    "quote",  # it is not in the user's own words, or has no word of meaning in it
    "question",  # the quoted words ask
    "factuality",  # the turn is put-on praise
    "sensitive",  # it holds a secret, or an identifier that the policy keeps out
    "injection",  # it tries to steer the assistant
    "grounding",  # a name, number or relation that was not said, or too many other words
    "polarity",  # it affirms what the user denied, or the other way round
    "time",  # a time that was not said, or what was as if it were still so
    "doubt",  # what was hoped or doubted as if it were so
    "unread",  # it is no plain English sentence in the third person
    "scope",  # it orders to forget; a model never does that
    "echo",  # it repeats a memory that was given to the assistant in this visit
]
"""Why something a model proposed is not stored."""

Status = Literal["settled", "held", "failed"]
"""What became of a turn.

- ``settled``: a model answered; the decision allows its facts, or discards.
- ``held``: everything it proposed was refused, or the turn may not be shown to a model. Asking
  again soon would say the same.
- ``failed``: nobody gave a usable answer; ask again later.
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the turns that are to be settled.

    Attributes:
        subjects: Lower-case name -> subject ("sam" -> "user.brother:sam").
        neighbours: Other turns of the same visit: read for understanding, never a source.
        injected: Texts of memories that were put before the assistant's model in this visit.
        candidates: Turn id -> older live memories that the turn may end, nearest first.
    """

    subjects: Mapping[str, str] = field(default_factory=dict)
    neighbours: tuple[Turn, ...] = ()
    injected: tuple[str, ...] = ()
    candidates: Mapping[str, tuple[StoredFact, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text that a model proposed and that is not stored, and why."""

    statement: str
    why: RefusalReason


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """What became of one turn: a decision for the ledger, and what was proposed and is not stored.

    ``whole``: the decision's facts say all that the turn does, and may stand in the place of its
    words.
    """

    turn_id: str
    status: Status
    decision: Decision
    refused: tuple[Refusal, ...] = ()
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One call to a model: US dollars in ``cost``, "" in ``error`` for a usable answer."""

    extractor: str
    seconds: float
    input_tokens: int
    output_tokens: int
    cost: float
    error: str
    turns: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of all turns of one request, in their order, and every call that was made."""

    outcomes: tuple[TurnOutcome, ...]
    calls: tuple[Call, ...] = ()

    @property
    def cost(self) -> float:
        """US dollars of all calls."""
        return sum(call.cost for call in self.calls)
