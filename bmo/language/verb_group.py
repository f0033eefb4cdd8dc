"""The English verb group: polarity, tense, modality, aspect and habit, taken off a predicate.

Rules are then written once, in the positive present: "used to live in oslo", "does not live in
oslo any more" and "has lived in oslo for years" all become "live in oslo" with features beside it.
The order of auxiliaries (modal, perfect, progressive) is that of any grammar of English, e.g.
Huddleston and Pullum, The Cambridge Grammar of the English Language (2002), chapter 3.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Literal

from bmo.turn import Polarity, Tense

Aspect = Literal["simple", "progressive", "perfect"]
Change = Literal["", "used_to", "stopped", "any_more", "started"]
"""How the state changed: ended ("used_to", "stopped", "any_more") or began ("started")."""


def _lists() -> dict[str, frozenset[str]]:
    source = resources.files("bmo.language") / "data" / "verbs.toml"
    raw = tomllib.loads(source.read_text("utf-8"))
    return {name: frozenset(text.split()) for name, text in raw.items()}


_LISTS = _lists()
PAST: dict[str, str] = dict(pair.split(":") for pair in sorted(_LISTS["past"]))
"""Irregular past and participle forms -> lemma."""

_ADVERBS = _LISTS["adverbs"]
_HABITS = frozenset(
    (
        "always constantly frequently generally mostly normally occasionally often rarely "
        "regularly seldom sometimes typically usually"
    ).split()
)
_NEGATIVE_ADVERBS = frozenset({"never", "hardly", "barely", "seldom", "rarely"})
_HEDGE_MODALS = frozenset({"might", "may", "could", "should", "must", "shall"})
_AUX_DO = frozenset({"do", "does", "did"})
_BE_FORMS = frozenset({"am", "is", "are", "was", "were", "be", "been", "'s", "being"})
_HAVE_FORMS = frozenset({"have", "has", "had"})
_PARTICIPLES = frozenset(PAST) | _LISTS["participles"]
_STOP_VERBS = frozenset({"stop", "quit", "cease"})
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
_DOUBLE_E = frozenset({"agree", "see", "free", "flee", "knee", "tie", "lie", "die"})


@dataclass(slots=True)
class VerbGroup:
    """What was taken off a predicate.

    Attributes:
        lemma: The main verb in its base form, or "".
        end: Index of the first word behind the verb.
        verb_at: Index of the main verb in the clause.
        polarity: negative for "not", "never", "no longer".
        tense: past for past forms and ended states, future for will and going to.
        aspect: progressive for "am learning", perfect for "have been".
        modal: "can", "would", "might", ... or "".
        change: Whether the state ended or began.
        habits: "always", "usually", ... in order.
        emphatic: "do like".
    """

    lemma: str = ""
    end: int = 0
    verb_at: int = 0
    polarity: Polarity = "positive"
    tense: Tense = "present"
    aspect: Aspect = "simple"
    modal: str = ""
    change: Change = ""
    habits: list[str] = field(default_factory=list)
    emphatic: bool = False


@lru_cache(maxsize=4096)
def past_lemma(word: str) -> str:
    """Lemma of a past form ("studied" -> "study"), or "" when it is none."""
    if word in PAST:
        return PAST[word]
    if (
        not word.endswith("ed")
        or len(word) < 4
        or word
        in (
            "need",
            "feed",
            "speed",
            "breed",
            "bleed",
            "red",
            "exceed",
            "proceed",
            "succeed",
            "weed",
        )
    ):
        return ""
    stem = word[:-2]
    if word.endswith("ied"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if stem[-1] in "bdgmnprt" and len(stem) > 3 and stem[-1] == stem[-2] and stem not in ("add",):
        return stem[:-1]
    if stem + "e" in _E_VERBS or (
        (
            stem[-1] in "vcuz"
            or stem.endswith(
                (
                    "dg",
                    "rg",
                    "as",
                    "is",
                    "os",
                    "ur",
                    "ar",
                    "at",
                    "it",
                    "ot",
                    "ut",
                    "id",
                    "ad",
                    "ud",
                    "ag",
                    "ak",
                    "ik",
                    "ok",
                    "ap",
                    "yp",
                    "ip",
                    "in",
                    "id",
                    "uir",
                    "ir",
                    "or",
                    "iv",
                    "ul",
                    "tl",
                    "bl",
                    "pl",
                    "gl",
                    "dl",
                    "us",
                    "rs",
                    "ns",
                    "ys",
                )
            )
        )
        and stem not in _NO_E
    ):
        return stem + "e"
    return stem


_E_VERBS = _LISTS["ends_in_e"]
_NO_E = _LISTS["no_final_e"]


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


def parse_verb_group(norm: list[str], i: int, end: int) -> VerbGroup | None:
    """Reads the verb group that begins at ``i``, right behind the subject.

    Args:
        norm: Words of the turn in normal form.
        i: Index of the first word behind the subject.
        end: Index behind the clause.

    Returns:
        The group, or None when no verb stands there.
    """
    g = VerbGroup()
    while i < end:
        word = norm[i]
        if word in _HABITS:
            if word in _NEGATIVE_ADVERBS:
                g.habits.append(word)
            else:
                g.habits.append(word)
            i += 1
        elif word in _ADVERBS:
            i += 1
        elif word == "never":
            g.polarity = "negative"
            g.habits.append("never")
            i += 1
        elif word in ("hardly", "barely"):
            g.habits.append(word)
            i += 1
        elif word == "not":
            g.polarity = "negative"
            i += 1
        elif word == "no" and i + 1 < end and norm[i + 1] == "longer":
            g.polarity, g.change = "negative", "any_more"
            i += 2
        elif word in ("kind", "sort") and i + 1 < end and norm[i + 1] == "of":
            i += 2
        elif word in _AUX_DO:
            if i + 1 < end and (
                norm[i + 1] in ("not", "n't")
                or norm[i + 1] in _ADVERBS
                or (
                    norm[i + 1]
                    not in (
                        "the",
                        "a",
                        "my",
                        "it",
                        "this",
                        "that",
                        "well",
                        "some",
                        "all",
                        "what",
                        "an",
                        "have",
                        "to",
                        "for",
                        "in",
                        "at",
                        "lots",
                    )
                    and past_lemma(norm[i + 1]) == ""
                    and not norm[i + 1].endswith("ing")
                    and g.emphatic is False
                    and i + 1 < end
                    and norm[i + 1] in _COMMON_BASE
                )
            ):
                if word == "did":
                    g.tense = "past"
                g.emphatic = True
                i += 1
            else:
                break
        elif word == "will" and i + 1 < end:
            g.tense, g.modal = "future", "will"
            i += 1
        elif word == "would" and i + 1 < end:
            g.modal = "would"
            i += 1
        elif word == "can" and i + 1 < end:
            g.modal = "can"
            i += 1
        elif word in _HEDGE_MODALS and i + 1 < end:
            g.modal = word
            i += 1
        elif word == "used" and i + 1 < end and norm[i + 1] == "to":
            g.tense, g.change = "past", "used_to"
            i += 2
        else:
            break
    if i >= end:
        return None
    return _main_verb(g, norm, i, end)


_COMMON_BASE = _LISTS["common_base"]


def _main_verb(g: VerbGroup, norm: list[str], i: int, end: int) -> VerbGroup | None:
    word = norm[i]
    if word in _HAVE_FORMS:
        j = _skip_inside(g, norm, i + 1, end)
        if j < end:
            follow = norm[j]
            if follow == "got":
                g.lemma, g.verb_at, g.end = "have", j, j + 1
                if word == "had":
                    g.tense = "past"
                return _changes(g, norm, end)
            if follow == "to":
                g.lemma, g.verb_at, g.end = "have", i, j
                return g
            if follow == "been":
                k = _skip_inside(g, norm, j + 1, end)
                g.aspect = "perfect"
                if word == "had":
                    g.tense = "past"
                g.lemma, g.verb_at, g.end = "be", j, k
                return _changes(g, norm, end)
            lemma = past_lemma(follow)
            if (
                lemma
                and (follow in _PARTICIPLES or follow.endswith("ed"))
                and follow not in ("married", "retired", "wicked", "red")
                and not (
                    follow in ("left", "broken", "read", "cut", "put", "set")
                    and j + 1 < end
                    and norm[j + 1].endswith(("s", "hand", "leg", "arm"))
                )
            ):
                g.aspect = "perfect"
                g.lemma, g.verb_at, g.end = lemma, j, j + 1
                if word == "had" and follow != "had":
                    g.tense = "past"
                return _changes(g, norm, end)
        g.lemma, g.verb_at, g.end = "have", i, j
        if word == "had":
            g.tense = "past"
        return _changes(g, norm, end)
    if word in _BE_FORMS:
        if word in ("was", "were"):
            g.tense = "past"
        j = _skip_inside(g, norm, i + 1, end)
        if (
            word == "'s"
            and j < end
            and (
                norm[j] == "got"
                or (
                    norm[j] in _PARTICIPLES
                    and norm[j]
                    not in (
                        "gone",
                        "lost",
                        "done",
                        "hurt",
                        "known",
                        "married",
                        "retired",
                        "named",
                        "called",
                        "born",
                        "broken",
                        "always",
                        "never",
                        "just",
                    )
                )
            )
        ):
            norm_word = norm[j]
            g.aspect = "simple" if norm_word == "got" else "perfect"
            g.lemma = "have" if norm_word == "got" else PAST.get(norm_word) or past_lemma(norm_word)
            g.verb_at, g.end = j, j + 1
            return _changes(g, norm, end)
        if word == "is" and j < end and norm[j] in _HAS_PARTICIPLES:
            if norm[j] == "got":
                g.lemma, g.verb_at, g.end = "have", j, j + 1
                return _changes(g, norm, end)
            if norm[j] == "been":
                g.aspect = "perfect"
                g.lemma, g.verb_at, g.end = "be", j, j + 1
                return _changes(g, norm, end)
            g.aspect = "perfect"
            g.lemma, g.verb_at, g.end = PAST.get(norm[j]) or past_lemma(norm[j]), j, j + 1
            return _changes(g, norm, end)
        if j + 1 < end and norm[j] == "going" and norm[j + 1] == "to":
            k = j + 2
            if (k < end and norm[k] in ("be", "have")) or (
                k < end and norm[k] not in ("the", "a", "my", "an")
            ):
                g.tense, g.modal = "future", "going_to"
                g.lemma, g.verb_at, g.end = norm[k], k, k + 1
                return _changes(g, norm, end)
        g.lemma, g.verb_at, g.end = "be", i, j
        if j < end and norm[j].endswith("ing") and norm[j] not in _NOT_PROGRESSIVE:
            g.aspect = "progressive"
        return _changes(g, norm, end)
    if word == "born":
        g.lemma, g.verb_at, g.end, g.tense = "born", i, i + 1, "past"
        return g
    if g.emphatic or g.modal or g.change == "used_to":
        lemma = word
    elif word in PAST and word not in (
        "read",
        "put",
        "set",
        "cut",
        "let",
        "hurt",
        "quit",
        "shut",
        "beat",
    ):
        lemma, g.tense = PAST[word], "past"
    elif word.endswith("ed"):
        past = past_lemma(word)
        lemma = past or word
        if past:
            g.tense = "past"
    else:
        lemma = base_form(word)
    g.lemma, g.verb_at, g.end = lemma, i, i + 1
    return _changes(g, norm, end)


_HAS_PARTICIPLES = _LISTS["has_participles"]
_NOT_PROGRESSIVE = _LISTS["not_progressive"]


def _skip_inside(g: VerbGroup, norm: list[str], i: int, end: int) -> int:
    """Skips adverbs and negation inside the group, noting what they say."""
    while i < end:
        word = norm[i]
        if word == "not":
            g.polarity = "negative"
        elif word == "never":
            g.polarity = "negative"
            g.habits.append(word)
        elif word == "no" and i + 1 < end and norm[i + 1] == "longer":
            g.polarity, g.change = "negative", "any_more"
            i += 1
        elif word in _HABITS:
            g.habits.append(word)
        elif word not in _ADVERBS:
            break
        i += 1
    return i


def _changes(g: VerbGroup, norm: list[str], end: int) -> VerbGroup:
    """Takes off "stopped eating", "started learning", "gave up", "... any more"."""
    i = g.end
    if g.lemma in _STOP_VERBS and i < end and norm[i].endswith("ing"):
        g.change, g.tense = "stopped", "present"
        g.polarity = "negative" if g.polarity == "positive" else "positive"
        g.lemma, g.verb_at, g.end = progressive_lemma(norm[i]), i, i + 1
    elif g.lemma == "start" and i < end and norm[i].endswith("ing"):
        g.change, g.tense = "started", "present"
        g.lemma, g.verb_at, g.end = progressive_lemma(norm[i]), i, i + 1
    return g


@lru_cache(maxsize=4096)
def progressive_lemma(word: str) -> str:
    """Lemma of an -ing form ("running" -> "run", "living" -> "live")."""
    if not word.endswith("ing") or len(word) < 5:
        return word
    stem = word[:-3]
    if word in ("dying", "lying", "tying"):
        return stem[:-1] + "ie"
    return past_lemma(stem + "ed") or stem
