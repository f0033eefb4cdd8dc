"""What is vouched for although a cue stands in it: generic conditions, a doctor's word, hopes."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from bmo.gate import WriteGate
from bmo.gate.factuality import vetoes, vetoes_of_turn
from bmo.language import repair, segment, words
from bmo.turn import Turn

pytestmark = pytest.mark.unit


def refused(text: str) -> list[str]:
    spoken = repair(words(text, "en"), "en")
    found: list[str] = [
        veto for clause in segment(spoken, "en") for veto in vetoes(spoken, clause, "en")
    ]
    of_turn = vetoes_of_turn(spoken, "en")
    return found if of_turn is None else [*found, of_turn]


VOUCHED = tomllib.loads(
    (resources.files("bmo.gate") / "packs" / "en" / "factuality.toml").read_text("utf-8")
)["vouched"]


@pytest.mark.parametrize(
    "text",
    [
        *VOUCHED["examples"],
        "they call me sal",
        "she goes to the grammar school",
        "i hope to be a vet one day",
        "im hoping to open my own place next year",
    ],
)
def test_is_vouched_for(text: str) -> None:
    assert refused(text) == []


@pytest.mark.parametrize("text", VOUCHED["non_examples"])
def test_is_not_vouched_for(text: str) -> None:
    assert refused(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("i would sell it if i had the time", "conditional"),
        ("i will come if i can", "conditional"),
        ("i do not know if i locked it", "conditional"),
        ("ask her if she likes it", "conditional"),
        ("if i won the lottery i would buy a boat", "conditional"),
        ("it barks if i leave", "conditional"),
        ("my boss told me i am getting the sack", "third_party"),
        ("and she goes i am never coming back", "third_party"),
        ("call me hattie no dont", "hedge"),
        ("i joined the gym hah who am i kidding", "joke"),
        ("i have a flat tyre", "transient"),
        ("i have a bad cough", "transient"),
        ("i hope it rains", "wish"),
        ("i hope you are well", "wish"),
    ],
)
def test_is_refused(text: str, why: str) -> None:
    assert why in refused(text)


@pytest.mark.parametrize("text", ["i like that one", "oh i love that idea", "knock knock"])
def test_what_means_nothing_is_discarded(text: str) -> None:
    decision = WriteGate.from_settings(load_judge=False).decide_by_rules(Turn(text=text))
    assert decision.verdict == "discard"
