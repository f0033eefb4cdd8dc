"""Statements about a "he" or "her" who is nobody of the user's: no memories."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn
from tests.fakes.short_talk import decided

pytestmark = pytest.mark.unit

_REASON = "about nobody the talk knows"


@pytest.fixture(scope="module")
def local() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


@pytest.mark.parametrize(
    "reported",
    [
        "marek used to be a lawyer now he keeps bees and lives above the bakery with his husband",
        "Priya spent Sunday with her baby girl, Asha, who is barely a month old.",
        "she starts her new job at the lighthouse on monday",
        "he keeps thirty goats and his wife makes the cheese",
    ],
)
def test_who_is_nobody_of_the_users_is_not_remembered(local: WriteGate, reported: str) -> None:
    decision = local.decide(Turn(text=reported))
    assert decision.verdict != "allow"
    assert decision.facts == ()


def test_what_the_user_told_of_themselves_makes_nobody_known(local: WriteGate) -> None:
    said = ["i teach year four in leeds", "she starts her new job at the lighthouse on monday"]
    decision = decided(local, *said)
    assert (decision.verdict, decision.reason) == ("hold", _REASON)


def test_the_reason_is_told(local: WriteGate) -> None:
    decision = local.decide(Turn(text="she starts her new job at the lighthouse on monday"))
    assert (decision.verdict, decision.reason) == ("hold", _REASON)


@pytest.mark.parametrize(
    "said",
    [
        # the same words of somebody the talk knows
        ["my sister Priya had a baby", "she starts her new job at the lighthouse on monday"],
        ["my mate Marek rang", "he keeps thirty goats and his wife makes the cheese"],
        # whoever got in touch got in touch with the user
        ["Elaine popped in yesterday, she keeps thirty goats now"],
        # with the user in them
        ["she starts with us at the lighthouse on monday and i am training her up"],
    ],
)
def test_whom_the_talk_knows_is_remembered(local: WriteGate, said: list[str]) -> None:
    assert decided(local, *said).reason != _REASON


def test_an_answer_is_about_whom_was_asked(local: WriteGate) -> None:
    asked = Turn(
        text="she starts her new job at the lighthouse on monday",
        assistant_before="And what does Priya do these days?",
    )
    assert local.decide(asked).reason != _REASON
