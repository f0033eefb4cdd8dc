"""Words and numbers of a text as they are typed and said: "4012-8888", "double four"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

ENDS = frozenset(".;?!…")
"""Marks that end a sentence."""

_CHUNK = re.compile(r"\S+")
_CLOSING = ".,;:?)]}\"'»”…!"
_OPENING = "([{\"'«“¿¡"
_TYPED = re.compile(r"#?[a-zA-Z]{0,3}-?\d+(?:[-./]\d+)*[*#]?")
_AMOUNT = re.compile(
    r"\d+(?:st|nd|rd|th|s|am|pm|km|kg|h|x|k|m|cm|gb|mb|er|ème|º|ª)|\d\d?[:.]\d\d|\d[\d.,]*[%€$£]|"
    r"[€$£]\d.*|\d{1,3}(?:\.\d{3})+|\d\d?/\d\d?/\d{2,4}|\d{4}-\d\d-\d\d|v?\d+\.\d+\.\d+.*",
    re.I,
)
_MIXED = re.compile(
    r"(?=.*[^\W\d_])(?=.*[\d_#@$%&*!+=^])\S{4,}|\w+(?:-\w+){2,}|[a-z]+[A-Z]\S*|\S*\w[_#@$%&*]\S*"
)


class Chunk(NamedTuple):
    """A word: where it stands without its marks, in lower case, as it stands, the mark behind."""

    start: int
    end: int
    word: str
    raw: str
    mark: str

    @property
    def ends(self) -> bool:
        """Whether a sentence ends behind it."""
        return self.mark in ENDS

    @property
    def mixed(self) -> bool:
        """Whether it is letters and digits or marks as nobody writes a word ("hunter2", "a_b")."""
        raw = self.raw
        if raw.isalpha() and raw.islower():
            return False
        return bool(_MIXED.fullmatch(raw) and not _AMOUNT.fullmatch(raw) and "'" not in raw)


class Run(NamedTuple):
    """A number in one or more words: the first chunk behind it, its digits, "x" for a letter."""

    end: int
    digits: str


def chunks_of(text: str, start: int = 0, end: int | None = None) -> list[Chunk]:
    """The words of a stretch of text."""
    return [_chunk(m) for m in _CHUNK.finditer(text, start, len(text) if end is None else end)]


def _chunk(match: re.Match[str]) -> Chunk:
    raw = match.group()
    word = raw.rstrip(_CLOSING) or raw
    mark = raw[len(word) :][:1] or " "
    lead = 0 if word[0] not in _OPENING or len(word) == 1 else 1
    end = match.start() + len(word)
    if mark == "!" and not word.isalpha():
        end += 1  # "hunter2!" ends with its mark
    word = word[lead:]
    return Chunk(match.start() + lead, end, word.lower().replace("’", "'"), word, mark)


class _Numbers(NamedTuple):
    known: dict[str, str]
    tens: frozenset[str]
    repeats: dict[str, int]
    hundreds: frozenset[str]
    compound: re.Pattern[str]


@cache
def _numbers() -> _Numbers:
    source = resources.files("bmo.language") / "data" / "numerals.toml"
    raw = tomllib.loads(source.read_text(encoding="utf-8"))
    tens = {word: f"{digit}0" for word, digit in raw["tens"].items()}
    known = {**raw["units"], **raw["whole"], **tens}
    spoken = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return _Numbers(
        known,
        frozenset(tens),
        raw["repeats"],
        frozenset(word for word, digits in raw["whole"].items() if digits.startswith("00")),
        re.compile(f"(?:{spoken}|und)+"),
    )


def count_numerals(words: Sequence[str]) -> int:
    """How many of some words are numbers, or repeat one."""
    numbers = _numbers()
    return sum(word in numbers.known or word in numbers.repeats for word in words)


def is_quantity(words: Sequence[str]) -> bool:
    """Whether hundreds or thousands are among the words of a number."""
    return not _numbers().hundreds.isdisjoint(words)


def is_repeat(word: str) -> bool:
    """Whether a word repeats the digit behind it: "double"."""
    return word in _numbers().repeats


def digits(word: str) -> str | None:
    """The digits of a word ("4012-8888", "G-482", "twenty-three"), or None."""
    numbers = _numbers()
    known = numbers.known.get(word)
    if known:
        return known
    if word.isalpha():
        compound = len(word) > 8 and numbers.compound.fullmatch(word)
        return ("000" if "hundert" in word else "00") if compound else None
    if any(map(str.isdigit, word)):
        if _TYPED.fullmatch(word) and not _AMOUNT.fullmatch(word):
            return "".join(filter(str.isdigit, word))
        return None
    parts = [numbers.known.get(part) for part in word.split("-")] if "-" in word else [None]
    return "".join(part for part in parts if part) if all(parts) else None


def _may_begin(word: str) -> bool:
    numbers = _numbers()
    return word in numbers.known or word in numbers.repeats or len(word) == 1 or len(word) > 8


_JOINS = frozenset(["and", "y", "et", "dash", "then", "um", "uh", "euh", "äh", "ähm", "-"])
_TAILS = frozenset(["star", "hash", "pound", "raute", "stern", "dièse", "almohadilla"])


def run_at(chunks: Sequence[Chunk], at: int) -> Run | None:
    """The number that begins at a chunk, with the letters in it ("6 6 A 2"), or None."""
    numbers = _numbers()
    if at >= len(chunks) or (chunks[at].word.isalpha() and not _may_begin(chunks[at].word)):
        return None
    found, pending, end, letters, tens = "", "", at, 0, False
    while at < len(chunks):
        word = chunks[at].word
        following = chunks[at + 1].word if at + 1 < len(chunks) else ""
        if word in numbers.repeats:
            repeated = digits(following)
            if not repeated:
                break
            found += repeated * (numbers.repeats[word] - 1)
        elif (more := digits(word)) is not None:
            found += pending
            if tens and len(more) == 1 and more != "0" and not pending:
                found = found[:-1]
            found, pending, tens, end = found + more, "", word in numbers.tens, at + 1
        elif found and word in _JOINS and digits(following):
            pass
        elif len(word) == 1 and word.isalpha() and letters < 4 and (found or word not in "aiyoe"):
            if letters and not found:
                break
            letters += 1
            pending = "x" if found else ""
        else:
            break
        if chunks[at].ends:
            break
        at += 1
    if not found:
        return None
    return Run(end + (end < len(chunks) and chunks[end].word in _TAILS), found)
