"""German, French and Spanish number words: "vierunddreißig", "soixante dix sept", "ochenta y un".

Each language builds what is above twenty in a way of its own; how, and of which words, is data
(``data/number_words.toml``). Read word by word they would come out as another number
("cuarenta y ocho" as forty).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from bmo.language.lexicon import LanguageCode

_LONGEST: Final = 5
"""Words of the longest number below a hundred and twenty ("quatre vingt dix sept")."""


@dataclass(frozen=True, eq=False)
class _Words:
    """A language's table of ``number_words.toml``; its keys are explained there."""

    built: str
    joins: frozenset[str]
    units: dict[str, int]
    teens: dict[str, int]
    tens: dict[str, int]


@cache
def _tables() -> dict[str, _Words]:
    source = resources.files("bmo.language") / "data" / "number_words.toml"
    raw = tomllib.loads(source.read_text("utf-8"))
    return {
        language: _Words(
            table["built"],
            frozenset(table["joins"]),
            table["units"],
            table["teens"],
            table["tens"],
        )
        for language, table in raw.items()
    }


@cache
def single_number_words(language: LanguageCode) -> dict[str, int]:
    """Every number that is one word in ``language``; none of English, which the calendar has."""
    words = _tables().get(language)
    if words is None:
        return {}
    found = words.units | words.teens | words.tens
    if words.built == "unit first":
        for unit, one in words.units.items():
            for join in words.joins:
                found |= {
                    f"{unit}{join}{ten}": one + tenfold for ten, tenfold in words.tens.items()
                }
    return found


def spoken_number(
    tokens: list[str], start: int, end: int, language: LanguageCode
) -> tuple[int | None, int]:
    """The number in words that begins at ``start``, and how many tokens it takes.

    Args:
        tokens: Words in normal form; hyphens may stand for spaces.
        start: Index of its first word.
        end: Index behind the last word it may take.
        language: Of the words.

    Returns:
        (None, 0) where no number stands there.
    """
    words = _tables().get(language)
    if words is None or start >= end:
        return None, 0
    parts: list[str] = []
    lasts: list[int] = []  # for each part, how many tokens are read when it is
    for read, token in enumerate(tokens[start : min(end, start + _LONGEST)], 1):
        if token in single_number_words(language):
            parts.append(token)
            lasts.append(read)
            continue
        found = token.split("-")
        parts += found
        lasts += [0] * (len(found) - 1) + [read]
    value, size = _number(parts, words, language)
    while size and not lasts[size - 1]:
        return None, 0  # a number that is part of another word
    return (value, lasts[size - 1]) if size else (None, 0)


def _number(parts: list[str], words: _Words, language: LanguageCode) -> tuple[int, int]:
    """The number that the parts begin with, and how many of them it takes (0: none)."""
    first = parts[0]
    tens, size = words.tens.get(first, 0), 1
    if words.built == "scored" and first == "quatre" and parts[1:2] in (["vingt"], ["vingts"]):
        tens, size = 80, 2
    if not tens:
        value = single_number_words(language).get(first)
        if value is None:
            return 0, 0
        if words.built == "scored" and value == 10 and parts[1:2]:
            unit = words.units.get(parts[1], 0)
            if unit > 6:
                return 10 + unit, 2  # "dix sept"
        return value, 1
    if words.built == "unit first":
        return tens, size
    behind = parts[size : size + 1]
    joined = bool(behind) and behind[0] in words.joins
    if words.built == "joined" and not joined:
        return tens, size
    follow = parts[size + joined :]
    if not follow:
        return tens, size
    if words.built == "scored" and first in ("soixante", "quatre"):
        more, taken = _below_twenty(follow, words)
    else:
        more, taken = words.units.get(follow[0], 0), 1
    if not more:
        return tens, size
    return tens + more, size + joined + taken


def _below_twenty(parts: list[str], words: _Words) -> tuple[int, int]:
    """What counts on behind sixty and eighty in French: one to nineteen."""
    first = parts[0]
    teen = words.teens.get(first, 0)
    if teen == 10 and parts[1:2] and words.units.get(parts[1], 0) > 6:
        return 10 + words.units[parts[1]], 2
    return (teen if 10 <= teen < 20 else words.units.get(first, 0)), 1
