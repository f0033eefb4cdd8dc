from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ledger.values import (
    content_words,
    denies,
    mask_words,
    spelt_with,
    text_key,
    value_key,
)

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("the Postgres", "postgres", True),
        ("dogs", "a dog", True),
        ("Café Noir", "cafe noir", True),
        ("Sam's", "Sam", True),
        ("cities", "city", True),
        ("Leeds", "York", False),
        ("12", "13", False),
        ("bus", "bu", False),
    ],
)
def test_values_are_compared_without_case_accents_articles_and_plurals(
    one: str, other: str, same: bool
) -> None:
    assert (value_key(one) == value_key(other)) is same


@pytest.mark.parametrize("text", ["i don't eat meat", "no sugar", "kein Zucker", "je ne bois pas"])
def test_denials(text: str) -> None:
    assert denies(text)
    assert not denies("Notes everything down")


def test_masking_finds_plurals_and_case() -> None:
    words = content_words(["boat"])
    assert mask_words("Boats! a boat, boater", words, "#") == "#! a #, boater"


@given(st.text(max_size=80))
def test_keys_are_stable_under_themselves(text: str) -> None:
    assert value_key(value_key(text)) == value_key(text) or value_key(text) == ""
    assert text_key(text_key(text)) == text_key(text)


@given(st.text(max_size=80), st.text(min_size=1, max_size=20))
def test_masked_text_no_longer_has_the_words(text: str, word: str) -> None:
    words = content_words([word])
    masked = mask_words(text, words, "")
    assert words.isdisjoint(content_words(masked.split())) or not words


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30))
def test_a_word_is_spelt_with_its_piece(said: str) -> None:
    assert all(spelt_with(word) in said.lower() for word in content_words([said]))
