"""Negations whose scope no rule reads: "not just a nurse", "neither my son nor i", "all but fish".

What a rule would take from such a clause is the opposite of what was said, so it is refused. The
words are data (``[scope]`` of ``factuality.toml``), with examples and counter-examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bmo.gate.pack_tables import read_table
from bmo.language import Clause, LanguageCode, Words

_WINDOW = 2
"""Words behind a negation within which "just" or "always" narrows it."""


@dataclass(frozen=True, slots=True)
class _Scope:
    negations: frozenset[str]
    limiters: frozenset[str]
    nobody: frozenset[str]
    pairs: dict[str, str]
    all: frozenset[str]
    cues: frozenset[str]
    narrowing: frozenset[str]
    denying: frozenset[str]


_TIED_TO = frozenset({"allergic", "intolerant", "sensitive", "addicted", "married"})
"""What is said with "to": "dogs i am allergic to not cats"."""


@cache
def _scope(language: LanguageCode) -> _Scope:
    raw = read_table(language, "factuality.toml").get("scope", {})
    negations, limiters, nobody, everything = (
        frozenset(raw.get(name, ())) for name in ("negations", "limiters", "nobody", "all")
    )
    pairs = dict(raw.get("pairs", {}))
    own = {"en": _TIED_TO, "fr": frozenset({"que"})}.get(language, frozenset())
    cues = limiters | nobody | everything | frozenset(pairs) | own
    narrowing, denying = limiters | own, negations | nobody
    return _Scope(negations, limiters, nobody, pairs, everything, cues, narrowing, denying)


def scope_cues(language: LanguageCode) -> frozenset[str]:
    """Words of which one stands in every turn that ``beyond_rules`` refuses."""
    return _scope(language).cues


def may_be_beyond(norm: list[str], language: LanguageCode) -> bool:
    """Whether ``beyond_rules`` may refuse a clause of a turn with these words.

    A word of ``scope_cues`` alone says little ("just", "all"); with what it narrows it does.
    """
    scope = _scope(language)
    denied = not scope.negations.isdisjoint(norm)
    return (
        not scope.nobody.isdisjoint(norm)
        or (denied and not scope.narrowing.isdisjoint(norm))
        or ("but" in norm and not scope.all.isdisjoint(norm))
        or not scope.pairs.keys().isdisjoint(norm)
        or ("que" in norm and "ne" in norm)
    )


_ARTICLES = frozenset("du des de d le la les l un une au aux en à dans".split())
_SUBJECTS = frozenset("i we he she they it you my our his her".split())
_TELLING = frozenset("that who is are was were has had does do did".split())
"""Words of a clause behind "but", which excepts nothing."""
_OBJECT_OF = frozenset(
    "eat eats drink drinks like likes have has speak speaks is am are want use need own".split()
)
_AMONG = frozenset({"in", "of", "at", "on", "from"})
"""Behind "no one": of whom it is said. "No one merges without a review" is a rule of work."""


def beyond_rules(spoken: Words, clause: Clause, language: LanguageCode) -> bool:
    """Whether a clause is negated in a way that its rules would lose or turn round.

    Args:
        spoken: The turn's repaired words.
        clause: One of its clauses.
        language: Whose words apply.
    """
    scope, norm = _scope(language), spoken.norm
    start, end = clause.start, clause.end
    first = start
    while first and norm[first - 1] in scope.denying:
        first -= 1  # "no | solo hablo": the denial was taken off the front
    for place in range(first, end):
        word = norm[place]
        if word in scope.negations:
            behind = norm[place + 1 : place + 1 + _WINDOW]
            if not scope.limiters.isdisjoint(behind):
                return True
        if language == "fr" and word == "que" and _only(norm, first, place):
            return True
        if word in scope.nobody and place <= start:
            behind = norm[place + 1 : place + 3]
            if word != "no" or (behind[:1] == ["one"] and not _AMONG.isdisjoint(behind)):
                return True
    if language == "en" and (_all_but(scope, norm, start, end) or _but_not(norm, start, end)):
        return True
    return _in_pair(scope, norm, start, end)


def _only(norm: list[str], first: int, place: int) -> bool:
    """Whether "que" narrows a French "ne": "je ne bois que du thé"."""
    return "ne" in norm[max(first, place - 4) : place] and not _ARTICLES.isdisjoint(
        norm[place + 1 : place + 2]
    )


def _all_but(scope: _Scope, norm: list[str], start: int, end: int) -> bool:
    """Whether a clause speaks of all but something, or is what is excepted."""
    for place in range(max(start - 2, 0), end):
        if norm[place] in scope.all and norm[place + 1 : place + 2] == ["but"]:
            behind = norm[place + 2 : place + 6]
            told = behind != [] and not _TELLING.isdisjoint(behind)
            return behind != [] and behind[0] not in _SUBJECTS and not told
    return False


def _but_not(norm: list[str], start: int, end: int) -> bool:
    """Whether a preposition's noun is denied: "it is dogs i am allergic to not cats"."""
    for place in range(start + 1, end - 1):
        if norm[place + 1] == "not" and place + 2 < end:
            if norm[place] == "to" and norm[place - 1] in _TIED_TO:
                return True
    return False


def _in_pair(scope: _Scope, norm: list[str], start: int, end: int) -> bool:
    """Whether a clause lies within "neither ... nor ...", said of whoever it is about."""
    for opening, closing in scope.pairs.items():
        if opening not in norm[:end] or closing not in norm:
            continue
        at = norm.index(opening)
        if at and norm[at - 1] in _OBJECT_OF:
            continue  # "i eat neither meat nor fish"
        last = next((i for i in range(at + 1, len(norm)) if norm[i] == closing), -1)
        if last > 0 and start <= last + 1 and end > at:
            return True
    return False
