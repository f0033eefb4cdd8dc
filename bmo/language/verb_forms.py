"""Verb forms of English: lemmas of past, third person and -ing forms, and back."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources


def _lists() -> dict[str, frozenset[str]]:
    source = resources.files("bmo.language") / "data" / "verbs.toml"
    raw = tomllib.loads(source.read_text("utf-8"))
    return {name: frozenset(text.split()) for name, text in raw.items()}


VERB_LISTS = _lists()
"""The word lists of ``data/verbs.toml``."""
PAST: dict[str, str] = dict(pair.split(":") for pair in sorted(VERB_LISTS["past"]))
"""Irregular past and participle forms -> lemma."""

_E_VERBS = VERB_LISTS["ends_in_e"]
_NO_E = VERB_LISTS["no_final_e"]
_NOT_PAST = frozenset("need feed speed breed bleed red exceed proceed succeed weed".split())
_LOST_E_LETTERS = frozenset("vcuz")
_LOST_E_ENDINGS = tuple(
    "dg rg as is os ur ar at it ot ut id ad ud ag ak ik ok ap yp ip in uir ir or iv ul tl bl pl "
    "gl dl us rs ns ys".split()
)
"""Ends of stems that have lost an "e" before "-ed", unless the stem is in ``no_final_e``."""
_DOUBLED = frozenset("bdgmnprt")
_IRREGULAR_THIRD = {
    "has": "have",
    "does": "do",
    "goes": "go",
    "is": "be",
    "says": "say",
    "'s": "be",
}
_THIRD_TABLE = {"have": "has", "do": "does", "go": "goes", "be": "is", "can": "can"}
_SINGULAR_S = frozenset(
    (
        "address boss cross discuss dress focus guess kiss miss obsess pass possess press "
        "process stress"
    ).split()
)


@lru_cache(maxsize=4096)
def past_lemma(word: str) -> str:
    """Lemma of a past form ("studied" -> "study"), or "" when it is none."""
    if word in PAST:
        return PAST[word]
    if not word.endswith("ed") or len(word) < 4 or word in _NOT_PAST:
        return ""
    stem = word[:-2]
    if word.endswith("ied"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if stem[-1] in _DOUBLED and len(stem) > 3 and stem[-1] == stem[-2] and stem != "add":
        return stem[:-1]
    lost = stem[-1] in _LOST_E_LETTERS or stem.endswith(_LOST_E_ENDINGS)
    if stem + "e" in _E_VERBS or (lost and stem not in _NO_E):
        return stem + "e"
    return stem


@lru_cache(maxsize=4096)
def base_form(word: str) -> str:
    """Lemma of a third person form ("studies" -> "study", "lives" -> "live"); else the word."""
    if word in _IRREGULAR_THIRD:
        return _IRREGULAR_THIRD[word]
    if not word.endswith("s") or len(word) < 4 or word.endswith("ss") or word in _SINGULAR_S:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes", "zzes", "oes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=4096)
def third_person(lemma: str) -> str:
    """Third person singular of a lemma ("study" -> "studies")."""
    if lemma in _THIRD_TABLE:
        return _THIRD_TABLE[lemma]
    if lemma.endswith("y") and len(lemma) > 1 and lemma[-2] not in "aeiou":
        return lemma[:-1] + "ies"
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lemma + "es"
    return lemma + "s"


@lru_cache(maxsize=4096)
def progressive_lemma(word: str) -> str:
    """Lemma of an -ing form ("running" -> "run", "living" -> "live")."""
    if not word.endswith("ing") or len(word) < 5:
        return word
    stem = word[:-3]
    if word in ("dying", "lying", "tying"):
        return stem[:-1] + "ie"
    return past_lemma(stem + "ed") or stem
