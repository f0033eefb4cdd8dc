"""Digits as people say them: "5 8 0 2", "4012 8888", "double four nine one", "zweiundvierzig".

A run is a maximal sequence of number words and numerals with nothing but separators and fillers
between them. What a run means (a code, a telephone number, an age) is not decided here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple

_TOKEN = re.compile(r"(['’]s\b|[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)*|\d+|\S)")
_PLAIN_SEPARATORS = frozenset(",-–—/")
_VALUE_DIGITS = 18
"""How much of a numeral counts as its value: whether numbers count up is all that it tells."""
_SEPARATORS = _PLAIN_SEPARATORS | {"."}


class Token(NamedTuple):
    """A word, a numeral or a single mark, with its place in the text (characters)."""

    text: str
    start: int
    end: int


class DigitRun(NamedTuple):
    """Numbers said in a row.

    Attributes:
        first: Index of the first token.
        last: Index of the last token.
        start: Character offset where it starts.
        end: Character offset after it.
        digits: What was said, as digits ("double four" is "44", "forty two" is "42").
        quantity: It has a word such as "hundred", so it is likely an amount.
        spoken: It has at least one number word.
        counting: It only counts up or down by one ("one two three four").
        singles: It is said digit by digit ("seven four", not "seventy four").
    """

    first: int
    last: int
    start: int
    end: int
    digits: str
    quantity: bool
    spoken: bool
    counting: bool
    singles: bool


@dataclass(frozen=True, slots=True)
class NumberWords:
    """The number words of one or more languages, lower-case.

    ``starters`` are the words that a run may start with; ``repeats`` says how often a digit is
    meant ("double" 2) and ``quantities`` how many zeros a word adds ("hundred" 2).
    """

    digits: Mapping[str, str]
    teens: Mapping[str, str]
    tens: Mapping[str, str]
    repeats: Mapping[str, int]
    quantities: Mapping[str, int]
    joiners: frozenset[str]
    inner: frozenset[str]
    fillers: frozenset[str]
    tails: frozenset[str]
    starters: frozenset[str]

    def starts(self, word: str) -> bool:
        """Whether a run may start with ``word``."""
        return word in self.starters or word.isdigit()


def tokenise(text: str) -> list[Token]:
    """Splits text into words (lower-case), numerals and marks, in linear time."""
    lowered = text.lower()
    grown = len(lowered) != len(text)  # a few letters of other scripts grow when lowered
    parts = _TOKEN.split(text if grown else lowered)  # gap, token, gap, ..., token, gap
    borders = list(accumulate(map(len, parts)))
    words = parts[1::2]
    if grown or "’" in text:
        words = [word.lower().replace("’", "'") for word in words]
    made = partial(tuple.__new__, Token)
    return list(map(made, zip(words, borders[0:-1:2], borders[1::2], strict=True)))


def find_runs(tokens: list[Token], words: NumberWords) -> list[DigitRun]:
    """All runs of numbers, in order.

    Args:
        tokens: What ``tokenise`` returned.
        words: The number words to read.
    """
    runs: list[DigitRun] = []
    behind = 0
    starters, inner = words.starters, words.inner
    for index, (word, _, _) in enumerate(tokens):
        if index < behind or not (
            word in starters
            or word.isdigit()
            or (word in inner and _neighbours_digit(tokens, index, words))
        ):
            continue
        run = _read_run(tokens, index, words)
        if run is not None:
            runs.append(run)
            behind = run.last + 1
    return runs


def _read_run(tokens: list[Token], first: int, words: NumberWords) -> DigitRun | None:
    """Reads the longest run that starts at token ``first``."""
    digits: list[str] = []
    values: list[int] = []
    quantity = spoken = False
    index, last, size = first, first - 1, len(tokens)
    while index < size:
        word = tokens[index][0]
        if word.isdigit():
            piece = word if word.isascii() else _ascii_digits(word)
            digits.append(piece)
            values.append(int(piece[-_VALUE_DIGITS:]))
            last = index
            index += 1
            if index + 1 < size and tokens[index][0] in _PLAIN_SEPARATORS:
                index += tokens[index + 1][0].isdigit()
            continue
        if word in words.repeats:
            piece, used = _repeated(tokens, index, words)
            if not used:
                break
            spoken = True
        elif word in words.tens:
            piece, used = _tens(tokens, index, words)
            spoken = True
        elif word in words.teens or word in words.digits:
            if word in words.inner and not _neighbours_digit(tokens, index, words):
                break
            piece, used = words.teens.get(word) or words.digits[word], 1
            spoken = True
        elif word in words.quantities and digits:
            quantity = True
            digits.append("0" * words.quantities[word])
            index += 1
            last = index - 1
            continue
        else:
            if word not in _SEPARATORS and word not in words.fillers:
                break
            skipped = _separator_length(tokens, index, words)
            if not skipped:
                break
            index += skipped
            continue
        digits.append(piece)
        values.append(int(piece[0] if word in words.repeats else piece))
        index += used
        last = index - 1
    if not digits:
        return None
    start, end = tokens[first][1], tokens[last][2]
    counting = singles = False
    if len(values) > 1:
        counting = len(values) > 2 and {b - a for a, b in pairwise(values)} in ({1}, {-1})
        singles = max(values) < 10
    row = (first, last, start, end, "".join(digits), quantity, spoken, counting, singles)
    return tuple.__new__(DigitRun, row)


def _ascii_digits(word: str) -> str:
    """Decimal digits of any script as 0-9; digits without a decimal value count as 0."""
    if word.isascii():
        return word
    return "".join(str(int(char)) if char.isdecimal() else "0" for char in word)


def _repeated(tokens: list[Token], index: int, words: NumberWords) -> tuple[str, int]:
    """Reads "double four"; (digits, tokens used), or ("", 0) when no digit follows."""
    if index + 1 >= len(tokens):
        return "", 0
    following = tokens[index + 1].text
    digit = words.digits.get(following) or (following if len(following) == 1 else "")
    if not digit.isdigit():
        return "", 0
    return _ascii_digits(digit) * words.repeats[tokens[index].text], 2


def _tens(tokens: list[Token], index: int, words: NumberWords) -> tuple[str, int]:
    """Reads "forty", "forty two", "forty-two", "treinta y cuatro"."""
    ten = words.tens[tokens[index].text]
    if len(ten) == 2:
        return ten, 1
    for gap in (1, 2):
        if index + gap >= len(tokens):
            break
        between = tokens[index + 1].text
        if gap == 2 and between != "-" and between not in words.joiners:
            break
        unit = words.digits.get(tokens[index + gap].text, "0")
        if unit != "0":
            return ten + unit, gap + 1
    return ten + "0", 1


def _neighbours_digit(tokens: list[Token], index: int, words: NumberWords) -> bool:
    """Whether the token after ``index`` is a number: "four oh two", not "oh i see"."""
    return index + 1 < len(tokens) and (
        words.starts(tokens[index + 1].text) or tokens[index + 1].text in words.inner
    )


def _follows_alone(tokens: list[Token], index: int, words: NumberWords) -> bool:
    """Whether a number stands alone in its sentence, as recognisers print slow dictation."""
    if index >= len(tokens) or not words.starts(tokens[index].text):
        return False
    return index + 1 >= len(tokens) or tokens[index + 1].text in (".", ",", "!", "?")


def _separator_length(tokens: list[Token], index: int, words: NumberWords) -> int:
    """How many tokens at ``index`` only separate two numbers of one run; 0 when they end it."""
    length = 0
    while index + length < len(tokens) and length < 3:
        word, start, end = tokens[index + length]
        if word == ".":
            glued = start == tokens[index + length - 1].end
            spaced_after = (
                index + length + 1 < len(tokens) and tokens[index + length + 1].start > end
            )
            if glued and spaced_after and not _follows_alone(tokens, index + length + 1, words):
                return 0  # the end of a sentence
        elif word not in _SEPARATORS and word not in words.fillers:
            break
        length += 1
    following = index + length
    if length and following < len(tokens):
        word = tokens[following].text
        if words.starts(word) or word in words.inner:
            return length
    return 0
