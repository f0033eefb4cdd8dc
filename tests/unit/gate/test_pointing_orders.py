"""Orders that point at the time or the place of their reason."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


def test_the_order_is_a_standing_instruction_that_stands_alone() -> None:
    gate = WriteGate(load_settings(gatekeeper_mode="pattern"))
    said = "i've got night class on wednesdays so never suggest dinner then"
    told = gate.decide_by_rules(Turn(text=said)).facts
    wishes = [fact.text for fact in told if fact.slot == "standing_instruction"]
    assert wishes == ["Does not want the assistant to suggest dinner on Wednesdays"]
