"""Skip rules: utterances made of nothing but small talk, known before anything else is done.

Greetings, bare confirmations, thanks, goodbyes, backchannels, laughter and "can you hear me" are
lists of phrases per language (``packs/<language>/skip.toml``). An utterance is skipped when
phrases of one language cover it from end to end; one word more and it goes on to the pipeline.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from bmo.gate.pack_tables import read_table
from bmo.language import LANGUAGES
from bmo.language import words as spell_out
from bmo.language.by_piece import PiecesThat
from bmo.turn import Signal

SkipKind = Literal[
    "channel_check",
    "greeting",
    "goodbye",
    "thanks",
    "confirmation",
    "laughter",
    "backchannel",
]
"""Kinds of small talk, the most telling first: a mixed utterance gets the first that occurs."""

MAX_WORDS = 16
"""A longer utterance is never skipped."""
_MAX_CHARACTERS = 160

_SIGNALS: dict[SkipKind, Signal] = {
    "channel_check": "question",
    "greeting": "greeting",
    "goodbye": "greeting",
    "thanks": "confirmation",
    "confirmation": "confirmation",
    "laughter": "other",
    "backchannel": "confirmation",
}
_REASONS: dict[SkipKind, str] = {
    "channel_check": "channel check",
    "greeting": "greeting",
    "goodbye": "goodbye",
    "thanks": "thanks",
    "confirmation": "bare confirmation",
    "laughter": "laughter",
    "backchannel": "backchannel",
}
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_ELONGATED = re.compile(r"(.)\1{2,}")
_LAUGHTER = re.compile(
    r"a?(?:(?:ha){2,}|(?:he){2,}|(?:hi){2,}|(?:ho){2,}|(?:j[aei]){2,})h?|l+o+l+|x+d+"
)
_FILLER = "filler"
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class SkipMatch:
    """An utterance that carries nothing.

    Attributes:
        kind: What kind of small talk it is.
        signal: The published signal it counts as.
        reason: For people.
        rule_id: "skip.greeting" and the like.
    """

    kind: SkipKind
    signal: Signal
    reason: str
    rule_id: str


@dataclass(frozen=True, slots=True)
class _Phrases:
    """One language's phrases: words -> kinds, their vocabulary and the longest phrase."""

    kinds: dict[tuple[str, ...], str]
    vocabulary: frozenset[str]
    longest: int


