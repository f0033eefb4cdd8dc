"""Which language a turn is in.

The order of trust: the recogniser's tag, ``BMO_LANGUAGE``, then the words themselves. Function
words settle most turns in a few microseconds. Where they say nothing and there are words enough,
py3langid is asked; it knows 140 languages, so that a language without a rule pack is seen as one.
Short or ambiguous text falls back to the language of the conversation, or English: identifiers
misfire on "ok" and on names.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import chain, islice
from typing import Any, Literal

from bmo.language.by_piece import ByPiece
from bmo.language.lexicon import LANGUAGES, LanguageCode

IdentifiedBy = Literal["tag", "setting", "words", "script", "model", "conversation", "default"]
"""What settled the language."""

MIN_WORDS_FOR_MODEL = 5
"""py3langid is not asked about fewer words; nor about plain ASCII that no function word marks as
foreign, where it would misfire on lists of names and cost a turn the time to load."""
MIN_WORDS_OF_RIVAL = 3
"""... or about fewer, where function words of a language without a pack lead."""
MIN_SHARE = 0.25
"""Share of a text's words that must be function words of the language."""
MIN_LEAD = 1.3
"""How many times more than the next language's their score must be."""
MIN_MODEL_OTHER = 0.85
"""Probability from which py3langid's word on a language without a pack is taken."""
MIN_MODEL_KNOWN = 0.5
"""... and on one with a pack."""
_MAX_WORDS = 60
_OTHERS = "others"

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Identified:
    """The language of a text.

    Attributes:
        code: ISO 639-1 code ("en", "it").
        by: What settled it.
    """

    code: str
    by: IdentifiedBy

    @property
    def pack(self) -> LanguageCode | None:
        """The code when there is a rule pack for it, else None."""
        return _PACKS.get(self.code)


_PACKS: dict[str, LanguageCode] = {code: code for code in LANGUAGES}
_DEFAULT = Identified("en", "default")
_ENGLISH = Identified("en", "words")


def identify(
    text: str,
    *,
    tag: str | None = None,
    setting: str = "auto",
    previous: str | None = None,
    pieces: Sequence[str] | None = None,
) -> Identified:
    """Says which language a text is in.

    Args:
        text: The turn's words.
        tag: The recogniser's tag ("de", "de-DE", "eng"), or None.
        setting: BMO_LANGUAGE: a code, or "auto".
        previous: The language of the conversation so far, for short and ambiguous text.
        pieces: What stands between the text's spaces, where the caller has split it already.
    """
    tagged = primary_code(tag) if tag else None
    if tagged is not None:
        return _tagged(tagged)
    if setting != "auto":
        return Identified(setting, "setting")
    if pieces is None:
        pieces = text.split(" ")
    speech = is_speech(text, pieces)
    told = list(map(_told_by.__getitem__, pieces)) if speech else [FOREIGN]
    if FOREIGN in told:
        words = _words(text, pieces)
    elif told.count(ENGLISH_ALONE) * 4 >= len(pieces):
        return _ENGLISH  # most turns, and one word in each piece
    else:
        words = list(filter(None, map(_single_words.__getitem__, pieces)))
    fallback = Identified(previous, "conversation") if previous else _DEFAULT
    if not words:
        return fallback
    english, foreign_words = _telling()
    if foreign_words.isdisjoint(words) and sum(map(english.__contains__, words)) * 4 >= len(words):
        return _ENGLISH
    foreign = _script(text)
    if foreign is not None:
        return Identified(foreign, "script")
    code, share, rival = _by_words(words)
    if code is not None and share >= MIN_SHARE:
        return Identified(code, "words")
    foreign_letters = not text.isascii() and len(words) >= MIN_WORDS_FOR_MODEL
    if not foreign_letters and not (rival and len(words) >= MIN_WORDS_OF_RIVAL):
        if code is not None and (previous is None or code == previous) and share >= 0.2:
            return Identified(code, "words")
        return fallback
    return _by_model(" ".join(words), fallback)


def is_speech(text: str, pieces: Sequence[str]) -> bool:
    """Whether a text is read to its end, piece by piece: what is longer was not spoken."""
    return len(text) <= _SPEECH_LENGTH and len(pieces) <= _MAX_WORDS


@lru_cache(maxsize=64)
def _tagged(code: str) -> Identified:
    return Identified(code, "tag")


def _words(text: str, pieces: Sequence[str]) -> list[str]:
    """The first lower-case words of a text, with apostrophes inside."""
    if len(text) <= _SPEECH_LENGTH:
        found = map(_words_of_pieces.__getitem__, pieces)
        return list(islice(chain.from_iterable(found), _MAX_WORDS))
    return _read_words(text[:600])[:_MAX_WORDS]


def _read_words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


_SPEECH_LENGTH = 400
_words_of_pieces = ByPiece(lambda piece: tuple(_read_words(piece)))
_single_words = ByPiece(lambda piece: "".join(_words_of_pieces[piece]))
"""The word of a piece of one word, "" of one without."""


