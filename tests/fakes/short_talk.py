"""A talk of a few turns before a write gate, without a session around it."""

from __future__ import annotations

from bmo.gate import WriteGate
from bmo.turn import Decision, DialogueContext, Fact, Turn


def decided(gate: WriteGate, *said: str, before: str = "") -> Decision:
    """The gate's word on the last of some turns in one conversation."""
    facts: list[Fact] = []
    turns: list[tuple[str, str]] = []
    for text in said[:-1]:
        context = DialogueContext(recent_facts=tuple(facts), recent_turns=tuple(turns))
        decision = gate.decide(Turn(text=text), context)
        facts = [*decision.facts, *facts]
        turns.insert(0, (text, ""))
    context = DialogueContext(recent_facts=tuple(facts), recent_turns=tuple(turns))
    return gate.decide(Turn(text=said[-1], assistant_before=before), context)
