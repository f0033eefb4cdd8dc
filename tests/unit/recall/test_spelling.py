"""Slips of the recogniser and the pen: what is put right, and what is left alone."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.recall.spelling import may_be_misspelt, meant, one_edit_apart

pytestmark = pytest.mark.unit

words = st.text(string.ascii_lowercase, min_size=1, max_size=9)


@given(words, st.integers(0, 8), st.sampled_from(string.ascii_lowercase))
def test_every_single_edit_is_seen_both_ways(word: str, place: int, letter: str) -> None:
    place = min(place, len(word) - 1)
    edits = {
        word[:place] + letter + word[place:],
        word[:place] + word[place + 1 :],
        word[:place] + letter + word[place + 1 :],
        word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :],
    } - {word}
    for edited in edits:
        assert one_edit_apart(word, edited), (word, edited)
        assert one_edit_apart(edited, word), (edited, word)
    assert not one_edit_apart(word, word)


@given(words, words)
def test_no_more_than_one_edit_is_accepted(one: str, other: str) -> None:
    """Against the definition: the optimal string alignment distance is 1."""
    assert one_edit_apart(one, other) == (distance(one, other) == 1)


def distance(one: str, other: str) -> int:
    rows = [
        [max(i, j) if not min(i, j) else 0 for j in range(len(other) + 1)]
        for i in range(len(one) + 1)
    ]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            rows[i][j] = min(
                rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (not same)
            )
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


def test_known_and_short_words_are_never_misspelt() -> None:
    assert not may_be_misspelt("mango") and not may_be_misspelt("house")
    assert not may_be_misspelt("k9s") and not may_be_misspelt("zoq")
    assert may_be_misspelt("acordion") and may_be_misspelt("pottary")


def test_only_one_word_can_be_meant() -> None:
    assert meant("acordion", ["accordion", "pottery"]) == "accordion"
    assert meant("marrek", ["marek", "barrek"]) == "marek"
    assert meant("annika", ["annike", "annica"]) is None
    assert meant("zydeko", ["accordion"]) is None
