"""The word lists of open canonicalisation: all are read, no word stands twice."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from importlib import resources

import pytest

from bmo.gate.open_lexicon import OpenLexicon, open_lexicon

pytestmark = pytest.mark.unit

DATA: dict[str, str] = tomllib.loads(
    (resources.files("bmo.gate") / "packs" / "en" / "open_words.toml").read_text("utf-8")
)


def test_every_list_is_read() -> None:
    assert set(DATA) == {field.name for field in fields(OpenLexicon)}


@pytest.mark.parametrize("name", DATA)
def test_no_word_stands_twice(name: str) -> None:
    listed = DATA[name].split()
    assert sorted(set(listed)) == sorted(listed)
    assert getattr(open_lexicon(), name) == set(listed)
