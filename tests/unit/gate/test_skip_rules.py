"""Skip rules: what is nothing but small talk, in each language, and what is more."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmo.gate.skip_rules import is_loop, load_pack, match_skip, skip
from bmo.language import LANGUAGES

pytestmark = pytest.mark.unit

EXAMPLES = [
    (code, kind, text)
    for code in LANGUAGES
    for kind, texts in load_pack(code)["examples"].items()
    for text in texts
]
MORE = [(code, text) for code in LANGUAGES for text in load_pack(code)["counter_examples"]["texts"]]


@pytest.mark.parametrize(("language", "kind", "text"), EXAMPLES)
def test_small_talk_is_known_by_kind(language: str, kind: str, text: str) -> None:
    found = match_skip(text, language)
    assert found is not None
    assert found.kind == kind


@pytest.mark.parametrize(("language", "text"), MORE)
def test_more_than_small_talk_goes_on(language: str, text: str) -> None:
    assert match_skip(text, language) is None
    assert match_skip(text) is None


def test_a_language_without_a_pack_gets_all_packs() -> None:
    assert match_skip("danke", "it") is not None
    assert match_skip("merci beaucoup") is not None
    assert match_skip("thanks", "de") is not None
    assert match_skip("danke", "fr") is None


def test_greeting_limit() -> None:
    long_greeting = "hello hello good morning good evening my friend hi there"
    assert match_skip(long_greeting, "en") is None
    assert match_skip(long_greeting, "en", greeting_limit=80) is not None
    assert match_skip("good morning", "en", greeting_limit=10) is None


def test_words_that_are_normalised_already() -> None:
    assert skip(["what", "is", "up"], "en") == ("greeting", "greeting")
    assert skip(("thank", "you"), "en") == ("confirmation", "thanks")
    assert skip(["what", "is", "this"], "en") is None
    assert skip([], "en") is None


@settings(deadline=None)  # the first example reads the tables
@given(st.text(max_size=200), st.sampled_from([None, "en", "de", "xx"]))
def test_any_text(text: str, language: str | None) -> None:
    found = match_skip(text, language)
    assert found is None or len(text) <= 160


@settings(deadline=None)  # the first example reads the tables
@given(st.sampled_from(EXAMPLES), st.sampled_from(["", "!", "...", " ", "?"]), st.booleans())
def test_case_and_punctuation_do_not_matter(
    example: tuple[str, str, str], mark: str, upper: bool
) -> None:
    language, kind, text = example
    found = match_skip((text.upper() if upper else text) + mark, language)
    assert found is not None
    assert found.kind == kind


@settings(deadline=None)  # the first example reads the tables
@given(st.sampled_from(EXAMPLES), st.sampled_from(["zanzibar", "vegetarian", "42", "brother"]))
def test_one_word_more_and_it_goes_on(example: tuple[str, str, str], word: str) -> None:
    language, _, text = example
    assert match_skip(f"{text} {word}", language) is None


def test_what_is_said_for_ever_is_no_speech() -> None:
    assert is_loop("thank you for watching. " * 60)
    assert is_loop("5th 2fa code " * 150)
    assert not is_loop("no " * 100), "somebody may say a word a hundred times"


def test_long_speech_is_no_loop() -> None:
    """A plain account in a hundred different words, and one that comes back to itself."""
    account = " ".join(f"then i saw number {i} and i asked what it was for" for i in range(40))
    assert len(account.split()) > 400
    assert not is_loop(account)
    assert not is_loop("i went home and i had tea. " * 20 + account)
