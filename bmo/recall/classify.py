"""What kind of request a turn is: complexity, intent, history. Rules only, no model.

The classes and their meaning are those of the published relevance-gating design.
"""

from __future__ import annotations

from dataclasses import dataclass

from bmo.recall.cues import Cues
from bmo.turn import Complexity, Intent

_SIMPLE_WORDS = 14
_MODERATE_WORDS = 36
_COMPLEX_WORDS = 70


@dataclass(frozen=True, slots=True)
class Classification:
    """What a turn asks for.

    Attributes:
        complexity: Size class; it sets the budget.
        intent: Kind of answer wanted.
        references_history: "as we discussed", "remember when", "last time".
        has_code: Talks about code, where accuracy matters.
    """

    complexity: Complexity
    intent: Intent
    references_history: bool
    has_code: bool


def classify(cues: Cues, text: str, *, trivial: bool = False) -> Classification:
    """Classifies one turn.

    Args:
        cues: What the turn says in so many words.
        text: The turn as it was said.
        trivial: Nothing but small talk.
    """
    has_code = "```" in text or "code" in cues.seen
    return Classification(
        complexity=_complexity(cues, has_code, trivial),
        intent=_intent(cues),
        references_history="history" in cues.seen or "prompt" in cues.seen,
        has_code=has_code,
    )


def _complexity(cues: Cues, has_code: bool, trivial: bool) -> Complexity:
    count = len(cues.text.split())
    if trivial or count == 0:
        return "trivial"
    if "deep" in cues.seen:
        return "deep" if count > 8 else "complex"
    if "analysis" in cues.seen or count > _COMPLEX_WORDS:
        return "complex"
    if "generation" in cues.seen or has_code or count > _MODERATE_WORDS:
        return "moderate"
    return "simple" if count <= _SIMPLE_WORDS or cues.asks else "moderate"


def _intent(cues: Cues) -> Intent:
    if cues.seen & {"analysis", "deep"}:
        return "analysis"
    if "generation" in cues.seen:
        return "generation"
    if "continuation" in cues.seen:
        return "continuation"
    return "question" if cues.asks else "discussion"
