"""Captures: a captured value in its surroundings, and where it ends.

Patterns capture to the end of the clause; the trimming here finds the end. (Bounded captures
silently lose long clauses: half of all firings on speech without punctuation.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.people import PeopleLexicon
from bmo.language import LanguageCode, Words

Lexicons = Mapping[str, frozenset[tuple[str, ...]]]


@dataclass(slots=True)
class Capture:
    """A captured value.

    Attributes:
        start: Index of its first word in the head's tokens.
        end: Index behind the value.
        long_end: Index behind the value with its qualifiers ("only on saturday").
        shown: Its text when it is not simply its words (numbers), or "".
    """

    start: int
    end: int
    long_end: int
    shown: str = ""


@dataclass(slots=True)
class CaptureContext:
    """What a validator may look at.

    Attributes:
        tokens: The head's words.
        source: For each, its index in ``words``, or -1.
        words: The turn's words.
        lexicons: Word lists of the pack.
        people: Names and relations.
        language: Of the clause.
        stops: Words that are no names.
    """

    tokens: list[str]
    source: list[int]
    words: Words
    lexicons: Lexicons
    people: PeopleLexicon
    language: LanguageCode
    stops: frozenset[str]

    def mark(self, i: int) -> str:
        """Punctuation behind token ``i``."""
        at = self.source[i]
        return self.words.after[at] if at >= 0 else ""

    def has(self, name: str, *phrase: str) -> bool:
        """Whether a lexicon holds a phrase."""
        return phrase in self.lexicons.get(name, frozenset())

    def longest(self, name: str, i: int, end: int, limit: int = 4) -> int:
        """Length of the longest phrase of a lexicon that stands at ``i``, or 0."""
        phrases = self.lexicons.get(name)
        if not phrases:
            return 0
        if i < end and self.tokens[i] in _first_words(phrases):
            for size in range(min(limit, end - i), 0, -1):
                if tuple(self.tokens[i : i + size]) in phrases:
                    return size
        return self._ending_at(name, i) if self.language != "en" and i < end else 0

    def _ending_at(self, name: str, i: int) -> int:
        """1 when word ``i`` ends as the lexicon says ("-allergie"), else 0."""
        endings = endings_of(self.lexicons[name])
        return int(self.tokens[i].endswith(endings))


@lru_cache(maxsize=512)
def endings_of(phrases: frozenset[tuple[str, ...]]) -> tuple[str, ...]:
    """The entries of a lexicon that are endings of words ("-allergie")."""
    return tuple(sorted(e[0][1:] for e in phrases if e[0].startswith("-") and len(e) == 1))


@lru_cache(maxsize=512)
def _first_words(phrases: frozenset[tuple[str, ...]]) -> frozenset[str]:
    return frozenset(phrase[0] for phrase in phrases if phrase)


@lru_cache(maxsize=512)
def _single_words(phrases: frozenset[tuple[str, ...]]) -> frozenset[str]:
    return frozenset(phrase[0] for phrase in phrases if len(phrase) == 1)


@lru_cache(maxsize=512)
def last_words(phrases: frozenset[tuple[str, ...]]) -> frozenset[str]:
    """The last words of phrases."""
    return frozenset(phrase[-1] for phrase in phrases if phrase)


Validator = Callable[[CaptureContext, int, int], Capture | None]
"""(context, start, end) -> the trimmed capture, or None when it may not be a value."""


def lex(context: CaptureContext, name: str, word: str) -> bool:
    """Whether a lexicon holds a single word."""
    phrases = context.lexicons.get(name)
    return phrases is not None and (word,) in phrases


_DETERMINERS = frozenset({"the", "a", "an", "my", "our", "his", "her", "their", "this", "these"})


_BEFORE_DETERMINER = frozenset(
    "in at on to of for from with by near about as into around over under through "
    "and or like than all both half such "
    "off between up out during after before without is be watch play make use read "
    "eat see hear call within behind "
    "across against down quite what above below beside opposite beneath next past".split()
)


def trim(context: CaptureContext, start: int, end: int, stops: str = "np_stops") -> int:
    """Index behind a noun phrase that begins at ``start``."""
    tokens, source, after = context.tokens, context.source, context.words.after
    words = _single_words(context.lexicons.get(stops, frozenset()))
    subjects = context.lexicons.get("subject_words", frozenset())
    i = start
    while i < end:
        word = tokens[i]
        if i > start and word in words:
            break
        if (
            stops == "np_stops"
            and i > start
            and word in _DETERMINERS
            and tokens[i - 1] not in _BEFORE_DETERMINER
            and not tokens[i - 1].endswith("ing")
            and not context.mark(i - 1)
        ):
            break
        if word in _JOINING and i > start:
            follow = tokens[i + 1] if i + 1 < end else ""
            if not follow or (follow,) in subjects or word == "but":
                break
        at = source[i]
        i += 1
        mark = after[at] if at >= 0 else ""
        if mark and (mark[0] in '.!?;:-–—()"' or (mark[0] == "," and _ends_list(context, i, end))):
            break
    while start + 1 < i < end and tokens[i - 1] in _BEGINS_CLAUSE:
        i -= 1  # "to be a vet when" - "i grow up" was left away
    return strip_tail(context, start, i)


_JOINING = frozenset({"and", "or", "und", "et", "y", "but", "nor"})
_BEGINS_CLAUSE = frozenset(
    "when whenever while until till if before after where wherever as".split()
)


def _ends_list(context: CaptureContext, i: int, end: int) -> bool:
    """Whether a comma before ``i`` ends the phrase: no "and" or "or" joins what follows."""
    rest = context.tokens[i:end]
    return not (
        "and" in rest[:8]
        or "or" in rest[:8]
        or "und" in rest[:8]
        or "et" in rest[:8]
        or "y" in rest[:8]
    )


def strip_tail(context: CaptureContext, start: int, end: int) -> int:
    """Takes words without content off the end ("too", "as well", "you know")."""
    tokens = context.tokens
    tails = context.lexicons.get("tails", frozenset())
    lasts = last_words(tails)
    while end > start and tokens[end - 1] in lasts:
        for size in (4, 3, 2, 1):
            if end - size >= start and tuple(tokens[end - size : end]) in tails:
                end -= size
                break
        else:
            break
    return end


def trim_rest(context: CaptureContext, start: int) -> int:
    """Index behind what belongs to a value and follows it: a mark or a new thought ends it."""
    end = start
    while end < len(context.tokens):
        if end > start and context.tokens[end] in _NEW_THOUGHT:
            break
        end += 1
        if context.mark(end - 1):
            break
    return strip_tail(context, start, end)


_NEW_THOUGHT = frozenset(
    "and but or because so which who that if although though while than".split()
)


def qualified_end(context: CaptureContext, start: int, end: int, stop: int) -> int:
    """Index behind the qualifiers that follow a value ("but only in creative mode")."""
    i = end
    tokens = context.tokens
    if i < stop and (tokens[i],) in context.lexicons.get("qualifiers", frozenset()):
        j = i
        while j < stop:
            if j > i + 1 and tokens[j] in ("because", "cos", "so", "and", "which", "then"):
                break
            j += 1
        return strip_tail(context, start, j)
    return end
