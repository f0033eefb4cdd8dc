""" "The wife", "the dog": one's own, and whom the pronouns of the next turns mean."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.own_people import with_own_people
from bmo.gate.people import people_lexicon
from bmo.language import words
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact
from tests.fakes.short_talk import decided

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


def test_the_dog_of_somebody_known_stays_theirs() -> None:
    sisters = Fact(
        text="Sister has a dog named Milo",
        category="relationships",
        slot="name",
        value="Milo",
        subject="user.sister.dog:milo",
    )
    said = words("the dog is unwell", "en")
    context = DialogueContext(recent_facts=(sisters,))
    assert with_own_people(said, people_lexicon("en"), context) is said


@pytest.mark.parametrize(
    ("said", "before", "stored"),
    [
        (
            ["the husband had a bad night", "he's called Idris by the way"],
            "",
            "a husband named Idris",
        ),
        (["the cat wants feeding again", "his name's Pickle"], "", "Has a cat named Pickle"),
        (["what a day", "she's called Wren"], "And how is your daughter?", "daughter named Wren"),
        (["took the dog for her jabs", "she's nine"], "", "Dog is 9 (nine) years old"),
    ],
)
def test_a_pronoun_means_whom_the_turn_before_spoke_of(
    gate: WriteGate, said: list[str], before: str, stored: str
) -> None:
    assert any(stored in fact.text for fact in decided(gate, *said, before=before).facts)


@pytest.mark.parametrize(
    "said",
    [
        ["my sister and my aunt are over", "she's called Wren"],  # which of them?
        ["the dog's asleep", "she's a nurse, my aunt"],
        ["lovely weather", "his name's Pickle"],
    ],
)
def test_a_pronoun_that_may_mean_several_or_nobody_names_nobody(
    gate: WriteGate, said: list[str]
) -> None:
    assert not any(fact.slot == "name" for fact in decided(gate, *said).facts)
