"""What a change tells beside its end: who was born, what took a tool's place."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit

GATE = WriteGate(load_settings(gatekeeper_mode="pattern"))


def told(known: Fact, said: str) -> set[tuple[str, str]]:
    facts = GATE.decide_by_rules(Turn(text=said, language="en"), DialogueContext(known=(known,)))
    return {(fact.subject, fact.text) for fact in facts.facts if fact.op == "assert"}


def expecting(subject: str, text: str) -> Fact:
    return Fact(
        text=text, category="relationships", slot="pregnant", value="pregnant", subject=subject
    )


OWN = expecting("user", "Is expecting a baby")
SISTERS = expecting("user.sister", "Sister is expecting a baby")
CI = Fact(
    text="The team uses jenkins for ci",
    category="decisions",
    slot="technology",
    value="jenkins",
    subject="team",
)


@pytest.mark.parametrize(
    ("known", "said", "expected"),
    [
        (
            OWN,
            "the baby's here! she's called iris",
            ("user.daughter:iris", "Has a daughter named Iris"),
        ),
        (
            OWN,
            "the baby's here and we've named him otis",
            ("user.son:otis", "Has a son named Otis"),
        ),
        (
            SISTERS,
            "she had the baby, a wee girl called ailsa",
            ("user.sister", "Sister has a baby named Ailsa"),
        ),
        (
            CI,
            "jenkins is gone, it's all github actions",
            ("team", "The team uses github actions for ci"),
        ),
        (
            CI,
            "jenkins is history, we're on buildkite now",
            ("team", "The team uses buildkite for ci"),
        ),
    ],
)
def test_what_is_there_instead_is_told(known: Fact, said: str, expected: tuple[str, str]) -> None:
    assert expected in told(known, said)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (OWN, "the baby's here, named after his grandad"),
        (OWN, "the baby's kicking, a name will come"),
        (CI, "jenkins is gone, it's a shame"),
        (CI, "jenkins is gone, it's all over"),
    ],
)
def test_what_names_nothing_tells_nothing(known: Fact, said: str) -> None:
    assert not any("named" in text or "uses" in text for _, text in told(known, said))
