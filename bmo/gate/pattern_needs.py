"""What a text must hold for an injection pattern to match it, read off the pattern itself.

RE2's filter looks for the literals that a pattern cannot do without, in every text anew. Words come
again and again, though: here what each word satisfies is worked out once, and a text is done with
one look-up a word. A need is a set of fragments of which one must stand in the text; each lies
within what stands between two blanks, so that words can be looked at one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import re2

from bmo.language.by_piece import LONGEST_PIECE, ByPiece, PiecesThat
from bmo.language.identification import function_words

EDGE = "\x1f"
"""In a fragment: here a mark, a blank, or the end of the text."""
Need = frozenset[str]

_WORD = re.compile(r"[0-9a-z\u0080-\U0010ffff]")
_PLAIN = re.compile(_WORD.pattern + "+(?![?*+{])")
_NEUTRAL = re.compile(r"[^\\(\[|)]+")
_QUANTIFIER = re.compile(r"(?:[?*+]|\{(\d+)(?:,\d*)?\})\??")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_MARKS_ONLY = re.compile(r"\[[ ,.;:!?\"/*_-]+\]")
_RARE_MARKS = re.compile(r"\[[*_]+\]")
_ESCAPE = re.compile(r"\\(?:[pP](?:\{\w+\}|\w)|.)", re.DOTALL)


class _Read(NamedTuple):
    """What an alternative needs, and whether it ends at an edge."""

    needs: list[Need]
    at_edge: bool


def pattern_needs(pattern: str, *, left: bool, right: bool, dialect: bool) -> list[Need]:
    """The needs of a pattern; a text that misses one of them does not match.

    Args:
        pattern: As written in the pack, word classes spelled out.
        left: Only a mark, a blank or the beginning may stand before a match.
        right: The same behind it.
        dialect: Blanks, "..." and apostrophes have the pack's meaning, not RE2's.
    """
    return _read(pattern.lower(), dialect, left, right).needs


@lru_cache(maxsize=256)
def _read(source: str, dialect: bool, left: bool, right: bool) -> _Read:
    """Reads a pattern, or a group: packs write the same word classes again and again."""
    return _Reader(source, dialect).any_of(0, len(source), left, right)


class _Reader:
    """Reads a pattern from left to right; what it does not understand needs nothing."""

    def __init__(self, source: str, dialect: bool) -> None:
        self.source = source
        self.dialect = dialect
        self._ends: dict[int, int] = {}

    def any_of(self, begin: int, end: int, left: bool, right: bool) -> _Read:
        """The alternatives of ``source[begin:end]``: one of them must be there."""
        borders = [begin - 1, *self._bars(begin, end), end]
        read = [self._sequence(first + 1, last, left, right) for first, last in pairwise(borders)]
        at_edge = all(one.at_edge for one in read)
        if len(read) == 1:
            return read[0]
        if not all(one.needs for one in read):
            return _Read([], at_edge)
        either = [fragment for one in read for fragment in rarest(one.needs)[0]]
        return _Read([frozenset(either)], at_edge)

    def _bars(self, begin: int, end: int) -> list[int]:
        bars, at = [], begin
        while at < end:
            neutral = _NEUTRAL.match(self.source, at, end)
            if neutral:
                at = neutral.end()
                continue
            if self.source[at] == "|":
                bars.append(at)
            at = self._behind(at)
        return bars

    def _behind(self, at: int) -> int:
        """The index behind the element at ``at``, without its quantifier."""
        char = self.source[at]
        if char == "\\":
            found = _ESCAPE.match(self.source, at)
            return found.end() if found else at + 1
        if char == "[":
            found = _CLASS.match(self.source, at)
            return found.end() if found else at + 1
        if char != "(":
            return at + 1
        end = self._ends.get(at)
        if end is None:
            end = at + 1
            while self.source[end] != ")":
                neutral = _NEUTRAL.match(self.source, end)
                end = neutral.end() if neutral else self._behind(end)
            end = self._ends[at] = end + 1
        return end

    def _sequence(self, begin: int, end: int, left: bool, right: bool) -> _Read:
        source, needs, run, at = self.source, list[Need](), EDGE if left else "", begin
        while at < end:
            plain = _PLAIN.match(source, at, end)
            if plain:
                run += plain[0]
                at = plain.end()
                continue
            if self.dialect and source.startswith("...", at):
                _close(needs, run)
                run = EDGE if at and source.startswith(" ... ", at - 1) else ""
                at += 4 if source.startswith(" ", at + 3) else 3
                continue
            behind = self._behind(at)
            quantifier = _QUANTIFIER.match(source, behind, end)
            after = quantifier.end() if quantifier else behind
            fewest = _fewest(quantifier)
            char = source[at]
            if char == "(":
                follow = quantifier is None and self._edge_at(after, end, right)
                run = self._group(needs, run, at, behind, fewest, follow)
            elif self._is_edge(at, behind):
                if quantifier is None and run.strip(EDGE) and char not in " [":
                    run += source[behind - 1]  # "a.i."
                elif fewest:
                    _close(needs, run + EDGE)
                    if char not in " [":
                        needs.append(frozenset({source[behind - 1 : behind]}))
                    elif _RARE_MARKS.fullmatch(source, at, behind):
                        needs.append(frozenset(source[at + 1 : behind - 1]))
                    run = EDGE
                elif run != EDGE:
                    _close(needs, run)
                    run = ""
            elif not fewest or not self._is_letter(at):
                _close(needs, run)
                run = ""
            else:
                run += char
                if quantifier:
                    _close(needs, run)
                    run = ""
            at = after
        at_edge = run == EDGE
        _close(needs, run + EDGE if right else run)
        return _Read(needs, at_edge)

    def _group(
        self, needs: list[Need], run: str, at: int, behind: int, fewest: int, follow: bool
    ) -> str:
        """Adds what a group needs; returns what is known of the place behind it."""
        before = run == EDGE
        _close(needs, run)
        if not self.source.startswith("(?:", at):
            return ""
        inner = _read(self.source[at + 3 : behind - 1], self.dialect, before, follow)
        if fewest:
            needs += inner.needs
        return EDGE if inner.at_edge and (fewest or before) else ""

    def _is_letter(self, at: int) -> bool:
        return _WORD.match(self.source, at) is not None

    def _is_edge(self, at: int, behind: int) -> bool:
        """Whether the element matches marks or blanks only."""
        char = self.source[at]
        if char == "[":
            return _MARKS_ONLY.fullmatch(self.source, at, behind) is not None
        if char == "\\":
            return behind == at + 2 and not self.source[at + 1].isalnum()
        if char == "'":
            return not self.dialect  # in the packs' dialect it may be missing
        return char not in ".^$" and not self._is_letter(at)

    def _edge_at(self, at: int, end: int, right: bool) -> bool:
        """Whether a mark or a blank must follow."""
        if at >= end:
            return right
        if self.dialect and self.source.startswith("...", at):
            return False
        behind = self._behind(at)
        if self.source[at] in "(|" or not self._is_edge(at, behind):
            return False
        return _fewest(_QUANTIFIER.match(self.source, behind, end)) > 0


def _fewest(quantifier: re.Match[str] | None) -> int:
    if quantifier is None:
        return 1
    if quantifier[1] is not None:
        return int(quantifier[1])
    return 1 if quantifier[0][0] == "+" else 0


def _close(needs: list[Need], run: str) -> None:
    if run.strip(EDGE):
        needs.append(frozenset({run}))


def rarest(needs: Iterable[Need]) -> list[Need]:
    """The needs in order, those first that ordinary talk seldom satisfies."""
    return sorted(needs, key=lambda need: (_commonness(need), len(need), min(need)))


def _commonness(need: Need) -> float:
    """A guess: function words are common, then short words; parts of words more than whole ones."""
    return sum(map(_commonness_of, need))


@lru_cache(maxsize=2048)
def _commonness_of(fragment: str) -> float:
    bare = fragment.strip(EDGE)
    if not bare.isascii():
        return 0.0  # never asked of other text
    if _WORD.search(bare) is None:
        return 1.0 if bare in _ORDINARY_MARKS else 0.0
    if bare in _COMMONEST:
        return _IN_EVERY_OTHER
    open_ends = (fragment[0] != EDGE) + (fragment[-1] != EDGE)
    return 4.0 ** -len(bare) * (1, 8, 64)[open_ends] + (bare in function_words())


_COMMONEST = frozenset(
    "i you the a it to is my of and we that what have in do for on are with me this".split()
)
_IN_EVERY_OTHER = 20.0
_ORDINARY_MARKS = frozenset(".,?!'-")


class NeededWords:
    """Which patterns a text may match, by what each of its words satisfies.

    Of each pattern the two needs are kept that ordinary talk satisfies least. A set of patterns is
    a number with one bit for each: the lower half for the first needs, the upper for the second.

    Attributes:
        certain: Every pattern needs something.
        plain: The pieces that satisfy no pattern's first need.
    """

    def __init__(self, patterns: Sequence[Sequence[Need]]) -> None:
        """The table for patterns with these needs."""
        self._size = len(patterns)
        self._single = 0  # patterns with one need only
        self.certain = True
        self._whole: dict[str, int] = {}
        self._fronts: dict[str, int] = {}
        self._parts: dict[str, int] = {}
        self._needs_of = ByPiece(self._read)
        self.plain = PiecesThat(self._satisfies_no_first)
        self._first = (1 << self._size) - 1
        for place, needs in enumerate(patterns):
            kept = rarest(needs)[:2]
            self.certain &= bool(kept)
            self._single |= (len(kept) == 1) << place
            for half, need in enumerate(kept):
                for fragment in need:
                    table, key = self._table_of(fragment)
                    table[key] = table.get(key, 0) | 1 << (place + half * self._size)
        self._lengths = sorted({len(front) for front in self._fronts})
        self._needs_of_parts = list(self._parts.values())
        self._find_parts = re2.Set.SearchSet()
        for part in self._parts:
            self._find_parts.Add(re2.escape(part))
        self._find_parts.Compile()

    def _table_of(self, fragment: str) -> tuple[dict[str, int], str]:
        bare = fragment.strip(EDGE)
        if _MARKS.search(bare) is not None and bare.isascii():
            return self._parts, bare
        if fragment == EDGE + bare + EDGE:
            return self._whole, bare
        if fragment == EDGE + bare:
            return self._fronts, bare
        return self._parts, fragment

    def may_match(self, pieces: Sequence[str]) -> bool:
        """Whether a pattern may match; False is certain.

        Args:
            pieces: What stands between the blanks of a text in ASCII.
        """
        if not self.certain:
            return True
        if len(pieces) > _MANY_PIECES:
            return not self.plain.hold_all(pieces)
        satisfied = 0
        for needs in filter(None, map(self._needs_of.__getitem__, pieces)):
            satisfied |= needs
        return satisfied & (satisfied >> self._size | self._single) & self._first != 0

    def _satisfies_no_first(self, piece: str) -> bool:
        return self._needs_of[piece] & self._first == 0

    def _read(self, piece: str) -> int:
        """What a piece satisfies."""
        if len(piece) > LONGEST_PIECE:
            return -1  # all of them: no word, and a bound on time for hostile text
        piece = piece.lower()
        words = _MARKS.split(piece)
        padded = EDGE.join(["", *words, ""])
        found = 0
        for word in words:
            found |= self._whole.get(word, 0)
            for length in self._lengths:
                found |= self._fronts.get(word[:length], 0)
        for place in self._find_parts.Match(f"{padded} {piece}") or ():
            found |= self._needs_of_parts[place]
        return found


_MARKS = re.compile("[^0-9a-z]+")
_MANY_PIECES = 60
