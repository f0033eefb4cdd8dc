"""A yes or no is judged by what the question asks."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


@pytest.mark.parametrize(
    ("asked", "said", "memory"),
    [
        ("Do you smoke?", "yes", "Smokes"),
        ("Do you smoke?", "nope", "Does not smoke"),
        ("Do you wear a hearing aid?", "yes i do", "Wears a hearing aid"),
        ("Can you swim?", "no i can't", "Cannot swim"),
        ("Does your wife work?", "yeah", "Wife works"),
        ("Do you live alone?", "yes i do", "Lives alone"),
        ("Have you ever been to Japan?", "yes", "Has been to Japan"),
    ],
)
def test_what_a_question_of_a_life_asks_is_kept(
    gate: WriteGate, asked: str, said: str, memory: str
) -> None:
    decision = gate.decide(Turn(text=said, assistant_before=asked))
    assert [fact.text for fact in decision.facts] == [memory]


@pytest.mark.parametrize("said", ["yes", "no", "yes i do", "yep", "no i don't"])
@pytest.mark.parametrize(
    "asked",
    [
        "Are you ready?",
        "Are you hungry?",
        "Do you want me to set a timer?",
        "Do you need anything else?",
        "Do you see the button on the left?",
        "Do you have a pen?",
        "Are you feeling better?",
        "Can you see the light blinking?",
    ],
)
def test_what_a_question_of_the_moment_asks_is_not(gate: WriteGate, asked: str, said: str) -> None:
    decision = gate.decide(Turn(text=said, assistant_before=asked))
    assert decision.verdict != "allow" and not decision.facts
