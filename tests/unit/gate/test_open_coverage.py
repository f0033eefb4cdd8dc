from __future__ import annotations

import pytest

from bmo.gate.analysis import Analysis, analyse
from bmo.gate.open_coverage import front_of, incomplete, missing, says_all_of
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


def read(said: str) -> Analysis:
    return analyse(Turn(text=said), DialogueContext())


@pytest.mark.parametrize(
    ("norm", "text", "left"),
    [
        ("i go to the mosque", "Goes to the mosque", []),
        ("fridays before two i go to the mosque", "Goes to the mosque", ["fridays", "two"]),
        ("my mum lives in oslo", "Mother lives in Oslo", []),
        ("i paint boats by the harbour", "Paints boats", ["harbour"]),
    ],
)
def test_words_that_no_fact_has(norm: str, text: str, left: list[str]) -> None:
    about = "user.mother" if text.startswith("Mother") else "user"
    assert missing(norm.split(), [Fact(text, "personal_facts", subject=about)]) == left


def test_a_fact_that_says_everything_is_complete() -> None:
    analysis = read("i live in leeds")
    assert analysis.facts and not incomplete(analysis, analysis.facts)


def test_a_name_is_all_there_is_to_say() -> None:
    analysis = read("my name is glenn pleased to meet you after all this waiting")
    assert all(fact.slot != "name" for _, fact in incomplete(analysis, analysis.facts))


def test_a_phrase_before_the_clause_belongs_to_it() -> None:
    analysis = read("every sunday after church we go to my aunt's house")
    clause = next(c for c in analysis.clauses if c.norm[0] == "we")
    front = front_of(analysis, clause)
    if len(analysis.clauses) > 1:
        assert front is not None and front.norm[:2] == ("every", "sunday")


def test_a_text_must_have_the_value() -> None:
    fact = Fact("Takes warfarin", "personal_facts", slot="medication", value="warfarin")
    assert says_all_of("Is on warfarin so no grapefruit", fact)
    assert not says_all_of("Is on tablets", fact)
