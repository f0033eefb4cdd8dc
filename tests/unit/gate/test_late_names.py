"""Names that stand behind whom they name."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("three kids, amira yusuf and little hamza", {"Amira", "Yusuf", "Hamza"}),
        ("I've three children: Mara, Finn and Jonah.", {"Mara", "Finn", "Jonah"}),
        ("Two sons, Rhys and Tom.", {"Rhys", "Tom"}),
        ("my daughter's in canada, sheila, vancouver way", {"Sheila"}),
        ("My brother lays floors, Tom.", {"Tom"}),
        ("we have a son in spain, rhys", {"Rhys"}),
        ("my boy's at nursery his names tyler", {"Tyler"}),
        # of whom, nobody can tell; or no names at all
        ("my brother knows my boss well, tom", set()),
        ("two kids, a mortgage and no sleep", set()),
        ("three kids, sweet but loud", set()),
        ("my brother drives a taxi, sadly", set()),
    ],
)
def test_a_name_behind_is_the_name_of_whom_it_follows(
    gate: WriteGate, said: str, named: set[str]
) -> None:
    facts = gate.decide_by_rules(Turn(text=said)).facts
    assert {fact.value for fact in facts if fact.slot == "name"} == named
