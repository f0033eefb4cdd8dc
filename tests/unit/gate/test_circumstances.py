"""When, how often and since when something is so stands before it in talk, and is never lost."""

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
    ("said", "memory"),
    [
        ("every monday i keep a fast until sunset", "Keeps a fast until sunset every Monday"),
        ("in winter i work from home", "Works from home in winter"),
        ("at weekends the kids are with their dad", "Kids are with their dad at weekends"),
        ("on fridays my wife plays bridge", "Wife plays bridge on Fridays"),
        ("since the accident i cant drive at night", "Cannot drive at night since the accident"),
        ("twice a year we visit my mum in cork", "Visits their mum in Cork twice a year"),
        ("once a month we drive to see my dad", "Drives to see their dad once a month"),
        ("these days i dont drink", "Does not drink these days"),
        ("in may im running the london marathon", "Is running the London marathon in May"),
    ],
)
def test_what_is_said_before_the_clause_stays(gate: WriteGate, said: str, memory: str) -> None:
    decision = gate.decide(Turn(text=said))
    assert decision.verdict == "allow", decision.reason
    assert [fact.text for fact in decision.facts] == [memory]


@pytest.mark.parametrize(
    "said",
    [
        "in the morning can you wake me",
        "on fridays what time does the pool close",
        "after lunch play some jazz",
    ],
)
def test_a_request_behind_it_is_none(gate: WriteGate, said: str) -> None:
    assert not gate.decide(Turn(text=said)).facts
