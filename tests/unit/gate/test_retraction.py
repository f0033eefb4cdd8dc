"""Requests to forget, with the examples that stand beside the words."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

DATA = tomllib.loads(
    (resources.files("bmo.gate") / "packs" / "en" / "retraction.toml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.mark.parametrize(("said", "scope", "value"), DATA["examples"])
def test_what_is_to_be_forgotten(gate: WriteGate, said: str, scope: str, value: str) -> None:
    (fact,) = gate.decide_by_rules(Turn(text=said)).facts
    assert (fact.op, fact.scope, fact.value) == ("retract", scope, value)


@pytest.mark.parametrize("said", DATA["non_examples"])
def test_nothing_is_to_be_forgotten(gate: WriteGate, said: str) -> None:
    assert all(fact.op != "retract" for fact in gate.decide_by_rules(Turn(text=said)).facts)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "vergiss den tee, lass uns kaffee trinken"),
        ("fr", "oublie le thé, prenons un café"),
        ("es", "olvida el té, vamos a tomar un café"),
    ],
)
def test_a_proposal_asks_for_nothing_to_be_forgotten(
    gate: WriteGate, language: str, said: str
) -> None:
    facts = gate.decide_by_rules(Turn(text=said, language=language)).facts
    assert [fact for fact in facts if fact.op == "retract"] == []


def test_a_wish_inside_what_is_to_be_forgotten_is_no_proposal(gate: WriteGate) -> None:
    (fact,) = gate.decide_by_rules(Turn(text="forget that i want a dog")).facts
    assert (fact.op, fact.scope) == ("retract", "value")
