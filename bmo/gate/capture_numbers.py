"""Captured numbers, ages and dates."""

from __future__ import annotations

from bmo.gate.captures import Capture, CaptureContext, lex
from bmo.language.number_words import spoken_number
from bmo.language.times import MONTHS, NUMBER_WORDS, ORDINALS, day_number


def number(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A number in words or digits."""
    tokens = context.tokens
    value, size = spoken_number(tokens, start, end, context.language)
    if value is None:
        value, size = read_number(tokens, start, end)
    if value is None:
        return None
    return Capture(start, start + size, start + size, str(value))


def read_number(tokens: list[str], start: int, end: int) -> tuple[int | None, int]:
    """The number that begins at ``start`` ("seventy two", "72"), and how many words it takes."""
    word = tokens[start]
    if word.isdecimal() and len(word) < 7:
        return int(word), 1
    if "-" in word:
        parts = word.split("-")
        if all(p in NUMBER_WORDS for p in parts):
            return sum(NUMBER_WORDS[p] for p in parts), 1
    value = NUMBER_WORDS.get(word)
    if value is None or value < 0 or word == "oh":
        return None, 0
    if value >= 20 and start + 1 < end:
        unit = NUMBER_WORDS.get(tokens[start + 1])
        if unit is not None and 0 < unit < 10 and value < 100:
            return value + unit, 2
    if start + 1 < end and tokens[start + 1] == "hundred" and 0 < value < 10:
        return value * 100, 2
    return value, 1


def age(context: CaptureContext, start: int, end: int) -> Capture | None:
    """An age in years, 1 to 120; not a count, a price or a clock time."""
    found = number(context, start, end)
    if found is None or not 1 <= int(found.shown) <= 120:
        return None
    follow = context.tokens[found.end] if found.end < end else ""
    if follow and not lex(context, "after_age", follow):
        return None
    if follow == "and" and found.end + 1 < end and number(context, found.end + 1, end):
        return None  # "my girls are 10 and 12"
    if _compared(context, found.end - 1):
        return None  # "zwei jahre älter", "dos años más"
    if follow in ("years", "year"):
        behind = context.tokens[found.end + 1] if found.end + 1 < end else ""
        if behind not in ("old", "of", "young", ""):
            return None
    return found


def _compared(context: CaptureContext, last: int) -> bool:
    """Whether the years behind a number's last word are a difference: a pattern may hold them."""
    norm, at = context.words.norm, context.source[last]
    unit = 0 <= at < len(norm) - 2 and lex(context, "after_age", norm[at + 1])
    return unit and lex(context, "no_age", norm[at + 2])


def date(context: CaptureContext, start: int, end: int) -> Capture | None:
    """A day of the year, a date, a month or a weekday, as it was said."""
    tokens = context.tokens
    i = start
    while i < end and tokens[i] in ("on", "the", "in", "is", "of", "day"):
        i += 1
    if i >= end:
        return None
    stop = i
    seen_month = False
    while stop < end:
        word = tokens[stop]
        if word in MONTHS:
            seen_month = True
        elif not (
            word in ORDINALS
            or word in NUMBER_WORDS
            or word in ("of", "the", "de")
            or day_number(word)
            or (len(word) == 4 and word.isdigit())
            or "/" in word
        ):
            break
        stop += 1
    while stop > i and tokens[stop - 1] in ("of", "the", "de"):
        stop -= 1
    if stop == i or not (seen_month or "/" in tokens[i]):
        if context.longest("holidays", i, end):
            size = context.longest("holidays", i, end)
            return Capture(i, i + size, i + size)
        return None
    return Capture(i, stop, stop)
