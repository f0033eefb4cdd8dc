"""What rules take for a command and may be told for good: an aim, a standing wish."""

from __future__ import annotations

import re

from bmo.gate.judge_memories import Asked, open_memories
from bmo.gate.open_category import is_standing
from bmo.gate.open_lexicon import open_lexicon
from bmo.gate.open_wishes import is_order
from bmo.turn import Decision, Fact

REQUESTED = 0.93
"""P(allow) from which a wish for something here and now ("i need a car for march") is kept."""

_WISH = re.compile(
    r"\W*(?:(?:so|well|um|uh|oh|and|yeah) )*"
    r"i(?: would|['’]?d) (?:really )?(?:like|love) to \w|"
    r"\W*(?:(?:so|well|um|uh|oh|and|yeah) )*i (?:really |still )?(?:want|need) \w|"
    r"\W*(?:(?:so|well|um|uh|oh|and|yeah) )*i(?: am|['’]?m) (?:still )?trying to \w",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:do not|don['’]?t|never|always)(?: ever)? \w+.*\b(?:me|us|my)\b", re.IGNORECASE
)
_AIMS = ("Would like", "Would love", "Wants", "Needs", "Is trying")
"""How the memory of such a wish begins, when none of its words were lost."""


def _some_day() -> frozenset[str]:
    """Words with which a wish asks for nothing now ("one day")."""
    return open_lexicon().some_day


def told_for_good(rules: Decision) -> bool:
    """Whether rules read a command in words that may tell an aim or a wish that holds."""
    return rules.reason == "command" and (
        _WISH.match(rules.text) is not None or _ORDER.search(rules.text) is not None
    )


def memories_of_command(rules: Decision, asked: Asked) -> list[Fact]:
    """The aim or the standing wish in a "command", where the judge is very sure; or [].

    Args:
        rules: The rules' decision, ``told_for_good``.
        asked: The judge and the turn.
    """
    some_day = any(f" {words} " in f" {rules.text.lower().strip('.!')} " for words in _some_day())
    needed = asked.thresholds.allow if some_day else REQUESTED
    if asked.analysis.language != "en" or asked.whole.allow < needed:
        return []
    return _aim(asked) if _WISH.match(rules.text) else _standing(asked)


def _aim(asked: Asked) -> list[Fact]:
    """As in "i would like to have children"."""
    clauses = [c for c in asked.analysis.clauses if not c.vetoes]
    if any(clause.speech_act == "question" for clause in clauses):
        return []
    memories = open_memories(asked, clauses, 0.0)
    return memories if memories and memories[0].text.startswith(_AIMS) else []


def _standing(asked: Asked) -> list[Fact]:
    """As in "dont read me the news when im driving"."""
    orders = [
        clause
        for clause in asked.analysis.clauses
        if is_order(clause.norm) and set(clause.vetoes) <= {"conditional"}
    ]
    return [fact for fact in open_memories(asked, orders, 0.0) if is_standing(fact.text)]
