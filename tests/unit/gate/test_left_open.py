"""What leaves open whom it speaks of is held: "sister visits her", "brother is", "the other"."""

from __future__ import annotations

import pytest

from bmo.gate.left_open import leaves_open, opens_with_part
from bmo.gate.people import people_lexicon
from bmo.gate.write_gate import WriteGate
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "open_"),
    [
        ("Sister visits her on Sundays", True),
        ("Mum married him in June", True),
        ("Dad cannot stand him", True),
        ("Brother is", True),
        ("Wife is not", True),
        ("Little brother", True),
        ("Wife's is a polo", True),
        ("Sister visits her nan on Sundays", False),
        ("Brother has a horse and rides her daily", False),
        ("Friend Anna helps Tom and drives him home", False),
        ("Wife says her back hurts", False),
        ("Sister is a nurse", False),
        ("Has a little brother", False),
        ("Wife's brother is a pilot", False),
    ],
)
def test_a_text_that_leaves_open_whom_it_speaks_of(text: str, open_: bool) -> None:
    assert leaves_open(text, people_lexicon("en")) == open_


@pytest.mark.parametrize(
    ("clause", "part"),
    [
        ("one of them is blind", True),
        ("the other is a monk", True),
        ("the other one is a monk", True),
        ("half of those are mine", True),
        ("one of my brothers is blind", False),
        ("the other day we met", False),
        ("both of us are vegan", False),
    ],
)
def test_a_clause_about_some_of_those_spoken_of_before(clause: str, part: bool) -> None:
    assert opens_with_part(clause.split()) == part


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
