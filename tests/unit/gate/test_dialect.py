"""Spoken "me" for "my"."""

from __future__ import annotations

import pytest

from bmo.gate.dialect import with_my
from bmo.gate.people import people_lexicon
from bmo.language import words

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("me back has been bad", "my back has been bad"),
        ("every day of me life", "every day of my life"),
        ("me mate gaz got me into it", "my mate gaz got me into it"),
        ("i have me tea at nine", "i have my tea at nine"),
        ("been ours since me grandad", "been ours since my grandad"),
        ("give me time", "give me time"),
        ("me and sam", "me and sam"),
        ("they made me tea", "they made me tea"),
        ("tell me mum is coming", "tell me mum is coming"),
        ("it gives me a headache", "it gives me a headache"),
    ],
)
def test_me_is_my_before_what_is_ones_own(said: str, read: str) -> None:
    assert " ".join(with_my(words(said, "en"), people_lexicon("en")).norm) == read
