"""What an extractor is: turns in, facts that may be stored out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bmo.turn import Category, Fact, Turn

RefusalReason = Literal[
    "quote",
    "question",
    "factuality",
    "sensitive",
    "injection",
    "grounding",
    "polarity",
    "unread",
    "scope",
    "echo",
]
"""Why something a model proposed is not stored.

- ``quote``: its quote is not in the user's own words, or has no word of meaning in it.
- ``question``: the quoted words ask, or order something.
- ``factuality``: the quoted words are a condition, a wish, a hedge, somebody else's, a joke.
- ``sensitive``: it holds a secret, or an identifier that the policy drops.
- ``injection``: it tries to steer the assistant.
- ``grounding``: it says more than the user's words do.
- ``polarity``: it affirms what the user denied, or the other way round.
- ``unread``: the gate cannot put it in canonical words.
- ``scope``: it would end or erase more than one thing; a model never does that.
- ``echo``: it repeats a memory that was given to the assistant in this visit.
"""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the turns that are to be settled.

    Attributes:
        subjects: Lower-case name -> subject ("sam" -> "user.brother:sam").
        facts: Live facts of the user, for the rules' dialogue context. No model is shown them.
        neighbours: Other turns of the same visit: read for understanding, never a source.
        injected: Texts of memories that were put before the assistant's model in this visit.
    """

    subjects: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    neighbours: tuple[Turn, ...] = ()
    injected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact as a model proposes it; nothing of it is trusted.

    Attributes:
        turn_id: The turn it should come from.
        quote: The user's own words that carry it.
        statement: The fact as a plain first-person English sentence.
        category: Where it belongs, by the model's word.
        confidence: 0..1, by the model's word.
    """

    turn_id: str
    quote: str
    statement: str
    category: Category
    confidence: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """A candidate that is not stored, and why."""

    candidate: Candidate
    why: RefusalReason


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor made of some turns.

    Attributes:
        facts: Turn id -> its facts; a turn that holds nothing maps to (); a turn the extractor
            did not speak of is missing.
        method: "pattern", "gemini:<model>", "ollama:<model>".
        cost: What it cost, in US dollars.
        elapsed_ms: How long it took, in milliseconds.
        refused: Turn id -> what a model proposed and acceptance refused.
        conclusive: Whether "nothing" is an answer. The rules' silence is none.
        input_tokens: Tokens that were sent.
        output_tokens: Tokens that came back.
    """

    facts: Mapping[str, tuple[Fact, ...]]
    method: str
    cost: float = 0.0
    elapsed_ms: float = 0.0
    refused: Mapping[str, tuple[Refusal, ...]] = field(default_factory=dict)
    conclusive: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


class Extractor(Protocol):
    """Turns turns into facts that may be stored.

    Attributes:
        name: "pattern", "gemini:<model>", "ollama:<model>"; the ledger's extraction method.
        cost: Expected cost of a call, in US dollars; the orchestrator's order.
        estimated_latency_ms: Expected duration of a call, in milliseconds.
        metered: Whether its calls count against the hourly budget.
    """

    @property
    def name(self) -> str:
        """See above."""

    @property
    def cost(self) -> float:
        """See above."""

    @property
    def estimated_latency_ms(self) -> float:
        """See above."""

    @property
    def metered(self) -> bool:
        """See above."""

    def is_available(self) -> bool:
        """Whether a call may succeed now (key present, server up)."""

    def warm_up(self) -> None:
        """Loads its libraries, so that no first call does; sends nothing."""

    def extract(self, turns: Sequence[Turn], known: Known) -> Extraction:
        """Extracts the facts of some turns of one user.

        Args:
            turns: Turns of one visit, oldest first.
            known: What is known beside them.

        Raises:
            ExtractionFailed: The answer was missing, late or malformed.
        """

    def close(self) -> None:
        """Gives its connections back. Safe to call twice, and from another thread."""


class ExtractionFailed(RuntimeError):
    """An extractor gave no usable answer; the message says why.

    Attributes:
        retry_after_s: Seconds the service asks to be left alone, or None.
        lasting: True when asking again cannot help before somebody acts (wrong key, no such
            model); the message then names the fix.
        content: True when the service answered and what it said is unusable: other turns, or
            fewer, may fare better.
        input_tokens: Tokens that were spent all the same.
        output_tokens: Tokens that were spent all the same.
        cost: US dollars that were spent all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        lasting: bool = False,
        content: bool = False,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cost: float = 0.0,
    ) -> None:
        """See the class."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.lasting = lasting
        self.content = content
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        self.cost = cost
