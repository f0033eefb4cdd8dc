"""What people found wrong when they used BMO: each class with what stands beside it."""

from __future__ import annotations

import pytest

from bmo.gate.addressed_names import addressed, own_names
from bmo.gate.write_gate import WriteGate
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings()


def _texts(
    gate: WriteGate,
    text: str,
    before: str = "",
    language: str | None = None,
    context: DialogueContext | None = None,
) -> list[str]:
    turn = Turn(text=text, assistant_before=before, language=language)
    return [fact.text for fact in gate.decide(turn, context or DialogueContext()).facts]


@pytest.mark.parametrize(
    "before",
    [
        "Hello, Margaret.",
        "Good morning, Margaret!",
        "Hi Margaret! How are you?",
        "Margaret, do you need anything?",
        "I have made a note of that, Margaret.",
        "Thanks, Margaret. What else?",
    ],
)
def test_the_assistant_addresses_the_user_by_name(gate: WriteGate, before: str) -> None:
    assert addressed(before) == {"margaret"}
    for text in ("She works at the infirmary.", "Elaine rang yesterday, she's got a new job."):
        assert "margaret" not in " ".join(_texts(gate, text, before)).lower()


@pytest.mark.parametrize(
    "before",
    [
        "How is Margaret?",
        "And Margaret, is she in Canada as well?",
        "Is that your sister, Margaret?",
        "Your daughters are Noor, Margaret.",
        "Margaret rang.",
        "Does Margaret still work there?",
    ],
)
def test_a_name_spoken_of_is_no_address(before: str) -> None:
    assert addressed(before) == frozenset()


def test_who_was_asked_about_is_still_meant(gate: WriteGate) -> None:
    told = _texts(gate, "She works at the infirmary.", "Hello Margaret, how is Elaine?")
    assert told == ["Elaine works at the infirmary"]


def test_the_users_own_name_of_the_ledger_is_nobody_elses(gate: WriteGate) -> None:
    name = Fact(
        text="Is named Margaret",
        category="personal_facts",
        subject="user",
        slot="name",
        value="Margaret",
        confidence=0.95,
        rule_id="name",
        extraction_method="pattern:name",
    )
    assert own_names([name]) == {"margaret"}
    context = DialogueContext(known=(name,))
    assert (
        _texts(gate, "She works at the infirmary.", "That is Margaret then.", None, context) == []
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "Elaine rang yesterday, she's got a new job at the infirmary, starts after Easter.",
            "Elaine has got a new job at the infirmary, starts after Easter",
        ),
        ("Elaine popped in, she lives in Hull now.", "Elaine lives in Hull now"),
    ],
)
def test_whoever_rang_is_meant_by_the_pronoun(gate: WriteGate, text: str, told: str) -> None:
    assert _texts(gate, text) == [told]


def test_he_is_not_the_woman_who_rang(gate: WriteGate) -> None:
    told = " ".join(_texts(gate, "Elaine rang yesterday, he's got a new job at the infirmary."))
    assert "Elaine has got" not in told
