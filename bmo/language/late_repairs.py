"""Repairs that come late: what is put right is not what stands right before them.

"I go swimming tuesdays well it was tuesdays now its thursdays", "le mardi soir je fais de la
poterie non le jeudi soir", "two kids no three": a day, a date or a number is put right where it
was said, and what was said between stays.
"""

from __future__ import annotations

from typing import Final

from bmo.language.lexicon import LanguageCode, SurfaceLexicon, match_phrase
from bmo.language.number_words import single_number_words, spoken_number
from bmo.language.times import NUMBER_WORDS, calendar_class

_BACK: Final = 14
"""Words looked back for the day that is put right."""
_DAYS: Final = ("weekday", "month")


def class_of(word: str, lexicon: SurfaceLexicon) -> str:
    """The class by which a repair finds what it repairs, or ""."""
    kind = lexicon.classes.get(word) or calendar_class(word)
    return kind or ("number" if word in single_number_words(lexicon.language) else "")


def said_late(
    norm: list[str], marks: list[str], result: list[int], at: int, lexicon: SurfaceLexicon
) -> tuple[list[int], int] | None:
    """Puts a day or a number right that was said earlier.

    Args:
        norm: The words, in normal form.
        marks: The punctuation behind each.
        result: Places of the words kept so far.
        at: Place where an editing term may begin.
        lexicon: Of the language.

    Returns:
        The places kept, in their new order, and where to go on; None where nothing is put right.
    """
    if not result:
        return None
    late = match_phrase(lexicon.late_edits, norm, at) if norm[at] in lexicon.late_edits else 0
    edit = late
    if not late:
        for table in (lexicon.strong_edits, lexicon.weak_edits):
            edit = edit or (match_phrase(table, norm, at) if norm[at] in table else 0)
    if not edit:
        return None
    first = at + edit
    restated = _day_at(norm, first, lexicon) if late else None
    behind = restated[1] if restated else first
    lead = match_phrase(lexicon.restating, norm, behind) if behind < len(norm) else 0
    right = _day_at(norm, behind + lead, lexicon)
    if restated and right is None and not lead:
        right, restated = restated, None
    if right is None or (not late and right[2] not in _DAYS):
        return None
    end = right[1]
    while end < len(norm) and norm[end] in lexicon.repair_tails:
        end += 1
    if end < len(norm) and not marks[end - 1] and not (late and (lead or restated)):
        return None
    start = behind + lead if not restated or lead or right[0] != first else right[0]
    return _in_place(norm, result, (start, *right), end, lexicon)


def _day_at(norm: list[str], first: int, lexicon: SurfaceLexicon) -> tuple[int, int, str] | None:
    """The day or number at ``first``: its own first word, the index behind it, its class."""
    place = first
    while place < len(norm) and lexicon.classes.get(norm[place]) in ("article", "preposition"):
        place += 1
    if place >= len(norm) or place > first + 2:
        return None
    kind = _value_class(norm[place], lexicon)
    if not kind:
        return None
    end = place + 1
    while end < len(norm) and (
        _value_class(norm[end], lexicon) == kind or norm[end] in lexicon.dayparts
    ):
        end += 1
    return place, end, kind


def _value_class(word: str, lexicon: SurfaceLexicon) -> str:
    """What a word is of "weekday", "month" and "number", or nothing."""
    kind = class_of(word, lexicon)
    return kind if kind in (*_DAYS, "number") else ""


def _in_place(
    norm: list[str],
    result: list[int],
    right: tuple[int, int, int, str],
    end: int,
    lexicon: SurfaceLexicon,
) -> tuple[list[int], int] | None:
    """The places kept with what is right where the last of its class stood."""
    start, own, stop, kind = right
    low = max(0, len(result) - _BACK)
    last = len(result) - 1
    while last >= low and _value_class(norm[result[last]], lexicon) != kind:
        last -= 1
    if last < low:
        return None
    first = last
    while first > 0 and _value_class(norm[result[first - 1]], lexicon) == kind:
        first -= 1
    behind = last + 1
    if norm[stop - 1] in lexicon.dayparts:
        while behind < len(result) and norm[result[behind]] in lexicon.dayparts:
            behind += 1
    kept_lead = own  # "on tuesdays ... its thursdays": "on" was said before
    if own > start and first > 0:
        lead = lexicon.classes.get(norm[result[first - 1]])
        if lead in ("article", "preposition"):
            first, kept_lead = first - 1, start
    return [*result[:first], *range(kept_lead, stop), *result[behind:]], end


def counted_again(
    norm: list[str], result: list[int], cut: int, follow: int, lexicon: SurfaceLexicon
) -> tuple[list[int], int]:
    """What a number counts that is said again alone: "kids" of "two kids no three".

    Args:
        norm: The words, in normal form.
        result: Places of the words kept so far.
        cut: Index in ``result`` of the number that is said again.
        follow: Place of the number that is right.
        lexicon: Of the language.

    Returns:
        The words counted, and how many words the number takes that is said again.
    """
    language = lexicon.language
    none: tuple[list[int], int] = ([], 1)
    if not (_number_kind(norm[follow], language) and _number_kind(norm[result[cut]], language)):
        return none
    size = spoken_number(norm, follow, len(norm), language)[1] or 1
    said = spoken_number([norm[p] for p in result[cut:]], 0, len(result) - cut, language)[1] or 1
    nouns = result[cut + said :]
    if not 0 < len(nouns) <= _LONGEST_COUNTED:
        return none
    behind = norm[follow + size] if follow + size < len(norm) else ""
    if behind and behind not in _GOES_ON and (language == "en" or behind not in lexicon.classes):
        return none
    words = [norm[p] for p in nouns]
    plain = _NOT_COUNTED.isdisjoint(words) and not any(w in NUMBER_WORDS for w in words)
    return (nouns, size) if plain else none


def _number_kind(word: str, language: LanguageCode) -> bool:
    """Whether a word is or begins a number in ``language``."""
    return calendar_class(word) == "number" or word in single_number_words(language)


_LONGEST_COUNTED = 3
_GOES_ON = frozenset("and but so i we he she they now in at on for with depuis seit".split())
"""Words behind a number that stands alone."""
_NOT_COUNTED = frozenset("is are was am and or but to at in on till until i we he she they".split())
