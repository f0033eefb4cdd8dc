"""Time expressions: dates, yearly days, relative days and recurring days, resolved to a moment.

The finder is small on purpose: it reads what people say about themselves ("ninth of june", "in
september", "next friday", "in 2019", "every tuesday"), not every form a calendar knows.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from importlib import resources
from typing import Literal

TimeKind = Literal["date", "yearly", "month", "year", "relative", "recurring", "duration", "clock"]
"""What a time expression says: a day, a day of every year, a month, ..."""


def _calendar() -> dict[str, dict[str, int]]:
    source = resources.files("bmo.language") / "data" / "calendar.toml"
    return tomllib.loads(source.read_text("utf-8"))


_CALENDAR = _calendar()
NUMBER_WORDS = _CALENDAR["numbers"]
"""Number words of the four languages; "double" and "triple" are marked negative."""
ORDINALS = _CALENDAR["ordinals"]
"""Ordinals of days."""
MONTHS = _CALENDAR["months"]
"""Month names of the four languages."""
WEEKDAYS = _CALENDAR["weekdays"]
"""Weekday names of the four languages."""

_RELATIVE_DAYS = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1,
                  "heute": 0, "morgen": 1, "gestern": -1, "demain": 1, "hier": -1, "hoy": 0,
                  "mañana": 1, "ayer": -1}  # fmt: skip
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "month": 30, "months": 30, "year": 365,
          "years": 365}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A time found in words.

    Attributes:
        start: Index of its first word.
        end: Index behind its last word.
        kind: What it says.
        iso: ISO 8601 date, "--06-09" for a day of every year, "2026-09" for a month, or "".
    """

    start: int
    end: int
    kind: TimeKind
    iso: str


def calendar_class(word: str) -> str:
    """Reads "month", "weekday" or "number" for a calendar word or number, else ""."""
    if word in MONTHS and word != "may":
        return "month"
    if word in WEEKDAYS:
        return "weekday"
    if (
        word[:1].isdigit()
        or (word in NUMBER_WORDS and word not in ("one", "oh"))
        or word in ORDINALS
    ):
        return "number"
    return ""


def day_number(word: str) -> int | None:
    """The day of a month that a word names ("ninth", "9th", "9"), or None."""
    if word in ORDINALS:
        return ORDINALS[word]
    digits = word.rstrip("stndrh.")
    if digits.isdigit() and 1 <= int(digits) <= 31:
        return int(digits)
    value = NUMBER_WORDS.get(word)
    return value if value is not None and 1 <= value <= 31 else None


def find_times(norm: list[str], at: datetime) -> list[TimeExpression]:
    """Finds time expressions in normalised words and resolves them against ``at``.

    Args:
        norm: Words of a clause in normal form.
        at: When it was said.

    Returns:
        Expressions from left to right, not overlapping.
    """
    found: list[TimeExpression] = []
    i = 0
    while i < len(norm):
        expression = _at(norm, i, at)
        if expression is None:
            i += 1
        else:
            found.append(expression)
            i = expression.end
    return found


