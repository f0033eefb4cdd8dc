"""What opens a predicate and what does not: only verbs get a third person."""

from __future__ import annotations

import pytest

from bmo.gate.open_canonicalisation import canonicalise
from bmo.language import repair, words

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("neither of us smokes", "Neither"),
        ("found a job at the mill", "Found"),
        ("i fell off the roof of the barn", "Fell"),
        ("i play the cello in a quartet", "Plays"),
        ("i keep bees behind the house", "Keeps"),
    ],
)
def test_only_verbs_agree(said: str, begins: str) -> None:
    found = canonicalise(repair(words(said)))
    assert found is not None and found.text.split()[0] == begins