def match_skip(
    text: str,
    language: str | None = None,
    *,
    greeting_limit: int = 50,
    pieces: Sequence[str] | None = None,
) -> SkipMatch | None:
    """Whether an utterance is nothing but small talk.

    Args:
        text: The user's words.
        language: ISO 639-1 code. With a pack: its phrases and the English ones count; without
            one, or None: those of all packs.
        greeting_limit: A greeting of this many characters or more goes on
            (GATEKEEPER_GREETING_LENGTH_LIMIT).
        pieces: What stands between the text's spaces, where the caller has split it already.

    Returns:
        The match, or None. A ``confirmation`` may still answer the assistant's question: who
        reads it with the question decides that first.
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    if not _small_talk().hold_all(text.split(" ") if pieces is None else pieces):
        return None  # most turns: a word of theirs is in no phrase
    match = _match(_words(text), language)
    if match is not None and match.kind == "greeting" and len(text.strip()) >= greeting_limit:
        return None
    return match


_LOOPED_WORDS = 150
_LOOPED_SHARE = 20
_LOOKED_AT = 4000


def is_loop(text: str) -> bool:
    """Whether a long utterance says the same few words over and over.

    A recogniser that hangs writes such text, and so does who would keep the gate busy. Of 150
    words of speech more than 60 are different; here at most one in twenty is.
    """
    if len(text) < _LOOPED_WORDS * 2:
        return False
    said = text[:_LOOKED_AT].lower().split()
    return len(said) >= _LOOPED_WORDS and len(set(said)) * _LOOPED_SHARE <= len(said)


def may_be_small_talk(piece: str) -> bool:
    """Whether phrases of small talk may be made of a piece of a text and others."""
    return _small_talk().hold_all((piece,))


@cache
def _small_talk() -> PiecesThat:
    """The pieces whose words skip phrases of any language may be made of."""
    known = frozenset(w for code in LANGUAGES for w in _load_phrases(str(code)).vocabulary)

    def may_stand(piece: str) -> bool:
        if _DIGIT.search(piece):
            return False
        return all(_short_form(word, known) is not None for word in _words(piece))

    return PiecesThat(may_stand)


def skip(words: Sequence[str], language: str | None = None) -> tuple[Signal, str] | None:
    """As ``match_skip`` for words that are normalised already (contractions spelled out).

    Returns:
        (signal, reason), or None.
    """
    match = _match(_words(" ".join(words[: MAX_WORDS + 1])), language)
    return (match.signal, match.reason) if match is not None else None


def _match(words: list[str], language: str | None) -> SkipMatch | None:
    if not words or len(words) > MAX_WORDS:
        return None
    for code in dict.fromkeys((language, "en")) if language in LANGUAGES else LANGUAGES:
        kind = _covered(words, _load_phrases(str(code)))
        if kind is not None:
            return SkipMatch(kind, _SIGNALS[kind], _REASONS[kind], f"skip.{kind}")
    return None


def _words(text: str) -> list[str]:
    """Words in the form of the phrase lists: lower-case, no accents, no apostrophes."""
    lowered = text.lower()
    if not lowered.isascii():
        lowered = lowered.replace("ß", "ss")
        decomposed = unicodedata.normalize("NFKD", lowered)
        lowered = "".join(char for char in decomposed if not unicodedata.combining(char))
    if _DIGIT.search(lowered):
        return []
    return [word.replace("'", "").replace("’", "") for word in _WORD.findall(lowered)]


def _covered(words: list[str], phrases: _Phrases) -> SkipKind | None:
    """The most telling kind when phrases cover all words, else None."""
    known: list[str] = []
    for word in words:
        short = _short_form(word, phrases.vocabulary)
        if short is None:
            return None
        known.append(short)
    # best[i]: fewest phrases that cover the first i words, and their kinds
    best: list[tuple[int, frozenset[str]] | None] = [None] * (len(known) + 1)
    best[0] = (0, frozenset())
    for start in range(len(known)):
        here = best[start]
        if here is None:
            continue
        for end in range(start + 1, min(start + phrases.longest, len(known)) + 1):
            kind = phrases.kinds.get(tuple(known[start:end]))
            before = best[end]
            if kind is not None and (before is None or here[0] + 1 < before[0]):
                best[end] = (here[0] + 1, here[1] if kind == _FILLER else here[1] | {kind})
    final = best[-1]
    if final is None:
        return None
    return next((kind for kind in get_args(SkipKind) if kind in final[1]), None)


def _short_form(word: str, vocabulary: frozenset[str]) -> str | None:
    """The word as the lists know it: "heyyy" is "hey", "hahahaha" is "haha"; None when unknown."""
    if word in vocabulary:
        return word
    if _LAUGHTER.fullmatch(word):
        return "haha"
    if not _ELONGATED.search(word):
        return None
    for keep in (r"\1\1", r"\1"):
        shorter = _ELONGATED.sub(keep, word)
        if shorter != word and shorter in vocabulary:
            return shorter
    return None


@cache
def load_pack(language: str) -> dict[str, Any]:
    """One language's ``skip.toml`` as it stands, with its examples."""
    return read_table(language, "skip.toml")


@cache
def _load_phrases(language: str) -> _Phrases:
    pack = load_pack(language)
    code = next(code for code in LANGUAGES if code == language)
    kinds: dict[tuple[str, ...], str] = {}
    for kind in (*get_args(SkipKind), _FILLER):
        for phrase in pack[kind]:
            kinds.setdefault(tuple(_words(phrase)), kind)
            spelled_out = spell_out(phrase, code).norm
            kinds.setdefault(tuple(_words(" ".join(spelled_out))), kind)
    vocabulary = frozenset(word for words in kinds for word in words)
    return _Phrases(kinds, vocabulary, max(map(len, kinds)))
