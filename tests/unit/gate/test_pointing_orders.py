"""Orders that point at the time or the place of their reason."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.pointing_orders import with_pointers_resolved
from bmo.language import words
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (
            "we have mass every sunday at ten so never book anything then",
            "we have mass every sunday at ten so never book anything every sunday at ten",
        ),
        (
            "i teach on mondays, don't ring me then please",
            "i teach on mondays never ring me on mondays please",
        ),
        (
            "my nan lives in bude so always check the trains there",
            "my nan lives in bude so always check the trains in bude",
        ),
        (
            "school shuts early on fridays so i leave at two then",
            "school shuts early on fridays so i leave at two on fridays",
        ),
        ("we met at six so i left then", "we met at six so i left then"),
        ("i finish at six and then i swim", "i finish at six and then i swim"),
        ("i was in bude and it rained there", "i was in bude and it rained there"),
        ("well never do that then", "well never do that then"),
        ("he said on monday that he would never go there", None),
    ],
)
def test_then_and_there_are_written_out(said: str, read: str | None) -> None:
    told = " ".join(with_pointers_resolved(words(said, "en")).norm)
    assert told == (read if read is not None else said)


def test_the_order_is_a_standing_instruction_that_stands_alone() -> None:
    gate = WriteGate(load_settings(gatekeeper_mode="pattern"))
    said = "i've got night class on wednesdays so never suggest dinner then"
    told = gate.decide_by_rules(Turn(text=said)).facts
    wishes = [fact.text for fact in told if fact.slot == "standing_instruction"]
    assert wishes == ["Does not want the assistant to suggest dinner on Wednesdays"]
