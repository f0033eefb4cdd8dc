"""An answer is read with its question: the question is a statement whose gap the answer fills."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.asked_question import last_question, read_question
from bmo.language.inflection import past_tense
from bmo.settings import Settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(Settings.model_construct(), load_judge=False)


@pytest.mark.parametrize(
    ("asked", "said", "stored"),
    [
        ("Do you deploy on Fridays?", "god no", ["The team does not deploy on Fridays"]),
        ("Do you have kids?", "afraid not", ["Does not have kids"]),
        ("Where did you two meet?", "at university in glasgow", ["Met at university in Glasgow"]),
        ("Do you play an instrument?", "the cello", ["Plays cello"]),
        ("What's your son's name?", "elias", ["Has a son named Elias"]),
        ("You live in Leeds, right?", "no reading", ["Lives in Reading"]),
        ("Do you like spicy food?", "love it", ["Loves spicy food"]),
        ("Do you like spicy food?", "cant stand it", ["Cannot stand spicy food"]),
        ("Do you enjoy cooking?", "i hate it", ["Hates cooking"]),
        ("What team do you support?", "leeds", ["Is a leeds fan"]),
        ("What are you allergic to?", "shellfish mostly", ["Is allergic to shellfish"]),
        (
            "Are you allergic to anything?",
            "cats and pollen",
            ["Is allergic to cats", "Is allergic to pollen"],
        ),
        ("Is there anything you don't eat?", "pork", ["Does not eat pork"]),
        ("Do you have any pets?", "two rabbits", ["Has two rabbits"]),
        ("Have you got any brothers or sisters?", "three brothers", ["Has three brothers"]),
        ("How do you take your coffee?", "black no sugar", ["Takes their coffee black no sugar"]),
        ("How often do you train?", "three times a week", ["Trains three times a week"]),
        ("What did you study?", "geology", ["Studied geology"]),
        ("What does your wife do?", "nurse", ["Wife is a nurse"]),
        ("Where does your sister live?", "in oslo", ["Sister lives in Oslo"]),
        ("How old is your daughter?", "nearly three", ["Daughter is 3 (three) years old"]),
        ("What kind of music are you into?", "mostly jazz", ["Is into jazz"]),
        (
            "What are you training for?",
            "the berlin marathon",
            ["Is training for the Berlin marathon"],
        ),
        ("What are you saving up for?", "a new kitchen", ["Is saving for a new kitchen"]),
        ("What do you do for a living?", "tree surgeon", ["Is a tree surgeon"]),
        ("When's your birthday?", "the ninth of october", ["Birthday is ninth of October"]),
        ("What should I call you?", "jojo", ["Is named Jojo"]),
        ("What's your shoe size?", "forty three", ["Shoe size is 43"]),
        ("How many kids do you have?", "four", ["Has four kids"]),
        ("Are you vegetarian?", "vegan", ["Is vegan"]),
    ],
)
def test_rules_read_the_answer(gate: WriteGate, asked: str, said: str, stored: list[str]) -> None:
    turn = Turn(said, assistant_before=asked, language="en")
    assert [fact.text for fact in gate.decide_by_rules(turn).facts] == stored


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Would you like me to remember that?", "yes please"),
        ("Shall I set a timer?", "ten minutes"),
        ("What would you like to hear?", "some jazz"),
        ("Where did you go on honeymoon?", "why do you ask"),
        ("Are you ready?", "nearly"),
        ("How are you?", "fine"),
        ("What's up?", "nothing much"),
        ("How old are your kids?", "seven and ten"),
    ],
)
def test_rules_store_nothing_of_these(gate: WriteGate, asked: str, said: str) -> None:
    turn = Turn(said, assistant_before=asked, language="en")
    assert gate.decide_by_rules(turn).facts == ()


@pytest.mark.parametrize(
    ("text", "word", "aux", "subject", "verb", "tail"),
    [
        ("Where did you two meet?", "where", "did", "", "meet", ()),
        ("What does your wife do?", "what", "does", "wife", "do", ()),
        ("So you're from France?", "", "are", "", "from", ("france",)),
        ("Have you got any pets?", "", "do", "", "have", ("any", "pets")),
        ("What is the dog called?", "what", "is", "dog", "", ()),
        ("Is there anything you don't eat?", "", "do", "", "eat", ()),
    ],
)
def test_a_question_is_taken_apart(
    text: str, word: str, aux: str, subject: str, verb: str, tail: tuple[str, ...]
) -> None:
    asked = read_question(last_question(text))
    assert asked is not None
    assert (asked.word, asked.aux, asked.subject, asked.verb) == (word, aux, subject, verb)
    assert asked.tail == tail


@pytest.mark.parametrize("text", ["Tea or coffee?", "Which school does he go to?", "Really?", "?"])
def test_other_questions_are_left_alone(text: str) -> None:
    assert read_question(last_question(text)) is None


@pytest.mark.parametrize(
    ("lemma", "past"),
    [("go", "went"), ("study", "studied"), ("stop", "stopped"), ("take", "took"), ("put", "put")],
)
def test_past_tense(lemma: str, past: str) -> None:
    assert past_tense(lemma) == past