def _at(norm: list[str], i: int, at: datetime) -> TimeExpression | None:
    word = norm[i]
    size = len(norm)
    if word in _RELATIVE_DAYS:
        day = at.date() + timedelta(days=_RELATIVE_DAYS[word])
        return TimeExpression(i, i + 1, "relative", day.isoformat())
    if word in ("every", "each", "jeden", "chaque", "cada") and i + 1 < size:
        if norm[i + 1] in WEEKDAYS or norm[i + 1] in _UNITS or norm[i + 1] in _DAY_PARTS:
            return TimeExpression(i, i + 2, "recurring", "")
    dated = _day_and_month(norm, i, at)
    if dated is not None:
        return dated
    if word in WEEKDAYS:
        if word.endswith("days") or ((i and norm[i - 1] in ("a", "on")) and word.endswith("s")):
            return TimeExpression(i, i + 1, "recurring", "")
        ahead = (WEEKDAYS[word] - at.weekday()) % 7 or 7
        return TimeExpression(i, i + 1, "relative", (at.date() + timedelta(ahead)).isoformat())
    if word in MONTHS and (
        word not in ("may", "march")
        or (i and norm[i - 1] in ("in", "by", "of", "last", "next", "this", "since"))
    ):
        return TimeExpression(i, i + 1, "month", _month(MONTHS[word], norm, i, at))
    if word in ("next", "last", "this") and i + 1 < size and norm[i + 1] in _UNITS:
        sign = {"next": 1, "last": -1, "this": 0}[word]
        shifted = at.date() + timedelta(days=sign * _UNITS[norm[i + 1]])
        return TimeExpression(i, i + 2, "relative", shifted.isoformat())
    if len(word) == 4 and word.isdigit() and 1900 <= int(word) <= 2100:
        return TimeExpression(i, i + 1, "year", word)
    value = NUMBER_WORDS.get(word) or (int(word) if word.isdigit() and len(word) < 4 else None)
    if value and value > 0 and i + 1 < size and norm[i + 1] in _UNITS:
        days = value * _UNITS[norm[i + 1]]
        behind = norm[i + 2] if i + 2 < size else ""
        if behind in ("ago", "back"):
            return TimeExpression(i, i + 3, "relative", _shift(at.date(), -days))
        if i and norm[i - 1] == "in":
            return TimeExpression(i - 1, i + 2, "relative", _shift(at.date(), days))
        return TimeExpression(i, i + 2, "duration", "")
    return None


_DAY_PARTS = frozenset(
    ("autumn day evening morning night spring summer sunday weekend winter").split()
)


def _shift(day: date, days: int) -> str:
    try:
        return (day + timedelta(days=days)).isoformat()
    except OverflowError:
        return ""


def _day_and_month(norm: list[str], i: int, at: datetime) -> TimeExpression | None:
    """Reads "the ninth of june", "june ninth", "9 june 1990", "june 9th"."""
    size = len(norm)
    word = norm[i]
    day: int | None = None
    month: int | None = None
    end = i
    compound = norm[i + 1] if i + 1 < size else ""
    if word in ("twenty", "thirty") and compound in ORDINALS and ORDINALS[compound] < 10:
        day, end = NUMBER_WORDS[word] + ORDINALS[compound], i + 2
    elif word not in MONTHS:
        day, end = day_number(word), i + 1
    if day is not None:
        if end < size and norm[end] in ("of", "de"):
            end += 1
        if end < size and norm[end] in MONTHS:
            month, end = MONTHS[norm[end]], end + 1
        else:
            return None
    elif word in MONTHS and i + 1 < size:
        month, end = MONTHS[word], i + 1
        if norm[end] == "the" and end + 1 < size:
            end += 1
        after = norm[end + 1] if end + 1 < size else ""
        if norm[end] in ("twenty", "thirty") and after in ORDINALS and ORDINALS[after] < 10:
            day, end = NUMBER_WORDS[norm[end]] + ORDINALS[after], end + 2
        else:
            day, end = day_number(norm[end]), end + 1
        if day is None:
            return None
    if day is None or month is None:
        return None
    if end < size and len(norm[end]) == 4 and norm[end].isdigit():
        return TimeExpression(i, end + 1, "date", f"{norm[end]}-{month:02d}-{day:02d}")
    return TimeExpression(i, end, "yearly", f"--{month:02d}-{day:02d}")


def _month(month: int, norm: list[str], i: int, at: datetime) -> str:
    if i + 1 < len(norm) and len(norm[i + 1]) == 4 and norm[i + 1].isdigit():
        return f"{norm[i + 1]}-{month:02d}"
    before = norm[i - 1] if i else ""
    year = at.year
    if before in ("last", "since") and month >= at.month:
        year -= 1
    elif before != "last" and before != "since" and month < at.month:
        year += 1
    return f"{year}-{month:02d}"
