"""Where somebody is instead: "ich wohne nicht in freiburg, sondern in kirchzarten".

What is denied only leads up to what holds. The clause is read without it: "ich wohne in
kirchzarten". Words are those of the packs' grammar; the word of contrast is the cue.
"""

from __future__ import annotations

from collections.abc import Mapping

from bmo.gate.other_grammar import grammar
from bmo.language import LanguageCode, Words

CONTRAST: Mapping[LanguageCode, str] = {"en": "but", "de": "sondern", "fr": "mais", "es": "sino"}
"""What stands between what is denied and what holds."""
_ENGLISH_PLACES = frozenset({"in", "at", "near", "by"})
_IN = frozenset({"in", "im"})
_LONGEST_DENIED = 7
_LONGEST_PLACE = 5
_SUPPORT = frozenset({"do", "does"})
_GOES_ON = frozenset("when if because i we he she they you it the and so then".split())


def without_denied_place(spoken: Words, language: LanguageCode) -> Words:
    """The turn's words without the place that is only denied; else as they are.

    Args:
        spoken: The turn's words.
        language: Theirs.
    """
    norm = spoken.norm
    cue = CONTRAST[language]
    at = norm.index(cue) if cue in norm else 0
    if not at or at + 2 >= len(norm):
        return spoken
    end = _end_of(spoken, at + 1)
    if not 2 <= end - at - 1 <= _LONGEST_PLACE or not _names_a_place(norm, at, end, language):
        return spoken
    start = max(0, at - _LONGEST_DENIED - 4)
    denied = [i for i in range(start, at) if norm[i] in _negations(language)]
    place = next(
        (i for i in range(at - 1, start, -1) if _same_kind(norm[i], norm[at + 1], language)), -1
    )
    if not denied or place <= denied[0] or at - denied[-1] > _LONGEST_DENIED + 1:
        return spoken
    if any(spoken.after[i][:1] in (",", ".", "?", "!", ";") for i in range(denied[0], at - 1)):
        return spoken
    if denied[-1] > place:
        return spoken  # "in leeds not me but in ..."
    gone = {*denied, *range(place, at + 1)}
    verbs = grammar(language).verbs if language != "en" else ()
    for i in range(denied[-1] + 1, place):  # "nicht direkt", "pas vraiment", not "no vivo"
        if language in ("de", "fr"):
            if norm[i] in verbs:
                return spoken
            gone.add(i)
    if language == "en":
        gone.update(i - 1 for i in denied if i and norm[i - 1] in _SUPPORT)
    if any(norm[i] in verbs for i in gone):
        return spoken
    return spoken.select([i for i in range(len(norm)) if i not in gone])


def _end_of(spoken: Words, at: int) -> int:
    """The index behind the words up to the next punctuation."""
    while at < len(spoken.norm) and not spoken.after[at]:
        at += 1
    return min(at + 1, len(spoken.norm))


def _negations(language: LanguageCode) -> frozenset[str]:
    if language == "en":
        return frozenset({"not"})
    return frozenset({"nicht", "nich", "ne", "n'", "pas", "no"}) & (
        grammar(language).negations | {"nich", "n'"}
    )


def _same_kind(word: str, preposition: str, language: LanguageCode) -> bool:
    """Whether two prepositions open the same kind of phrase ("in" and "im")."""
    return word == preposition or (language == "de" and {word, preposition} <= _IN)


def _names_a_place(norm: list[str], at: int, end: int, language: LanguageCode) -> bool:
    """Whether a preposition and a few words without a verb stand behind the contrast."""
    preposition, rest = norm[at + 1], norm[at + 2 : end]
    if language == "en":
        return preposition in _ENGLISH_PLACES and _GOES_ON.isdisjoint(rest)
    rules = grammar(language)
    known = preposition in rules.prepositions or preposition in _IN
    subjects = rules.first.keys() | rules.third.keys()
    articles = rules.articles
    return known and not any(
        w in rules.verbs or (w in subjects and w not in articles) for w in rest
    )
