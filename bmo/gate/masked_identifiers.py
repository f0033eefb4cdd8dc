"""Facts that would hold a masked identifier: under ``BMO_SENSITIVE=drop`` none of them is kept."""

from __future__ import annotations

from bmo.gate import sensitive
from bmo.gate.verdict import RulesVerdict
from bmo.turn import Fact

MASKED_REASON = "personal identifier"
"""Why a turn is discarded of which every fact would hold one."""


def without_masks(facts: tuple[Fact, ...], text: str) -> tuple[Fact, ...]:
    """The facts without those that would hold a masked identifier.

    Args:
        facts: What was read in a turn.
        text: Its words, identifiers masked.
    """
    return tuple(fact for fact in facts if not _holds_mask(fact, text))


def without_identifiers(verdict: RulesVerdict, text: str) -> RulesVerdict:
    """The rules' verdict without such facts; a turn that has no others is discarded."""
    facts = without_masks(verdict.facts, text)
    if len(facts) == len(verdict.facts):
        return verdict
    if facts:
        return verdict._replace(facts=facts)
    return verdict._replace(
        verdict="discard",
        facts=(),
        reason=MASKED_REASON,
        open=False,
        signals=("sensitive", *verdict.signals),
    )


def _holds_mask(fact: Fact, text: str) -> bool:
    """Whether a fact, or the words of ``text`` it was made of, hold a masked identifier."""
    if "[" in fact.text:
        return True
    first, last = fact.span or (0, len(text))
    return sensitive.holds_mask(text, first, last)
