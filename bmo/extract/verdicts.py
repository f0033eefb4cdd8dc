"""Decisions about held turns, as the ledger takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bmo.turn import CATEGORY_SIGNALS, Decision, Fact, Signal, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate

NOTHING = 0.7
"""How much a model's "nothing to keep" counts."""


def settled(turn: Turn, gate: WriteGate, facts: Sequence[Fact], method: str) -> Decision:
    """A turn that an extractor answered for: allowed with facts, or discarded without."""
    if not facts:
        return Decision(
            verdict="discard",
            signals=("other",),
            reason="a model found nothing to keep",
            confidence=NOTHING,
            gate_version=gate.version,
            extraction_method=method,
            text=turn.text,
        )
    signals: list[Signal] = ["correction"] if any(f.op == "correct" for f in facts) else []
    signals += [
        signal for fact in facts if (signal := CATEGORY_SIGNALS[fact.category]) not in signals
    ]
    return Decision(
        verdict="allow",
        signals=tuple(dict.fromkeys(signals)),
        reason="found by a model" if method != "pattern" else "found by the rules",
        confidence=max(fact.confidence for fact in facts),
        facts=tuple(facts),
        gate_version=gate.version,
        extraction_method=method,
        text=turn.text,
    )


def held(turn: Turn, gate: WriteGate, reason: str) -> Decision:
    """A turn that stays held although it was looked at."""
    return _hold(turn, gate, reason, fallback=False)


def failed(turn: Turn, gate: WriteGate, reason: str) -> Decision:
    """A turn that stays held because nobody gave a usable answer."""
    return _hold(turn, gate, f"model failed: {reason}", fallback=True)


def _hold(turn: Turn, gate: WriteGate, reason: str, *, fallback: bool) -> Decision:
    return Decision(
        verdict="hold",
        signals=("injection",) if reason == "injection" else ("other",),
        reason=reason,
        confidence=0.5,
        gate_version=gate.version,
        fallback=fallback,
        open=fallback,
        text=turn.text,
    )
