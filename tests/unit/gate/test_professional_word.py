"""What a professional finds is the user's fact; what they advise or fear is not."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="pattern"), load_judge=False)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("my gp says i have high blood pressure", "Has high blood pressure"),
        ("the vet told us our cat has diabetes", "Cat has diabetes"),
        ("the doctor said my son is autistic", "Son is autistic"),
    ],
)
def test_a_finding_is_stored(gate: WriteGate, said: str, stored: str) -> None:
    assert [fact.text for fact in gate.decide(Turn(text=said)).facts] == [stored]


@pytest.mark.parametrize(
    "said",
    [
        "doctor says i should walk more",
        "my doctor thinks i might have gout",
        "the nurse said she would call",
        "some guy told me i have diabetes",
        "the doctor was late again",
    ],
)
def test_advice_and_hearsay_are_not(gate: WriteGate, said: str) -> None:
    assert gate.decide(Turn(text=said)).verdict != "allow"
