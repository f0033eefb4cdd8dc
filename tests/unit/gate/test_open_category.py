from __future__ import annotations

import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.gate.open_category import (
    asks_for_a_choice,
    asks_for_name,
    category_cues,
    category_of,
    is_standing,
    rule_category,
)
from bmo.turn import CATEGORIES, Assessment, Category, Fact

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
    assert category_of("Went for something", "user", own, own) == name


@pytest.mark.parametrize(
    ("text", "likely", "category"),
    [
        ("Stand-up is at 10:15 daily", "personal_facts", "policies"),
        ("The retro has moved to Fridays", "decisions", "policies"),
        ("Never takes a booking without a deposit", "personal_facts", "policies"),
        ("Does not work for less than forty cents a word", "preferences", "policies"),
        ("Does not eat after eight", "personal_facts", "personal_facts"),
        ("Pam next door keeps their spare key", "personal_facts", "relationships"),
        ("Meenal is the tech lead", "personal_facts", "relationships"),
        ("Calls the baby Bean", "policies", "relationships"),
        ("Calls her back every Sunday", "preferences", "preferences"),
        ("Joost, from Ghent, forty one", "relationships", "personal_facts"),
        ("Name is Tomasz", "relationships", "personal_facts"),
        ("Priyanka with a single n", "relationships", "personal_facts"),
        ("Has bought the shop next door", "decisions", "personal_facts"),
        ("Has taken early retirement", "decisions", "personal_facts"),
        ("Went with the blue tiles", "decisions", "decisions"),
        ("Is moving the backups to Oslo instead", "decisions", "decisions"),
    ],
)
def test_what_the_words_tell(text: str, likely: str, category: Category) -> None:
    own = odds(**{likely: 0.9, "personal_facts": 0.91 if likely == "personal_facts" else 0.3})
    assert category_of(text, "user", own, own) == category


def test_who_the_user_is_is_no_relationship() -> None:
    own = odds(relationships=0.9)
    assert category_of("Zsofia, and Pecs", "user", own, own, introduces=True) == "personal_facts"
    assert asks_for_name("Lovely. And your name?")
    assert asks_for_name("Adjoa, how nice. And what is yours?")
    assert asks_for_name("Who am I speaking to?")
    assert not asks_for_name("What is your cat called?")
    assert not asks_for_name("And your sister's name?")


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Never makes an offer without a reference", "policies"),
        ("Reads Russian novels", "preferences"),
        ("Always takes an aisle seat", "preferences"),
        ("Walks three miles every day", "personal_facts"),
        ("Takes the bus to work", "personal_facts"),
    ],
)
def test_facts_of_wide_rules(text: str, category: Category) -> None:
    assert rule_category(Fact(text=text, category="personal_facts", rule_id="activity")) == category


CUES = tomllib.loads(
    (resources.files("bmo.gate") / "packs" / "en" / "categories.toml").read_text("utf-8")
)
CUES.pop("asked")


@pytest.mark.parametrize(
    ("cue", "text"), [(name, text) for name, cue in CUES.items() for text in cue["examples"]]
)
def test_example_has_its_cue(cue: str, text: str) -> None:
    assert category_cues().found(cue, text)


@pytest.mark.parametrize(
    ("cue", "text"), [(name, text) for name, cue in CUES.items() for text in cue["non_examples"]]
)
def test_counter_example_has_not(cue: str, text: str) -> None:
    assert not category_cues().found(cue, text)
