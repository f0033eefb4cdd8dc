"""Words that are looked up piece by piece are those that reading the text gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.language import LANGUAGES, LanguageCode, clean, identify, words
from bmo.language.by_piece import LONGEST_PIECE, ByPiece, PiecesThat
from bmo.language.tokens import _read_words

pytestmark = pytest.mark.unit

PIECES = st.sampled_from(
    "i'm don't sam's dogs' 'cause j'habite c++ u.s. 3pm a@b.de www.x.de '' - hello,world (yes) "
    "\"no\" qu'il l'été a''b ... hey! im İstanbul ΣΑΣ it's. 1,000 x/y".split()
)


@given(
    text=st.lists(PIECES | st.text(max_size=6), max_size=12).map(" ".join),
    language=st.sampled_from(LANGUAGES),
)
def test_known_pieces_give_what_reading_gives(text: str, language: LanguageCode) -> None:
    for _ in range(2):  # read, then looked up
        found, whole = words(text, language), _read_words(clean(text), language)
        assert found.norm == whole.norm
        assert (found.start, found.end) == (whole.start, whole.end)
        assert (found.after, found.before) == (whole.after, whole.before)


@given(
    text=st.lists(PIECES | st.text(max_size=6), max_size=12).map(" ".join),
    language=st.sampled_from(LANGUAGES),
)
def test_a_text_split_before_gives_the_same(text: str, language: LanguageCode) -> None:
    pieces = text.split(" ")
    found, whole = words(text, language, pieces=pieces), words(text, language)
    assert (found.norm, found.start, found.after) == (whole.norm, whole.start, whole.after)
    assert identify(text, pieces=pieces) == identify(text)


def test_a_piece_is_read_once_unless_it_is_too_long() -> None:
    read: list[str] = []

    def length(piece: str) -> int:
        read.append(piece)
        return len(piece)

    table = ByPiece(length)
    long = "x" * (LONGEST_PIECE + 1)
    for _ in range(2):
        assert list(map(table.__getitem__, ["i", "am", long])) == [1, 2, len(long)]
    assert read == ["i", "am", long, long]


def test_all_pieces_must_fit() -> None:
    lower = PiecesThat(str.islower)
    for _ in range(2):  # read, then looked up
        assert lower.hold_all(["i", "am", "x" * (LONGEST_PIECE + 1)])
        assert not lower.hold_all(["i", "Am"])
        assert lower.hold_all([])
