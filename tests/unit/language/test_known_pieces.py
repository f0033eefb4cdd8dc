"""Words read piece by piece: the short ways say what the long ones say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.language import LANGUAGES, LanguageCode, identification, tokens, words

pytestmark = pytest.mark.unit

PIECES = st.sampled_from(
    "i'm im hello, Hello world. 5 30% well-known ... \"so don't ¿qué j'ai l'eau — é ’s a' 'a (ok) "
    "o'clock 10:30 a.m. U.S. no?! 😀 straße".split()
) | st.text(max_size=5)


@settings(max_examples=800, deadline=None)
@given(st.lists(PIECES, max_size=12).map(" ".join), st.sampled_from(LANGUAGES))
def test_pieces_give_the_words_of_the_whole(text: str, language: LanguageCode) -> None:
    cleaned = tokens.clean(text)
    whole = tokens._read_words(cleaned, language)
    for _ in range(2):  # when they are first seen, and when they are known
        said = words(text, language)
        if "  " not in cleaned and cleaned.strip() == cleaned:
            assert (said.norm, said.after) == (whole.norm, whole.after)
            assert (said.start, said.end, said.before) == (whole.start, whole.end, whole.before)


@settings(max_examples=800, deadline=None)
@given(st.lists(PIECES, max_size=90).map(" ".join))
def test_words_to_identify_are_those_of_the_pieces(text: str) -> None:
    pieces = text.split(" ")
    every = [word for piece in pieces for word in identification._read_words(piece)]
    if len(text) <= identification._SPEECH_LENGTH:
        for _ in range(2):
            assert identification._words(text, pieces) == every[: identification._MAX_WORDS]


ENGLISH = "the The my and, what's well-known und le casa war it -- 7 Ok".split()


@settings(max_examples=800, deadline=None)
@given(st.lists(st.sampled_from(ENGLISH) | PIECES, max_size=70).map(" ".join))
def test_what_the_pieces_show_to_be_english_is_so_by_its_words(text: str) -> None:
    english, foreign = identification._telling()
    pieces = text.split(" ")
    said = identification._words(text, pieces)
    told = bool(said) and foreign.isdisjoint(said)
    by_words = told and sum(word in english for word in said) * 4 >= len(said)
    assert (identification.identify(text) is identification._ENGLISH) == by_words
