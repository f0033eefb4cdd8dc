"""Whether a turn could be a wish to forget: a glance at its words, before any rule is asked.

Cheap enough for an event loop, and never narrower than the rules: every verb that opens a request
to forget is here (``speech_acts.toml``, ``forget``; ``tests/unit/gate/test_forget_words.py``
compares).
"""

from __future__ import annotations

import re

_STEMS = (
    # English
    "forg[eo]t",
    "delet",
    "eras",
    "remov",
    r"wip(?:e|ing)",
    "scrap",
    "drop",
    "unlearn",
    r"los(?:e|ing)\b",
    "strike",
    "ignore",
    r"let\W+go",
    "scratch",
    r"clear\W+(?:everything|what|all)",
    r"take\W+back",
    # German
    "vergiss",
    "vergess",
    "l(?:ö|oe|o)sch",
    "streich",
    r"du\W+kannst",
    # French
    "oubli",
    "effac",
    "supprim",
    # Spanish
    "olv[ií]d",
    "borr[aáe]",
    "elimin",
)
_REFUSES = (
    r"(?:not|n['’]?t|never|stop|no)\W+(?:(?:want|need|have)\W+)?(?:you\W+)?(?:to\W+)?"
    r"(?:remember|keep|stor|sav|writ|note|record|log)"
)
"""Also inside a word ("dont keep that")."""

_FORGETS = re.compile("|".join((_REFUSES, *(rf"\b(?:{s})" for s in _STEMS))), re.IGNORECASE)

LONGEST = 2_000
"""Characters looked at."""


def may_ask_to_forget(text: str) -> bool:
    """Whether ``text`` has a word that opens a request to forget; most that have it ask nothing.

    Args:
        text: The user's words.
    """
    return _FORGETS.search(text[:LONGEST]) is not None
