"""What leaves open whom it speaks of is held: "sister visits her", "brother is", "the other"."""

from __future__ import annotations

import pytest

from bmo.gate.write_gate import WriteGate
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings()


def _named(relation: str, name: str) -> Fact:
    return Fact(
        text=f"Has a {relation} named {name}",
        category="relationships",
        slot="name",
        value=name,
        subject=f"user.{relation}:{name.lower()}",
    )


def test_one_name_of_two_people_tells_of_neither(gate: WriteGate) -> None:
    both = (_named("sister", "Anna"), _named("boss", "Anna"))
    context = DialogueContext(recent_facts=both, subjects={"anna": "user.sister:anna"})
    assert gate.decide(Turn(text="anna is a vet"), context).facts == ()
    one = DialogueContext(recent_facts=both[:1], subjects={"anna": "user.sister:anna"})
    assert [f.subject for f in gate.decide(Turn(text="anna is a vet"), one).facts] == [
        "user.sister:anna"
    ]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("my friend kat has a friend who owns a boat", "user.friend:kat"),
        ("my sister has a colleague who lives in hull", "user.sister"),
    ],
)
def test_what_is_told_of_ones_friends_friend_is_not_the_friends(
    gate: WriteGate, text: str, stored: str
) -> None:
    facts = gate.decide(Turn(text=text)).facts
    assert not [f for f in facts if f.subject == stored and f.slot in ("owns", "lives_in")]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("tom texted i'm bob", "What's your name?"),
        ("my brother is", "Are you married?"),
        ("my sister does", "Do you have any allergies?"),
        ("his name's biscuit", "Okay."),
    ],
)
def test_what_is_of_nobody_is_not_stored(gate: WriteGate, text: str, before: str) -> None:
    assert gate.decide(Turn(text=text, assistant_before=before)).facts == ()
