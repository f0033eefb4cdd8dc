"""Requests to forget, with the examples that stand beside the words."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

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


@pytest.mark.parametrize(
    ("language", "said", "values"),
    [
        ("en", "forget the squash and the choir", ["squash", "choir"]),
        ("en", "forget about my brother and about the squash", ["brother", "squash"]),
        ("en", "forget about fish and chips", ["fish and chips"]),
        ("de", "vergiss das mit dem chor und das mit dem hund", ["chor", "dog"]),
        ("de", "vergiss bitte das mit dem chor da geh ich nicht mehr hin", ["chor"]),
        ("de", "vergiss das mit salz und pfeffer", ["salz"]),
        ("fr", "oublie l'histoire de la poterie et celle du chat", ["poterie", "cat"]),
        ("fr", "oublie la date du déménagement", ["déménagement"]),
        ("es", "olvida lo de mi vecino y lo de la natación", ["neighbour", "natación"]),
        ("es", "olvida lo de la fecha del lanzamiento", ["lanzamiento"]),
    ],
)
def test_each_thing_that_is_asked_for_is_forgotten(
    gate: WriteGate, language: str, said: str, values: list[str]
) -> None:
    facts = gate.decide_by_rules(Turn(text=said, language=language)).facts
    assert [fact.value for fact in facts if fact.op == "retract"] == values


def test_what_one_memory_names_is_one_thing(gate: WriteGate) -> None:
    drink = Fact(text="Likes the gin and the tonic at Finn's", category="preferences")
    turn = Turn(text="forget the gin and the tonic")
    facts = gate.decide_by_rules(turn, DialogueContext(known=(drink,))).facts
    assert [fact.value for fact in facts] == ["gin and tonic"]


@pytest.mark.parametrize(
    ("memory", "value"),
    [("The release is planned for March", "release"), ("Release date is March", "release date")],
)
def test_what_of_a_thing_is_meant_need_not_be_in_its_memory(
    gate: WriteGate, memory: str, value: str
) -> None:
    known = Fact(text=memory, category="policies")
    turn = Turn(text="forget the thing about the release date")
    facts = gate.decide_by_rules(turn, DialogueContext(known=(known,))).facts
    assert [fact.value for fact in facts] == [value]
