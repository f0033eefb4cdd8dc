from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.gate.open_category import asks_for_a_choice, category_of, is_standing
from bmo.turn import CATEGORIES, Assessment, Category

pytestmark = pytest.mark.unit


def odds(**given_odds: float) -> Assessment:
    return Assessment(
        allow=0.9,
        hold=0.05,
        discard=0.05,
        categories={name: given_odds.get(name, 0.01) for name in CATEGORIES},
        read_need=0.0,
        version="test",
    )


@pytest.mark.parametrize(
    "question",
    [
        "Which radio system did the depot go for?",
        "Right. Which supplier have you settled on?",
        "What did your team decide about releases?",
    ],
)
def test_questions_for_a_choice(question: str) -> None:
    assert asks_for_a_choice(question)


@pytest.mark.parametrize(
    "question", ["", "Where did you go on Sunday then?", "Which one is your brother?", "Go on."]
)
def test_other_questions_ask_for_none(question: str) -> None:
    assert not asks_for_a_choice(question)


def test_an_answer_to_what_was_decided_is_a_decision() -> None:
    own = odds(relationships=0.9)
    assert category_of("Tetra (asked ...)", "user", own, own, settles_choice=True) == "decisions"


def test_what_is_true_of_ones_people_is_kept_with_them() -> None:
    own = odds(preferences=0.9)
    assert category_of("Sister Ida hates peas", "user.sister:ida", own, own) == "relationships"


def test_a_standing_instruction_is_no_fact() -> None:
    assert is_standing("Wants the assistant never to shout")
    own = odds(personal_facts=0.99)
    text = "Wants the assistant never to shout"
    assert category_of(text, "user", own, own) == "preferences"
    assert category_of(text, "user", odds(policies=0.9), own) == "policies"


def test_the_turn_helps_a_clause_that_lost_its_subject() -> None:
    clause, turn = odds(preferences=0.5, relationships=0.4), odds(relationships=0.95)
    assert category_of("Will not touch peas", "user", clause, turn) == "relationships"
    assert category_of("Will not touch peas", "user", odds(preferences=0.9), turn) == "preferences"


@given(st.sampled_from(CATEGORIES))
def test_sure_odds_decide(name: Category) -> None:
    own = odds(**{name: 0.99})
    assert category_of("Does something", "user", own, own) == name
