"""Short questions that lean on the turn before: "and my sister?", "which one", "why"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bmo.recall.lexer import ABOUT_SOMEBODY, OF_ONESELF, Words
from bmo.recall.packs import function_words

FOLLOW_UP_WORDS: Final = 7
"""A turn of at most this many words may lean on the one before it."""

BARE_WORDS: Final = 2
"""One of at most this many words leans on it whatever they are."""

WHOLE_WORDS: Final = 2
"""Content words from which a question that leans on nothing is about something of its own; in one
of the speaker's own ("who do i report to") a single one does."""

_GOES_ON = frozenset("and or but so also same und oder aber et ou mais y o pero".split())
"""First words by which a short question goes on from the turn before."""

_ARTICLES = frozenset("das die der".split())
"""Words that lean where no word of their own comes after them: "wie alt ist die" does, and "wie
hoch ist die zugspitze" does not."""

_LEANING = frozenset(
    (
        "one ones that those it else other others another same first last second older younger "
        "anderer andere älter jünger celui celle autre plus ese esa otro otra mayor"
    ).split()
)
"""Words by which a short question leans on the turn before."""


def leans(words: Words) -> bool:
    """Whether a turn leans on the one before: short, a question, and not whole by itself.

    A question of several words that speaks of nobody ("how many planets are there") is whole.
    """
    said = words.words
    if len(said) > FOLLOW_UP_WORDS or words.smalltalk_only:
        return False
    if not (words.asked or "follow" in words.classes):
        return False
    leaning = words.classes & ABOUT_SOMEBODY or _points_back(said)
    return bool(leaning) or len(said) <= BARE_WORDS or said[0] in _GOES_ON


def is_whole(words: Words) -> bool:
    """Whether a question after a recall has a subject of its own ("what animal is in my shed").

    It needs memory as the one before did, but is not about the same.
    """
    said = words.words
    telling = [word for word in said if word not in function_words() and word not in _LEANING]
    leans = "pronoun" in words.classes or said[0] in _GOES_ON or _points_back(said)
    own = not words.classes.isdisjoint(OF_ONESELF) and len(said) > BARE_WORDS
    return not leans and len(telling) >= (1 if own else WHOLE_WORDS)


def _points_back(said: Sequence[str]) -> bool:
    """Whether a word points to what the turn before was about."""
    if not _LEANING.isdisjoint(said):
        return True
    after = zip(said, [*said[1:], ""], strict=True)
    return any(word in _ARTICLES and (not own or own in function_words()) for word, own in after)
