from __future__ import annotations

import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ledger.values import (
    content_words,
    forms_of,
    is_negated,
    mask_words,
    says_more,
    spelt_with,
    stem,
    text_key,
    value_key,
    words_agree,
)

pytestmark = pytest.mark.unit

TABLES = tomllib.loads((resources.files("bmo.ledger") / "data" / "values.toml").read_text("utf-8"))


@pytest.mark.parametrize(("one", "other"), TABLES["examples"]["same"])
def test_examples_that_are_the_same(one: str, other: str) -> None:
    assert value_key(one) == value_key(other)


@pytest.mark.parametrize(("one", "other"), TABLES["examples"]["different"])
def test_examples_that_are_different(one: str, other: str) -> None:
    assert value_key(one) != value_key(other)


def test_aliases_name_one_thing_each() -> None:
    names = [name for names in TABLES["aliases"].values() for name in names]
    assert len(names) == len(set(names))


def test_detail_is_a_prefix_and_for_jobs_also_the_last_word() -> None:
    assert says_more("lives_in", "Seattle, Washington", "Seattle")
    assert says_more("job", "senior nurse", "a nurse")
    assert not says_more("lives_in", "New York", "York")
    assert not says_more("job", "nurse", "nurse")


def test_negation_words() -> None:
    assert is_negated("Does not eat meat")
    assert not is_negated("Notes everything down")


def test_words_are_found_by_stem() -> None:
    assert words_agree(content_words(["saving boats"]), content_words(["Saves for a boat"]))
    assert not words_agree(frozenset(), content_words(["anything"]))


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


@pytest.mark.parametrize(
    ("one", "other"), [("Los Angeles", "L.A."), ("the US", "United States"), ("us", "America")]
)
def test_a_name_and_its_alias_have_one_key(one: str, other: str) -> None:
    assert value_key(one) == value_key(other)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30))
def test_a_word_is_spelt_with_one_of_its_pieces(said: str) -> None:
    for word in content_words([said]):
        assert any(piece in said.lower() for piece in spelt_with(word))


def test_plurals_and_other_names_have_a_piece_too() -> None:
    for said in ("cities", "feet", "women", "postgres", "boxes", "k8s"):
        (word,) = content_words([said])
        assert any(piece in said for piece in spelt_with(word))


@given(st.text("abcdeings", min_size=1, max_size=9), st.text("abcdeings", max_size=9))
def test_the_forms_of_a_word_are_the_words_of_its_stem(word: str, other: str) -> None:
    assert word in forms_of(word)
    assert (other in forms_of(word)) == (stem(other) == stem(word))