@lru_cache(maxsize=64)
def primary_code(tag: str | None) -> str | None:
    """The two-letter code of a language tag, or None for none, "auto", "multi" or nonsense."""
    if not tag:
        return None
    primary = re.split(r"[-_]", tag.strip().lower(), maxsplit=1)[0]
    primary = {"eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es"}.get(
        primary, primary
    )
    return primary if len(primary) == 2 and primary.isalpha() else None


def warm_up() -> None:
    """Loads py3langid (about a second), so that no turn has to wait for it."""
    _model()


def _by_words(words: list[str]) -> tuple[LanguageCode | None, float, bool]:
    """The language whose function words lead, their share, and whether one without a pack leads.

    Without a leader the code is None.
    """
    weights = function_words()
    known = [weights.get(word) for word in words]
    for place, word in enumerate(words):
        if "'" in word and known[place] is None:
            known[place] = weights.get(word.partition("'")[0])
    if not any(known):
        return None, 0.0, False
    scores, seen = dict(_NO_SCORES), dict[str, int]()
    for code, weight in chain.from_iterable(filter(None, known)):
        scores[code] += weight
        seen[code] = seen.get(code, 0) + 1
    others = scores.pop(_OTHERS)
    first = max(LANGUAGES, key=scores.__getitem__)
    most = scores.pop(first)
    if most == 0 or most < MIN_LEAD * max(others, *scores.values()):
        return None, 0.0, others >= max(0.6 * most, 0.5)
    return first, seen[first] / len(words), False


_NO_SCORES: dict[str, float] = dict.fromkeys((*LANGUAGES, _OTHERS), 0.0)


@cache
def function_words() -> dict[str, tuple[tuple[str, float], ...]]:
    """Word -> languages that use it, with 1 shared among them."""
    source = resources.files("bmo.language") / "data" / "function_words.toml"
    lists = tomllib.loads(source.read_text(encoding="utf-8"))
    owners: dict[str, list[str]] = {}
    for code in (*LANGUAGES, _OTHERS):
        for word in set(lists[code].split()):
            owners.setdefault(word, []).append(code)
    return {word: tuple((c, 1 / len(codes)) for c in codes) for word, codes in owners.items()}


@cache
def _only(*owners: str) -> frozenset[str]:
    """Function words that belong to the ``owners`` and to no other language."""
    return frozenset(
        word
        for word, languages in function_words().items()
        if all(code in owners for code, _ in languages)
    )


@cache
def _telling() -> tuple[frozenset[str], frozenset[str]]:
    """Words that only English has, and words that only other languages have."""
    return _only("en"), _only(_OTHERS, "de", "fr", "es")


ENGLISH_ALONE, FOREIGN, _OPEN_TO_ALL = 1, 2, 0


def piece_tells(piece: str) -> int:
    """Whether only English has the word of a piece, or it may be foreign; several words may."""
    english, foreign_words = _telling()
    words = _words_of_pieces[piece]
    if len(words) > 1 or not foreign_words.isdisjoint(words):
        return FOREIGN
    return ENGLISH_ALONE if words and words[0] in english else _OPEN_TO_ALL


_told_by = ByPiece(piece_tells)

_SCRIPTS = {
    "CYRILLIC": "ru",
    "GREEK": "el",
    "ARABIC": "ar",
    "HEBREW": "he",
    "DEVANAGARI": "hi",
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "THAI": "th",
    "KHMER": "km",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "TELUGU": "te",
    "GEORGIAN": "ka",
    "ARMENIAN": "hy",
    "ETHIOPIC": "am",
}
"""Unicode script -> its most spoken language; others of the script have no pack either."""


def _script(text: str) -> str | None:
    """A language by script when most letters are not Latin, else None."""
    if text.isascii():
        return None
    latin = 0
    others: dict[str, int] = {}
    for char in text[:200]:
        if not char.isalpha():
            continue
        name = unicodedata.name(char, "").split(" ", 1)[0]
        if name == "LATIN":
            latin += 1
        else:
            others[name] = others.get(name, 0) + 1
    if sum(others.values()) <= latin:
        return None
    return _SCRIPTS.get(max(others, key=lambda name: others[name]), "und")


@cache
def _model() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # numpy and a 1 s model

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _by_model(text: str, fallback: Identified) -> Identified:
    """py3langid's word where it is sure, else the fallback."""
    ranked = _model().rank(text)
    code, probability = str(ranked[0][0]), float(ranked[0][1])
    if code in LANGUAGES:
        return Identified(code, "model") if probability >= MIN_MODEL_KNOWN else fallback
    known = sum(float(p) for c, p in ranked[:12] if c in LANGUAGES)
    if probability >= MIN_MODEL_OTHER or (probability >= 0.6 and known < 0.02):
        return Identified(code[:2] if len(code) == 2 else "und", "model")
    return fallback
