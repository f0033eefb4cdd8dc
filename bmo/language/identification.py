"""Which language a turn is in, or that it is in none the encoder was taught.

The order of trust: the recogniser's tag, ``BMO_LANGUAGE``, the script, function words, py3langid
(97 languages). A short text that says nothing of its language is in the language of the
conversation: identifiers misfire on "ok" and on names.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from importlib import resources
from typing import Any, Literal

from bmo.language.words import words

LanguageCode = Literal["en", "de", "fr", "es"]
"""Languages the encoder was taught and the guards have tables for."""

LANGUAGES: tuple[LanguageCode, ...] = ("en", "de", "fr", "es")
_KNOWN: dict[str, LanguageCode] = {code: code for code in LANGUAGES}

MIN_SHARE = 0.4
"""Share of a text's words that must be function words of a language to settle it."""
MIN_SHARE_OF_TWO = 0.2
"""The same where two of them or more are of no other language."""
MIN_LEAD = 1.3
"""How many times more than the next language's their score must be."""
MAX_FOREIGN = 0.04
"""Below this sum of py3langid's probabilities of the languages that were taught, none of them is
meant. Turns in Danish, Dutch, Italian, Norwegian, Turkish and Serbian get .00 to .03."""
MAX_FOREIGN_BESIDE = 0.01
"""The same where some function words of a taught language are in the text."""
MIN_MODEL_WORDS = 2
"""py3langid is not asked about fewer words."""
LONGER_THAN_A_NAME = 4
"""Fewer words that answer a question are often names, which are of no language."""
_MAX_WORDS = 60

_OTHERS = "others"
_ISO_639_3 = {"eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es"}


def identify(
    text: str, *, tag: str | None = None, setting: str = "auto", previous: str = ""
) -> LanguageCode | None:
    """The language of a text; None when it is one that was not taught.

    Args:
        text: The turn's words.
        tag: The recogniser's tag ("de", "de-DE", "eng"), or None.
        setting: BMO_LANGUAGE: a code, or "auto".
        previous: The assistant's words before: the language of the conversation.
    """
    tagged = _primary_code(tag)
    if tagged:
        return _KNOWN.get(tagged)
    if setting != "auto":
        return _KNOWN.get(setting)
    if _mostly_of_another_script(text):
        return None
    said = words(text)[:_MAX_WORDS]
    leader, share, own = _by_function_words(said)
    if leader is not None and _settles(share, own):
        return leader
    answers = previous.rstrip().endswith("?") and len(said) < LONGER_THAN_A_NAME
    least = MAX_FOREIGN if leader is None else MAX_FOREIGN_BESIDE
    if len(said) >= MIN_MODEL_WORDS and not answers and _taught(" ".join(said)) < least:
        return None
    return leader or _of_conversation(previous)


def _primary_code(tag: str | None) -> str:
    """The two-letter code of a language tag; "" for none, "auto", "multi" or nonsense."""
    primary = re.split(r"[-_]", (tag or "").strip().lower(), maxsplit=1)[0]
    primary = _ISO_639_3.get(primary, primary)
    return primary if len(primary) == 2 and primary.isalpha() else ""


def _of_conversation(previous: str) -> LanguageCode:
    leader, share, own = _by_function_words(words(previous)[:_MAX_WORDS])
    return leader if leader is not None and _settles(share, own) else "en"


def _settles(share: float, own: float) -> bool:
    """Whether function words of a language say that a text is in it."""
    return share >= (MIN_SHARE if own < 2 else MIN_SHARE_OF_TWO)


def _by_function_words(said: list[str]) -> tuple[LanguageCode | None, float, float]:
    """The language whose function words lead, their share and their number.

    One that other languages have too counts in part. None when no language leads clearly.
    """
    owners = _function_words()
    known = [owners.get(word) or owners.get(word.partition("'")[0], ()) for word in said]
    scores = dict.fromkeys((*LANGUAGES, _OTHERS), 0.0)
    for codes in known:
        for code in codes:
            scores[code] += 1 / len(codes)
    first = max(LANGUAGES, key=scores.__getitem__)
    most = scores.pop(first)
    if most == 0 or most < MIN_LEAD * max(scores.values()):
        return None, 0.0, 0.0
    return first, sum(first in codes for codes in known) / len(said), most


@cache
def _function_words() -> dict[str, tuple[str, ...]]:
    source = resources.files("bmo.language") / "data" / "function_words.toml"
    lists = tomllib.loads(source.read_text(encoding="utf-8"))
    owners: dict[str, tuple[str, ...]] = {}
    for code in (*LANGUAGES, _OTHERS):
        for word in set(lists[code].split()):
            owners[word] = (*owners.get(word, ()), code)
    return owners


def _mostly_of_another_script(text: str) -> bool:
    """Whether most letters are not Latin."""
    if text.isascii():
        return False
    letters = [c for c in text[:200] if c.isalpha()]
    latin = sum(unicodedata.name(c, "").startswith("LATIN") for c in letters)
    return latin * 2 < len(letters)


@cache
def _model() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # a second: only when asked

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def warm_up() -> None:
    """Loads py3langid (about a second), so that no turn has to wait for it."""
    _model()


def _taught(text: str) -> float:
    """py3langid's probability that a text is in one of the languages that were taught."""
    return sum(float(p) for code, p in _model().rank(text) if code in _KNOWN)
