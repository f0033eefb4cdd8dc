"""Skip signals: turns made of nothing but greetings, confirmations, thanks and backchannels.

Phrases stand in ``tables/small_talk.toml``. A turn is skipped when phrases of one language cover
it from end to end; one word more and it goes on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from bmo.gate.tables import read_table
from bmo.language import LANGUAGES, LanguageCode, words
from bmo.turn import Signal

MAX_WORDS = 16
"""A longer turn is never skipped."""

_ELONGATED = re.compile(r"(.)\1{2,}")
_LAUGHTER = re.compile(r"a?(?:(?:ha){2,}|(?:he){2,}|(?:hi){2,}|(?:ho){2,}|(?:j[aei]){2,})h?|l+o+l+")


@dataclass(frozen=True, slots=True)
class SmallTalk:
    """A turn that carries nothing.

    Attributes:
        kind: What it is: a kind of the table.
        signal: The published signal it counts as.
        reason: For people.
        rule_id: "skip.greeting" and the like.
    """

    kind: str
    signal: Signal
    reason: str
    rule_id: str


def small_talk(text: str) -> SmallTalk | None:
    """Whether a turn is nothing but small talk in one language, and what it is.

    A confirmation may answer a question, a greeting may be long: the caller looks at that.
    """
    said, languages, vocabulary = [], frozenset(LANGUAGES), _vocabulary()
    for word in words(text[:200]):
        said.append(word if word in vocabulary else _short_form(word))
        languages &= vocabulary.get(said[-1], frozenset())
        if not languages:
            return None  # most turns, at their first words
    if len(said) > MAX_WORDS:
        return None
    kinds = (_kind(said, language) for language in LANGUAGES if language in languages)
    kind = next((k for k in kinds if k is not None), None)
    if kind is None:
        return None
    named = read_table("small_talk.toml")["kinds"][kind]
    return SmallTalk(kind, named["signal"], named["reason"], f"skip.{kind}")


def _short_form(word: str) -> str:
    """A word without apostrophes, elongation ("heyyy") and the length of laughter."""
    bare = word.replace("'", "")
    return "haha" if _LAUGHTER.fullmatch(bare) else _ELONGATED.sub(r"\1", bare)


def _kind(said: list[str], language: LanguageCode) -> str | None:
    """The most telling kind when phrases and fillers of a language cover some words, else None."""
    phrases = _phrases(language)
    reached: list[frozenset[str] | None] = [frozenset(), *[None] * len(said)]
    for start in range(len(said)):
        kinds = reached[start]
        if kinds is None:
            continue
        for end in range(start + 1, len(said) + 1):
            kind = phrases.get(tuple(said[start:end]))
            if kind is not None:
                reached[end] = (reached[end] or frozenset()) | kinds | {kind}
    found = reached[-1]
    if not found:
        return None
    kinds = read_table("small_talk.toml")["kinds"]
    return next((kind for kind in kinds if kind in found), "backchannel")


@cache
def _phrases(language: LanguageCode) -> dict[tuple[str, ...], str]:
    """Words of a phrase -> its kind ("filler" last)."""
    kinds: dict[tuple[str, ...], str] = {}
    for kind, phrases in read_table("small_talk.toml")[language].items():
        for phrase in phrases:
            kinds.setdefault(tuple(map(_short_form, words(phrase))), kind)
    return kinds


@cache
def _vocabulary() -> dict[str, frozenset[LanguageCode]]:
    """Every word of the phrases -> the languages in whose phrases it is."""
    found: dict[str, frozenset[LanguageCode]] = {}
    for language in LANGUAGES:
        for word in (word for phrase in _phrases(language) for word in phrase):
            found[word] = found.get(word, frozenset()) | {language}
    return found
