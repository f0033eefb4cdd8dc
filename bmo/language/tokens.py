"""Normalisation and tokens: a turn's words in normal form, with offsets into what was said.

Case and punctuation are kept beside the normal form, because names and places need them when the
recogniser has them. A token is one row over parallel lists: a turn is tokenised in microseconds,
which a list of objects would not allow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import accumulate, compress
from operator import add, not_
from typing import Any

from bmo.language.contractions import expanded
from bmo.language.lexicon import LanguageCode, surface_lexicon

MAX_CHARACTERS = 2000
"""A turn is read up to here; speech of more than two minutes has no single fact to lose."""

MAX_TOKENS = 400
"""Words after this one are not read: a bound on time for hostile input."""

_WORDS = (
    r"\d+(?:[.,:/]\d+)*(?:st|nd|rd|th|am|pm|k|m|%|°)?(?![^\W\d_])"  # numbers, times, dates
    r"|\w+(?:['.&/-]\w+)*(?:\+\+|#)?'?"  # words, with apostrophes and hyphens inside
)
_TOKEN = re.compile(rf"({_WORDS})")
_TOKEN_WITH_ADDRESSES = re.compile(
    r"((?:https?://|www\.)\S+"  # web addresses
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"  # e-mail
    rf"|{_WORDS})"
)
_PUNCTUATION = re.compile(r"[^\w\s']")
_SPEECH_LENGTH = 400
"""Shorter texts are read piece by piece, and a piece that was read before is just looked up."""
_FEW_PIECES = 60
"""So are longer ones that say few things over and over."""

_QUOTES = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "'",
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "\u00a0": " ",
        "\u202f": " ",
        "\x00": " ",
        "\ufeff": " ",
    }
)
_SURROGATES = re.compile("[\ud800-\udfff]")


_Offsets = tuple[list[int], list[int]]
"""Where words begin and end, in characters."""


class Words:
    """A turn's words: parallel lists, one entry per word of the normal form.

    Offsets are worked out when they are first asked for: most turns tell nothing, and nobody asks.

    Attributes:
        text: The turn's text the offsets point into (same length as what was said, up to the cap).
        norm: Lower-case words after contractions ("im" gives "i", "am").
        start: Offset of the first character of each word.
        end: Offset behind the last character.
        after: Punctuation between this word and the next, "" for none.
        before: Punctuation before the first word.
    """

    __slots__ = ("_borders", "_offsets", "after", "before", "norm", "text")

    def __init__(  # noqa: D107 - the class docstring names the arguments
        self,
        text: str,
        norm: list[str],
        start: list[int],
        end: list[int],
        after: list[str],
        before: str = "",
    ) -> None:
        self.text = text
        self.norm = norm
        self.after = after
        self.before = before
        self._offsets: _Offsets | None = (start, end)
        self._borders: Callable[[], _Offsets] | None = None

    @classmethod
    def without_offsets(
        cls,
        text: str,
        norm: list[str],
        after: list[str],
        before: str,
        borders: Callable[[], _Offsets],
    ) -> Words:
        """The words of a text whose offsets ``borders`` gives when they are needed."""
        made = cls.__new__(cls)
        made.text = text
        made.norm = norm
        made.after = after
        made.before = before
        made._offsets = None
        made._borders = borders
        return made

    def _found_offsets(self) -> _Offsets:
        borders = self._borders
        found = borders() if borders is not None else ([], [])
        self._offsets = found
        return found

    @property
    def start(self) -> list[int]:
        """Offset of the first character of each word."""
        return (self._offsets or self._found_offsets())[0]

    @property
    def end(self) -> list[int]:
        """Offset behind the last character of each word."""
        return (self._offsets or self._found_offsets())[1]

    def __len__(self) -> int:
        """Number of words."""
        return len(self.norm)

    def raw(self, index: int) -> str:
        """Word ``index`` as it was said; for an expanded contraction the whole contraction."""
        return self.text[self.start[index] : self.end[index]]

    def select(self, kept: list[int]) -> Words:
        """The words at the indices ``kept``, in that order."""
        norm, after = self.norm, self.after
        return Words.without_offsets(
            self.text,
            [norm[i] for i in kept],
            [after[i] for i in kept],
            self.before,
            partial(self._offsets_of, kept),
        )

    def _offsets_of(self, kept: list[int]) -> _Offsets:
        start, end = self.start, self.end
        return [start[i] for i in kept], [end[i] for i in kept]


def clean(text: str) -> str:
    """Caps the text and makes it safe: no NUL, no lone surrogates, straight quotes.

    The result has the same length as the capped text, so offsets hold in both.
    """
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
    if text.isascii():
        return text.replace("\x00", " ") if "\x00" in text else text
    return _SURROGATES.sub(" ", text.translate(_QUOTES))


def words(
    text: str, language: LanguageCode = "en", *, pieces: Sequence[str] | None = None
) -> Words:
    """Tokenises ``text`` and expands contractions.

    Args:
        text: What was said or typed.
        language: Whose contractions apply.
        pieces: What stands between the text's spaces, where the caller has split it already.

    Returns:
        The words; empty for a text without any.
    """
    cleaned = clean(text)
    if pieces is None or cleaned is not text:
        text = cleaned
        pieces = text.split(" ")
    if len(text) < _SPEECH_LENGTH or len(set(pieces)) < _FEW_PIECES:
        found = _known_words(text, pieces, language)
        if found is not None:
            return found
    return _read_words(text, language)


def _pattern_for(text: str) -> re.Pattern[str]:
    addresses = "@" in text or "://" in text or "www." in text
    return _TOKEN_WITH_ADDRESSES if addresses else _TOKEN


def _read_words(text: str, language: LanguageCode) -> Words:
    """The words of any text, character by character."""
    contractions = surface_lexicon(language).contractions
    parts = _pattern_for(text).split(text, MAX_TOKENS)  # gap, word, gap, ..., word, gap
    if len(parts) < 3:
        return Words(text, [], [], [], [], text.strip())
    norm = [part.lower() for part in parts[1::2]]
    borders = list(accumulate(map(len, parts)))
    start, end = borders[0:-1:2], borders[1::2]
    if _PUNCTUATION.search(text) is None:
        after = [""] * len(norm)
    else:
        after = ["" if gap == " " else gap.strip() for gap in parts[2::2]]
    before = parts[0].strip()
    if "'" not in text and contractions.keys().isdisjoint(norm):
        return Words(text, norm, start, end, after, before)
    return Words(text, *expanded(norm, start, end, after, language), before)


_Piece = tuple[tuple[str, ...], tuple[str, ...], str, tuple[int, ...], tuple[int, ...]]
"""What stands between two spaces, read once: its words, the punctuation behind each of them, the
punctuation before the first, and where in it each word begins and ends ("i'm," gives "i", "am" and
a comma)."""


_Singles = tuple[dict[str, str], dict[str, str], dict[str, int]]


class _Pieces(dict[str, _Piece | None]):
    """Pieces of one language that were read before; None for one that its neighbours decide."""

    def __init__(self, language: LanguageCode) -> None:
        super().__init__()
        self.language = language
        # Of pieces of one word its form, the marks behind it, and its length. They begin anew
        # together: who reads one of them in another thread still has the others.
        self.single: _Singles = ({}, {}, {})

    def __missing__(self, piece: str) -> _Piece | None:
        if len(self) >= _KNOWN_PIECES:
            self.clear()
            self.single = ({}, {}, {})
        read = self[piece] = self._read(piece) if len(piece) <= _LONGEST_PIECE else None
        if read is not None and len(read[0]) == 1 and not read[2]:
            words, marks, lengths = self.single
            marks[piece] = read[1][0]
            if read[3][0] == 0:
                lengths[piece] = read[4][0]
            words[piece] = read[0][0]
        return read

    def _read(self, piece: str) -> _Piece | None:
        bare = piece[:-1] if piece[-1:] in _CLOSING else piece
        if bare.isalpha() and bare.isascii():
            word = bare.lower()
            if word not in surface_lexicon(self.language).contractions:
                return (word,), (piece[len(bare) :],), "", (0,), (len(bare),)
        gaps = _pattern_for(piece).split(piece)[::2]
        if len(gaps) < 2 and "'" not in piece and piece.split() in ([], [piece]):
            return (), (), piece.strip(), (), ()  # marks that stand alone, or two blanks in a row
        if len(gaps) < 2 or piece.split() != [piece] or any("'" in gap for gap in gaps):
            return None  # a lone apostrophe is punctuation only beside other marks of the text
        words = _read_words(piece, self.language)
        norm, after = tuple(words.norm), tuple(words.after)
        return norm, after, words.before, tuple(words.start), tuple(words.end)


_KNOWN_PIECES = 20_000
"""So many pieces are kept; a vocabulary of speech is smaller, hostile text begins anew."""
_LONGEST_PIECE = 40
_CLOSING = (".", ",", "?", "!")


@cache
def _pieces(language: LanguageCode) -> _Pieces:
    return _Pieces(language)


def _known_words(text: str, pieces: Sequence[str], language: LanguageCode) -> Words | None:
    """The words of a text with single spaces, piece by piece; None where that is not enough."""
    known = _pieces(language)
    words, marks_of, lengths = known.single
    single: list[Any] = list(map(words.get, pieces))
    if all(single) and len(single) <= MAX_TOKENS:  # no contraction, no mark of its own
        marks = list(map(marks_of.__getitem__, pieces))
        offsets = partial(_of_single_words, pieces, lengths, text, language)
        return Words.without_offsets(text, single, marks, "", offsets)
    norm, before, grown, loose = single, "", 0, False
    after: list[Any] = list(map(marks_of.get, pieces))
    for place in list(compress(range(len(single)), map(not_, single))):
        row = known[pieces[place]]
        if row is None:
            return None
        said, follow, lead, _, _ = row
        at = place + grown
        norm[at : at + 1], after[at : at + 1] = said, follow
        grown += len(said) - 1
        if lead or not said:
            loose = True
            if at:
                after[at - 1] = f"{after[at - 1]} {lead}"
            else:
                before = f"{before} {lead}"
    if len(norm) > MAX_TOKENS:
        return None
    if loose:  # what stands between two words has no blanks at its ends
        after, before = [mark.strip() for mark in after], before.strip()
    return Words.without_offsets(text, norm, after, before, partial(_spaced, text, language))


def _of_single_words(
    pieces: Sequence[str], lengths: dict[str, int], text: str, language: LanguageCode
) -> _Offsets:
    """Offsets of the words of pieces of one word each."""
    long: list[Any] = list(map(lengths.get, pieces))
    if not all(long):
        return _spaced(text, language)
    # A piece begins behind those before it and as many blanks.
    start = list(map(add, accumulate(map(len, pieces), initial=0), range(len(pieces))))
    return start, list(map(add, start, long))


def _spaced(text: str, language: LanguageCode) -> _Offsets:
    """Offsets of the words of pieces with one space between them."""
    known = _pieces(language)
    start: list[int] = []
    end: list[int] = []
    begin = 0
    for piece in text.split(" "):
        row = known[piece]
        if row is not None:
            _, _, _, first, last = row
            if len(first) == 1:
                start.append(begin + first[0])
                end.append(begin + last[0])
            else:
                start += [begin + at for at in first]
                end += [begin + at for at in last]
        begin += len(piece) + 1
    return start, end
