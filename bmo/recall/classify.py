"""What kind of request a turn is: complexity, intent, history, topics. Rules only, no model.

The classes and their meaning are those of the published relevance-gating design (trivial, simple,
moderate, complex, deep; question, generation, analysis, discussion, continuation).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from bmo.recall.lexer import Words
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


def classify(words: Words, text: str) -> Classification:
    """Classifies one turn.

    Args:
        words: The turn, read by its language's lexer.
        text: The turn as it was said.
    """
    classes = words.classes
    has_code = "```" in text or "codeword" in classes
    return Classification(
        complexity=_complexity(words, has_code),
        intent=_intent(words),
        references_history=_references_history(words),
        has_code=has_code,
    )


def _complexity(words: Words, has_code: bool) -> Complexity:
    count, classes = len(words.words), words.classes
    if count == 0 or words.smalltalk_only:
        return "trivial"
    if "deepword" in classes:
        return "deep" if count > 8 else "complex"
    if "analysis" in classes:
        return "complex"
    if count > _COMPLEX_WORDS:
        return "complex"
    if "generation" in classes or has_code or count > _MODERATE_WORDS:
        return "moderate"
    if count <= _SIMPLE_WORDS or words.asked or "q" in classes:
        return "simple"
    return "moderate"


def _intent(words: Words) -> Intent:
    classes = words.classes
    if "analysis" in classes or "deepword" in classes:
        return "analysis"
    if ("generation" in classes and not _asks_for_make(words)) or "suggest" in classes:
        return "generation"
    if "continue" in classes:
        return "continuation"
    if words.asked or "q" in classes:
        return "question"
    return "discussion"


def _asks_for_make(words: Words) -> bool:
    """Whether "make" or "design" is the thing asked for ("what make are my binoculars")."""
    return any(
        before in ("what", "which") and word in ("make", "design", "build")
        for before, word in pairwise(words.words)
    )


def _references_history(words: Words) -> bool:
    return "history" in words.classes or "talked" in words.classes
