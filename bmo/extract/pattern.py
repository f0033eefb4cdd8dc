"""The pattern extractor: the write gate's own facts, for nothing and at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bmo.extract.extractor import Extraction, Known
from bmo.turn import DialogueContext, Fact, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate


class PatternExtractor:
    """Facts by the rules of the write gate.

    Attributes:
        name: "pattern".
        cost: 0 US dollars.
        estimated_latency_ms: What the rules take for a turn.
        metered: Rules are free.
    """

    name = "pattern"
    cost = 0.0
    estimated_latency_ms = 0.1
    metered = False

    def __init__(self, gate: WriteGate) -> None:
        """Extracts with this gate."""
        self._gate = gate

    def is_available(self) -> bool:
        """Rules are always there."""
        return True

    def warm_up(self) -> None:
        """The gate is loaded."""

    def close(self) -> None:
        """Holds nothing."""

    def extract(self, turns: Sequence[Turn], known: Known) -> Extraction:
        """Runs the rules over each turn, with the facts of the turns before it as context."""
        started = time.perf_counter()
        facts: dict[str, tuple[Fact, ...]] = {}
        recent: tuple[Fact, ...] = ()
        for turn in turns:
            context = DialogueContext(
                recent_facts=recent, subjects=known.subjects, known=known.facts
            )
            decision = self._gate.decide_by_rules(turn, context)
            facts[turn.id] = decision.facts if decision.verdict == "allow" else ()
            recent = (*reversed(facts[turn.id]), *recent)[:12]
        return Extraction(
            facts=facts, method=self.name, elapsed_ms=(time.perf_counter() - started) * 1000
        )
