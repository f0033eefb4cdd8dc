"""Where somebody is instead: "ich wohne nicht in freiburg, sondern in kirchzarten".

What is denied only leads up to what holds. The clause is read without it: "ich wohne in
kirchzarten". Words are those of the packs' grammar; the word of contrast is the cue.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bmo.gate.other_grammar import grammar
from bmo.gate.pack_tables import read_table
from bmo.gate.word_tables import word_list
from bmo.language import LanguageCode, Words

_LONGEST_DENIED = 7
_LONGEST_PLACE = 5


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """The table of ``contrasted_places.toml``; attributes are its keys."""

    contrast: frozenset[str]
    negations: frozenset[str]
    support: frozenset[str]
    places: frozenset[str]
    same_kind: frozenset[str]
    goes_on: frozenset[str]
    adverbs_between: bool


@cache
def _lexicon(language: LanguageCode) -> _Lexicon:
    raw = read_table(language, "contrasted_places.toml")
    return _Lexicon(
        contrast=word_list(raw, "contrast"),
        negations=word_list(raw, "negations"),
        support=word_list(raw, "support"),
        places=word_list(raw, "places"),
        same_kind=word_list(raw, "same_kind"),
        goes_on=word_list(raw, "goes_on"),
        adverbs_between=raw.get("adverbs_between", False),
    )


def contrast_cues(language: LanguageCode) -> frozenset[str]:
    """The words between what is denied and what holds; none where the language has no table."""
    return _lexicon(language).contrast


def without_denied_place(spoken: Words, language: LanguageCode) -> Words:
    """The turn's words without the place that is only denied; else as they are.

    Args:
        spoken: The turn's words.
        language: Theirs.
    """
    norm = spoken.norm
    lexicon = _lexicon(language)
    at = next((i for i, word in enumerate(norm) if word in lexicon.contrast), 0)
    if not at or at + 2 >= len(norm):
        return spoken
    end = _end_of(spoken, at + 1)
    if not 2 <= end - at - 1 <= _LONGEST_PLACE or not _names_a_place(norm, at, end, language):
        return spoken
    start = max(0, at - _LONGEST_DENIED - 4)
    denied = [i for i in range(start, at) if norm[i] in lexicon.negations]
    place = next(
        (i for i in range(at - 1, start, -1) if _same_kind(norm[i], norm[at + 1], lexicon)), -1
    )
    if not denied or place <= denied[0] or at - denied[-1] > _LONGEST_DENIED + 1:
        return spoken
    if any(spoken.after[i][:1] in (",", ".", "?", "!", ";") for i in range(denied[0], at - 1)):
        return spoken
    if denied[-1] > place:
        return spoken  # "in leeds not me but in ..."
    gone = {*denied, *range(place, at + 1)}
    verbs = grammar(language).verbs if language != "en" else ()
    if lexicon.adverbs_between:  # "nicht direkt", "pas vraiment", not "no vivo"
        gone.update(range(denied[-1] + 1, place))
    gone.update(i - 1 for i in denied if i and norm[i - 1] in lexicon.support)
    if any(norm[i] in verbs for i in gone):
        return spoken
    return spoken.select([i for i in range(len(norm)) if i not in gone])


def _end_of(spoken: Words, at: int) -> int:
    """The index behind the words up to the next punctuation."""
    while at < len(spoken.norm) and not spoken.after[at]:
        at += 1
    return min(at + 1, len(spoken.norm))


def _same_kind(word: str, preposition: str, lexicon: _Lexicon) -> bool:
    """Whether two prepositions open the same kind of phrase ("in" and "im")."""
    return word == preposition or {word, preposition} <= lexicon.same_kind


def _names_a_place(norm: list[str], at: int, end: int, language: LanguageCode) -> bool:
    """Whether a preposition and a few words without a verb stand behind the contrast."""
    preposition, rest = norm[at + 1], norm[at + 2 : end]
    lexicon = _lexicon(language)
    if language == "en":
        return preposition in lexicon.places and lexicon.goes_on.isdisjoint(rest)
    rules = grammar(language)
    known = preposition in rules.prepositions or preposition in lexicon.places
    subjects = rules.first.keys() | rules.third.keys()
    articles = rules.articles
    return known and not any(
        w in rules.verbs or (w in subjects and w not in articles) for w in rest
    )
