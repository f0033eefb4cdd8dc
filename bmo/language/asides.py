"""Asides addressed to the hearer: "bear with me", "if you can believe it", "mind", "innit".

They belong to speaking, not to what is said, and stand anywhere: a memory that keeps one is wrong
once nobody is spoken to any more ("First time living alone so bear with them").
"""

from __future__ import annotations

from functools import lru_cache

from bmo.language.lexicon import LanguageCode, SurfaceLexicon, match_phrase, surface_lexicon
from bmo.language.tokens import Words

_OPENS_NOUN = ("article", "possessive")
_CLOSES = frozenset(",.!?;-—–")


@lru_cache(maxsize=8)
def aside_words(language: LanguageCode) -> frozenset[str]:
    """The words with which an aside begins."""
    lexicon = surface_lexicon(language)
    return frozenset().union(
        lexicon.asides, lexicon.closing_asides, lexicon.leading_asides, lexicon.tags
    )


def aside_at(words: Words, i: int, lexicon: SurfaceLexicon) -> int:
    """How many words at ``i`` are an aside, or 0.

    A phrase of ``asides`` is one anywhere; one of ``closing_asides`` only at the end of what it
    belongs to, before a mark or the last word; one of ``leading_asides`` only in front, before a
    subject of what is so now; a word of ``tags`` before a comma. A word of
    ``before_tags`` claims what is behind it ("she won't believe me", "i do not mind").

    Args:
        words: What was said.
        i: Index of a word.
        lexicon: Whose asides.
    """
    norm = words.norm
    length = match_phrase(lexicon.asides, norm, i)
    if length and not (i and lexicon.classes.get(norm[i - 1]) in _OPENS_NOUN):
        return length
    length = match_phrase(lexicon.leading_asides, norm, i)
    if length and _leads(words, i, i + length, lexicon):
        return length
    if not i or norm[i - 1] in lexicon.before_tags:
        return 0
    length = match_phrase(lexicon.closing_asides, norm, i)
    if length and (i + length == len(norm) or words.after[i + length - 1][:1] in _CLOSES):
        return length
    length = match_phrase(lexicon.tags, norm, i)
    inside = length and i + length < len(norm)
    return length if inside and words.after[i + length - 1].startswith(",") else 0


_UNREAL = frozenset("was were would could had did might when".split())
"""Of these "i should have said i was ill" is made: what was not said then, not what is so now."""
_TOLD_AHEAD = 5
"""Words behind an aside that show the time of what follows."""


def _leads(words: Words, i: int, behind: int, lexicon: SurfaceLexicon) -> bool:
    """Whether the phrase from ``i`` to ``behind`` opens a sentence about what is so now."""
    norm = words.norm
    if behind >= len(norm) or not _UNREAL.isdisjoint(norm[behind : behind + _TOLD_AHEAD]):
        return False
    if (
        i
        and not words.after[i - 1]
        and (norm[i - 1],) not in lexicon.openers.get(norm[i - 1], (frozenset(),))[0]
    ):
        return False
    follows = norm[behind]
    owner = lexicon.classes.get(follows) == "possessive"
    return owner or follows in lexicon.clause_subjects or words.after[behind - 1] == ","
