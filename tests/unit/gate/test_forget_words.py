"""The glance at a turn's words is never narrower than the rules that read a wish to forget."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from bmo.gate import may_ask_to_forget
from bmo.language import LANGUAGES

pytestmark = pytest.mark.unit

PHRASES = sorted(
    {
        (language, phrase)
        for language in LANGUAGES
        for phrase in tomllib.loads(
            (resources.files("bmo.gate") / "packs" / language / "speech_acts.toml").read_text(
                "utf-8"
            )
        )["forget"]
    }
)


@pytest.mark.parametrize(("language", "phrase"), PHRASES)
def test_every_opener_of_a_request_to_forget_is_seen(language: str, phrase: str) -> None:
    assert may_ask_to_forget(f"well {phrase} hanna"), language
    assert may_ask_to_forget(phrase.upper())


@pytest.mark.parametrize(
    "text",
    [
        "don't remember anything about my sister",
        "dont keep any of that",
        "please do not store what i said about her",
        "BMO, forget everything!",
        "l'oublie tout",
        "loesche alles",
    ],
)
def test_other_spellings_are_seen(text: str) -> None:
    assert may_ask_to_forget(text)


@pytest.mark.parametrize(
    "text", ["what is my brother called", "i remember the sea", "turn off the lamp", "", "ja"]
)
def test_plain_turns_are_passed_over(text: str) -> None:
    assert not may_ask_to_forget(text)


def test_a_long_text_is_not_read_to_its_end() -> None:
    assert not may_ask_to_forget("la " * 1000 + "forget everything")
