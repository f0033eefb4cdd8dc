"""A sentence begun twice is read once."""

from __future__ import annotations

import pytest

from bmo.gate.restarts import without_restart
from bmo.language import words

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("osian has he has got a job", "osian has got a job"),
        ("osian has hes got a job at the garage", "osian has got a job at the garage"),
        ("my brother is he is a plumber", "my brother is a plumber"),
    ],
)
def test_the_second_beginning_goes(said: str, read: str) -> None:
    assert " ".join(without_restart(words(said, "en")).norm) == read


@pytest.mark.parametrize(
    "said", ["whatever he has he has", "that is what it is he is late", "tom has a dog he is old"]
)
def test_two_sentences_stay(said: str) -> None:
    spoken = words(said, "en")
    assert without_restart(spoken) is spoken
