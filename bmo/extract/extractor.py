"""What an extractor is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bmo.turn import Fact, Turn


@dataclass(frozen=True, slots=True)
class Known:
    """What is known already, so that an extractor can tell news from repetition.

    Attributes:
        subjects: Lower-case name -> subject ("sam" -> "user.brother:sam").
        facts: Live facts of the user.
    """

    subjects: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor made of some turns.

    Attributes:
        facts: Turn id -> its facts; a turn that holds nothing maps to ().
        method: "pattern", "gemini:<model>", "ollama:<model>".
        cost: What it cost, in US dollars.
        elapsed_ms: How long it took, in milliseconds.
    """

    facts: Mapping[str, tuple[Fact, ...]]
    method: str
    cost: float = 0.0
    elapsed_ms: float = 0.0


class Extractor(Protocol):
    """Turns turns into facts.

    Attributes:
        name: Short name for logs and the ledger.
        cost: Expected cost of a call, in US dollars; the orchestrator's order.
        estimated_latency_ms: Expected duration of a call, in milliseconds.
    """

    name: str
    cost: float
    estimated_latency_ms: float

    def is_available(self) -> bool:
        """Whether a call may succeed now (key present, server up, budget left)."""
        ...

    def extract(self, turns: Sequence[Turn], known: Known) -> Extraction:
        """Extracts the facts of some turns of one user.

        Args:
            turns: Consecutive turns of one visit, oldest first.
            known: What is known of the user.

        Raises:
            ExtractionFailed: The answer was missing, late or malformed.
        """
        ...


class ExtractionFailed(RuntimeError):
    """An extractor gave no usable answer; the message says why."""
