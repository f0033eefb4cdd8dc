"""One memory tells each thing once: no fact beside its own clause, no call, no remark."""

from __future__ import annotations

from functools import cache

import pytest

from bmo.gate import WriteGate
from bmo.gate.judge_memories import lowered
from bmo.gate.open_text import finished
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@cache
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings())


def kept(said: str) -> list[str]:
    decision = gate().decide(Turn(text=said))
    assert decision.verdict == "allow", decision.reason
    return [fact.text for fact in decision.facts]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("im scared of spiders", "Is scared of spiders"),
        ("my dream is to see the northern lights", "Dream is to see the northern lights"),
        ("i have asthma since i was small", "Has asthma since they were small"),
        (
            "and keep answers short, no bullet lists please",
            "Wants the assistant to keep answers short, no bullet lists",
        ),
        ("i lived in oslo as a child", "Lived in Oslo as a child"),
    ],
)
def test_a_fact_and_its_own_clause_are_one_text(said: str, text: str) -> None:
    assert kept(said) == [text]


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("i have two cats, they sleep in the airing cupboard", ("two cats", "airing cupboard")),
        ("my wife olena is on call four nights out of seven", ("Olena", "four nights")),
        ("my mum rings every sunday so never schedule anything then", ("every Sunday",)),
    ],
)
def test_what_another_clause_adds_stays(said: str, stays: tuple[str, ...]) -> None:
    memories = " | ".join(kept(said))
    assert [words for words in stays if words not in memories] == []


def test_a_call_that_is_over_is_no_part_of_what_was_learnt_from_it() -> None:
    said = "my sister imogen works at the infirmary, she rang yesterday"
    memories = " | ".join(kept(said)).lower()
    assert "infirmary" in memories and "rang" not in memories


def test_a_remark_is_told_with_nothing() -> None:
    said = "My mum is in hospital with migraines. Positive energy is catching."
    assert "energy" not in " | ".join(kept(said))


def test_names_keep_their_capital_behind_another_text() -> None:
    assert lowered("Elaine moved", frozenset({"Elaine"})) == "Elaine moved"
    assert lowered("Monday's off", frozenset({"Monday"})) == "Monday's off"
    assert lowered("Lives in Leeds") == "lives in Leeds"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("shift starts at six so", "Shift starts at six"),
        ("keeps bees, and", "Keeps bees"),
        ("mum thinks so", "Mum thinks so"),
        ("works in Oslo", "Works in Oslo"),
    ],
)
def test_a_conjunction_at_the_end_goes(text: str, written: str) -> None:
    assert finished(text) == written


def test_a_mine_behind_the_is_a_pit() -> None:
    assert "until the mine closed" in " | ".join(
        kept("my father worked as a welder until the mine closed")
    )
