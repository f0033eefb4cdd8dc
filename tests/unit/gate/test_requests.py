"""Requests in the form of a statement, with the examples that stand beside the words."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from bmo.gate.requests import is_request
from bmo.language import words

pytestmark = pytest.mark.unit

DATA = tomllib.loads(
    (resources.files("bmo.gate") / "packs" / "en" / "requests.toml").read_text("utf-8")
)


@pytest.mark.parametrize("said", DATA["examples"])
def test_requests(said: str) -> None:
    assert is_request(words(said, "en").norm)


@pytest.mark.parametrize("said", [*DATA["non_examples"], "", "really just"])
def test_what_lasts_is_no_request(said: str) -> None:
    assert not is_request(words(said, "en").norm)
