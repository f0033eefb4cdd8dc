"""How many tokens of memory a turn may be given.

Tiers and modifiers are those of the published relevance-gating design; a token is four characters.
"""

from __future__ import annotations

from bmo.recall.classify import Classification
from bmo.settings import Prefer
from bmo.turn import Complexity, Depth

TIERS: dict[Complexity, int] = {
    "trivial": 0,
    "simple": 500,
    "moderate": 2000,
    "complex": 5000,
    "deep": 8000,
}
"""Tokens by complexity."""

CEILING = 10_000
"""More than this is never used well by a model."""

RULES_RESERVE = 500
"""Tokens of a block kept for hard rules, beside the budget and before anything else."""

HISTORY_FACTOR, SPEED_FACTOR, ACCURACY_FACTOR = 1.5, 0.5, 1.5
LONG_CONVERSATION_FACTOR, LONG_CONVERSATION_TURNS = 1.25, 10

CHARACTERS_PER_TOKEN = 4


def prefers_accuracy(kind: Classification, conversation_turns: int, prefer: Prefer) -> bool:
    """Whether a wrong answer costs more than a later one."""
    if prefer == "accuracy":
        return True
    if prefer == "speed":
        return False
    return (
        kind.complexity in ("complex", "deep")
        or kind.intent == "analysis"
        or kind.has_code
        or conversation_turns > LONG_CONVERSATION_TURNS
    )


def token_budget(
    kind: Classification, *, conversation_turns: int, prefer: Prefer, depth: Depth, accuracy: bool
) -> int:
    """Ceiling for injected memory, in tokens.

    Args:
        kind: The turn's classification.
        conversation_turns: User turns of this conversation so far.
        prefer: BMO_PREFER.
        depth: Effective depth: "full" starts from the deepest tier, "minimal" halves.
        accuracy: Result of ``prefers_accuracy``.

    Returns:
        0 to 10,000.
    """
    budget = float(TIERS["deep" if depth == "full" else kind.complexity])
    if kind.references_history:
        budget *= HISTORY_FACTOR
    if conversation_turns > LONG_CONVERSATION_TURNS:
        budget *= LONG_CONVERSATION_FACTOR
    if prefer == "speed" or depth == "minimal":
        budget *= SPEED_FACTOR
    if accuracy and depth != "minimal":
        budget *= ACCURACY_FACTOR
    return min(int(budget), CEILING)


def tokens_of(text: str) -> int:
    """Tokens of ``text``: characters / 4, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)
