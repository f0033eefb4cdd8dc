"""Where a question begins behind its condition: "if she comes | what can she eat"."""

from __future__ import annotations

CONDITIONS = frozenset({"if", "when", "whenever", "suppose", "supposing", "say"})
"""Words a condition begins with."""

_ASKED_OF = frozenset({"i", "we", "he", "she", "they"})
"""Subjects that follow no verb but an inverted one."""

_PERHAPS_OBJECTS = frozenset({"it", "you", "anybody", "anyone", "somebody", "someone", "there"})
_MODALS = frozenset({"can", "could", "will", "would", "should", "shall", "may", "might", "must"})
_DO = frozenset({"do", "does", "did"})
_BE = frozenset({"is", "are", "am", "was", "were"})
_ASKING = frozenset({"what", "which", "who", "whose", "where", "how"})
_INFINITIVES = frozenset(
    "count cost have help hurt look make matter mean need say seem sound take work".split()
)
"""What follows "does it" where that asks; "does it again" tells."""

ASKING_WORDS = _MODALS | _DO | _BE | _ASKING
"""Words a question may begin with."""


def asks_behind_condition(norm: list[str], i: int) -> bool:
    """Whether a question begins at word ``i``, which stands in a condition.

    Args:
        norm: Words of the turn in normal form.
        i: Index of one of ``ASKING_WORDS``.
    """
    word, follow, *_ = (*norm[i : i + 2], "", "")
    if word in _ASKING:
        return _inverted_from(norm, i + 1) or (word == "which" and follow == "of")
    if word in _MODALS:
        return follow in _ASKED_OF or follow in _PERHAPS_OBJECTS
    behind = norm[i + 2] if i + 2 < len(norm) else ""
    if follow in _ASKED_OF:
        return behind != ""
    if word in _DO:
        return follow in _PERHAPS_OBJECTS and behind in _INFINITIVES
    return follow in _PERHAPS_OBJECTS and behind != "" and follow != "it"


def _inverted_from(norm: list[str], start: int) -> bool:
    """Whether an auxiliary stands before its subject within four words: "shoes do they"."""
    auxiliaries = _MODALS | _DO | _BE
    return any(
        norm[j] in auxiliaries and norm[j + 1] in _ASKED_OF
        for j in range(start, min(start + 4, len(norm) - 1))
    )
