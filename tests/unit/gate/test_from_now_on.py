"""What holds from now on is asked of the assistant or told of somebody's life."""

from __future__ import annotations

import pytest

from bmo.gate.pack_tables import read_table
from bmo.gate.speech_act import speech_act
from bmo.language import LanguageCode, segment, words

pytestmark = pytest.mark.unit

CODES: tuple[LanguageCode, ...] = ("de", "fr", "es")


def rows(kind: str) -> list[tuple[LanguageCode, str]]:
    return [(code, said) for code in CODES for said in read_table(code, "from_now_on.toml")[kind]]


def act(said: str, code: LanguageCode) -> str:
    spoken = words(said, code)
    return speech_act(spoken, segment(spoken, code)[0], code)[0]


@pytest.mark.parametrize(("code", "said"), rows("examples"))
def test_news_is_a_statement(code: LanguageCode, said: str) -> None:
    assert act(said, code) == "statement"


@pytest.mark.parametrize(("code", "said"), rows("non_examples"))
def test_what_is_asked_of_the_assistant_is_none(code: LanguageCode, said: str) -> None:
    assert act(said, code) != "statement"
