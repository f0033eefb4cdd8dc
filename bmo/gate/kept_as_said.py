"""Turns that are kept as they were said: nothing vouched for them, or a custom rule keeps them."""

from __future__ import annotations

from bmo.gate.custom_rules import CustomMatch
from bmo.gate.verdict import RulesVerdict
from bmo.turn import Fact, Turn


def kept_raw(turn: Turn, reason: str) -> RulesVerdict:
    """The turn as one memory of kind fact; nothing where it has no words.

    Args:
        turn: What was said.
        reason: Why no stage has looked at it, for people.
    """
    text = turn.text.strip()
    if not text:
        return RulesVerdict("discard", ("other",), "empty", 1.0)
    fact = Fact(text=text, category="personal_facts", confidence=0.5, extraction_method="raw")
    return RulesVerdict("allow", ("other",), reason, 0.5, "", (fact,), extraction_method="raw")


def kept_by_custom_rule(turn: Turn, match: CustomMatch) -> RulesVerdict:
    """A custom keep rule's memory: its template, or the turn as it was said."""
    fact = Fact(
        text=match.text or turn.text.strip(),
        category=match.category or "personal_facts",
        rule_id=match.rule_id,
        extraction_method=f"pattern:{match.rule_id}",
    )
    return RulesVerdict("allow", ("other",), match.reason, 0.9, match.rule_id, (fact,))
