"""Ellipsis over clauses and turns, "wifes name", a yes that says which, corrections by value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Decision, DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


def decide(gate: WriteGate, text: str, before: str = "", *said: str) -> Decision:
    """The rules' word on ``text`` after the user's turns ``said``."""
    recent: list[Fact] = []
    turns: list[tuple[str, str]] = []
    for words in said:
        context = DialogueContext(recent_facts=tuple(recent), recent_turns=tuple(turns))
        decided = gate.decide_by_rules(Turn(text=words, language="en"), context)
        recent = [*decided.facts, *recent]
        turns.insert(0, (words, "I see."))
    context = DialogueContext(recent_facts=tuple(recent), recent_turns=tuple(turns))
    return gate.decide_by_rules(Turn(text=text, assistant_before=before, language="en"), context)


def texts(decision: Decision) -> list[str]:
    return [fact.text for fact in decision.facts]


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("my brother hates olives and my sister too", "Sister hates olives"),
        ("my brother hates olives and so does my sister ana", "Sister Ana hates olives"),
        ("i love hiking and so does my wife", "Wife loves hiking"),
        ("im vegan and my wife is too", "Wife is vegan"),
        ("my son is allergic to nuts and my daughter is as well", "Daughter is allergic to nuts"),
        ("i cant swim neither can my brother", "Brother cannot swim"),
        ("my brother is vegan, same with my sister", "Sister is vegan"),
        ("my dad collects stamps and so does my uncle", "Uncle collects stamps"),
        ("my kids love pizza and me too", "Loves pizza"),
        ("we love sushi and so do the kids", "Children love sushi"),
        # of somebody known by name only, in the middle of a turn, told by a bare "dad"
        ("i'm vegetarian and so is Farouk, so book for two", "Farouk is vegetarian"),
        ("i don't drink, neither does omar", "Omar does not drink"),
        ("i can't eat nuts. same goes for priya, remember", "Priya cannot have nuts"),
        ("i hate flying and ruth does too", "Ruth hates flying"),
        ("i'm off work on fridays, same as lena", "Lena's days off are Fridays"),
        ("my mum is diabetic, dad too", "Father is diabetic"),
        ("i live in leeds and so does my mate baz", "Friend Baz lives in Leeds"),
        ("my sister's coeliac and so am i", "Is coeliac"),
    ],
)
def test_the_verb_is_taken_from_the_clause_before(gate: WriteGate, said: str, stored: str) -> None:
    assert stored in texts(decide(gate, said))


@pytest.mark.parametrize(
    "said",
    [
        "i love chess and so does everybody",
        "i live in leeds, so is the shop far",
        "my name is ana and so is ruth",
        "is marcus vegetarian and so is ruth?",
    ],
)
def test_nothing_is_told_of_whom_nothing_is_said(gate: WriteGate, said: str) -> None:
    assert [
        t for t in texts(decide(gate, said)) if t.startswith(("Ruth", "Everybody", "Shop"))
    ] == []


@pytest.mark.parametrize(
    ("before", "said", "stored"),
    [
        ("my brother hates olives", "and my sister too", ["Sister hates olives"]),
        ("my daughter is allergic to eggs", "my son too", ["Son is allergic to eggs"]),
        ("i love hiking", "so does my wife", ["Wife loves hiking"]),
        ("my brother is vegan", "so am i", ["Is vegan"]),
        ("my kids love pizza", "me too", ["Loves pizza"]),
        ("i dont eat pork", "neither does my husband", ["Husband does not eat pork"]),
    ],
)
def test_the_verb_is_taken_from_the_turn_before(
    gate: WriteGate, before: str, said: str, stored: list[str]
) -> None:
    assert texts(decide(gate, said, "", before)) == stored


@pytest.mark.parametrize("before", ["", "if i had a dog id call him rex", "whats the weather"])
def test_of_what_was_not_stored_nothing_is_said_again(gate: WriteGate, before: str) -> None:
    said = [before] if before else []
    for words in ("and my sister too", "so does my wife", "me too"):
        assert not decide(gate, words, "", *said).facts


def test_a_judge_does_not_keep_who_without_what() -> None:
    gate = WriteGate.from_settings(load_settings(gatekeeper_mode="local"))
    for words in ("and my sister too", "my son too"):
        assert gate.decide(Turn(text=words, language="en")).verdict != "allow"
    assert gate.decide(Turn(text="my sister sings too", language="en")).verdict == "allow"


def test_whose_job_is_loved_is_not_guessed(gate: WriteGate) -> None:
    stored = texts(decide(gate, "i love my job and so does my wife"))
    assert not [text for text in stored if text.startswith("Wife")]


@given(st.text(max_size=60))
def test_any_words_before_and_behind(text: str) -> None:
    gate = WriteGate(load_settings(gatekeeper_mode="pattern"))
    for said in (f"{text} and my sister too", f"so does {text}", f"{text} as well"):
        decided = decide(gate, said, "", "my brother hates olives")
        assert bool(decided.facts) <= (decided.verdict == "allow")


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("my wifes name is ines", "Has a wife named Ines"),
        ("my mums birthday is the third of october", "Mother's birthday is third of October"),
        ("my husbands a nurse", "Husband is a nurse"),
        ("my dads called joe", "Has a father named Joe"),
        ("my mums from cork", "Mother comes from Cork"),
    ],
)
def test_an_apostrophe_that_was_not_written(gate: WriteGate, said: str, stored: str) -> None:
    assert stored in texts(decide(gate, said))


@pytest.mark.parametrize(
    ("asked", "said", "stored"),
    [
        ("Do you have any pets?", "yeah a cat", ["Has a cat"]),
        ("Do you have any pets?", "yes two dogs", ["Has two dogs"]),
        ("Do you play any instruments?", "yes the cello", ["Plays cello"]),
        ("Are you allergic to anything?", "yeah nuts", ["Is allergic to nuts"]),
        ("Have you got any kids?", "yeah three", ["Has three kids"]),
        ("Do you have any plans for the weekend?", "yes a wedding", []),
        ("Are you learning anything?", "yes lots", []),
    ],
)
def test_a_yes_that_says_which(gate: WriteGate, asked: str, said: str, stored: list[str]) -> None:
    assert texts(decide(gate, said, asked)) == stored


def test_a_wrong_value_named_before_the_right_one(gate: WriteGate) -> None:
    before = ("my son lives in york", "my sister lives in york")
    found = decide(gate, "sorry not york, leeds", "", *before).facts
    assert [(f.text, f.op, f.replaces) for f in found] == [
        ("Sister lives in Leeds", "correct", "York")
    ]
    assert not decide(gate, "sorry not calais, dover", "", *before).facts


def test_he_is_the_latest_he_who_was_spoken_of(gate: WriteGate) -> None:
    before = ("my brother tim lives in york", "my sister likes jazz")
    assert texts(decide(gate, "he is a baker", "", *before)) == ["Brother Tim is a baker"]
