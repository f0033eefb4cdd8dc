"""Takes out of a transcript what nobody means: fillers, and words that were begun twice.

Nothing else is cut: whatever cuts, loses.
"""

from __future__ import annotations

import re

_FILLERS = (
    r"(?:u+h*m+|u+h+|e+r+m+|e+h+m+|a+h+m+|hm+|m+hm+|(?<!\d )mm+"
    r"|ä+h+m*|ö+h+m*|ä+m+|euh+|heu+|eh+|er)"
)
"""Sounds of hesitation in English, German, French and Spanish; "er" only beside a pause or at the
start, for it is a German pronoun."""

_FILLER = re.compile(rf"(?<![\w']){_FILLERS}(?![\w'])[,.…]*", re.IGNORECASE)
_TWICE = re.compile(r"(?<![\w'-])(\w[\w']*(?: \w[\w']*)?)(?:,? \1)+(?![\w'-])", re.IGNORECASE)
_MEANT_TWICE = frozenset(
    "had that very really so no yes ja nein oui non sí si bye go knock long far many much "
    "nous vous "
    "zero oh one two three four five six seven eight nine "
    "null eins zwei drei vier fünf sechs sieben acht neun "
    "zéro un deux trois quatre cinq sept huit neuf cero uno dos tres cuatro cinco siete ocho nueve "
    "sie die der das now there never ha he ho na la".split()
)
"""Words that people say twice and mean it ("had had", "nous nous"), digits among them ("nine one
one")."""


def without_fillers(text: str, language: str = "en") -> str:
    """The words as they were said, without fillers and without words begun twice.

    Args:
        text: One utterance.
        language: In German "er" is a pronoun and stays.

    Returns:
        The text on one line; the whole text where nothing but fillers would be left.
    """
    flat = " ".join(text.split())
    kept = _FILLER.sub(lambda hit: _kept_filler(hit, language), flat)
    kept = _TWICE.sub(_once, " ".join(kept.split()))
    kept = re.sub(r"\s+([,.!?;:])", r"\1", kept).strip(" ,;")
    return kept if any(c.isalnum() for c in kept) else flat


def _kept_filler(hit: re.Match[str], language: str) -> str:
    word = hit[0].rstrip(",.…").lower()
    return hit[0] if word == "er" and language == "de" else " "


def _once(hit: re.Match[str]) -> str:
    first = hit[1].split()[0].lower()
    if hit[1].lower() in _MEANT_TWICE or hit[1].isdigit() or first in _MEANT_TWICE:
        return hit[0]
    return hit[1]
