"""A noun phrase that opens like a command states something; a command stays one."""

from __future__ import annotations

import pytest

from bmo.gate.speech_act import speech_act
from bmo.language import segment, words

pytestmark = pytest.mark.unit


def act(said: str) -> str:
    spoken = words(said)
    return speech_act(spoken, segment(spoken, "en")[0], "en")[0]


@pytest.mark.parametrize(
    "said",
    [
        "pick up is three fifteen mondays and wednesdays",
        "start date was the third of june",
        "drop off at nursery is half eight",
        "play group is on tuesdays",
        "call time is seven on set",
        "check in is after two",
    ],
)
def test_a_noun_phrase_before_is_states(said: str) -> None:
    assert act(said) == "statement"


@pytest.mark.parametrize(
    "said",
    [
        "pick up the kids at three",
        "turn off the light",
        "check in on mum",
        "call mum and ask if dinner is ready",
        "play the song that is number one",
        "start time the eggs",
        "check out is it open",
        "find out what is on tonight",
        "pick up is",
    ],
)
def test_a_command_stays_one(said: str) -> None:
    assert act(said) in ("directive", "question", "instruction")
