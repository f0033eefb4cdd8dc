"""A relation in the answer, of whom the assistant's question named."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.relation_answers import asked_about
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.fixture(scope="module")
def judged() -> WriteGate:
    return WriteGate.from_settings(load_settings())


def told(gate: WriteGate, asked: str, said: str) -> list[str]:
    decision = gate.decide_by_rules(Turn(text=said, assistant_before=asked))
    return [fact.text for fact in decision.facts]


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("Who's Piotr?", "Piotr"),
        ("Lovely. And who is Piotr?", "Piotr"),
        ("And Tomas is ...?", "Tomas"),
        ("And Tomas is…?", "Tomas"),
        ("Sorry, who is Anna Maria again?", "Anna Maria"),
        ("Is Ana a friend of yours?", "Ana"),
        ("Is Gethin your son?", "Gethin"),
        ("Gethin is your son, right?", "Gethin"),
        ("Is that your son, Gethin?", "Gethin"),
        ("How do you know Piotr?", "Piotr"),
        # no name, two names, somebody else's relation, another question about the name
        ("Who is that?", ""),
        ("Are Ana and Tom your kids?", ""),
        ("Is Gethin Ana's husband?", ""),
        ("Who is Gethin's wife?", ""),
        ("Who is your husband's friend Tom?", ""),
        ("Is Gethin your son's friend?", ""),
        ("Is Gethin coming?", ""),
        ("What does Gethin do?", ""),
        ("Gethin is your son.", ""),
    ],
)
def test_whose_relation_a_question_asks_for(asked: str, name: str) -> None:
    assert asked_about(asked)[0] == name


@pytest.mark.parametrize(
    ("asked", "said", "stored"),
    [
        ("Is Gethin your son?", "my husband you daft thing", ["Has a husband named Gethin"]),
        ("Who's Piotr?", "my flatmate", ["Has a flatmate named Piotr"]),
        ("Who's Piotr?", "flatmate", ["Has a flatmate named Piotr"]),
        ("And Tomas is ...?", "oh that's my cousin", ["Has a cousin named Tomas"]),
        ("Is Ana a friend of yours?", "no she's my boss", ["Has a boss named Ana"]),
        ("Is Ana a friend of yours?", "just a colleague of mine", ["Has a colleague named Ana"]),
        ("And who is Marge?", "my ex's mum", ["Ex has a mother named Marge"]),
        ("Who's Bella?", "the dog", ["Has a dog named Bella"]),
        ("Is Rhona your sister?", "not my sister, my aunt", ["Has an aunt named Rhona"]),
        ("Is Rhona your sister?", "yes", ["Has a sister named Rhona"]),
        ("Is Rhona your sister?", "yeah she is", ["Has a sister named Rhona"]),
        ("Is Gethin your son's friend?", "yes", ["Son has a friend named Gethin"]),
        (
            "Who is Idris?",
            "my brother-in-law, he lives in Leeds",
            ["Has a brother-in-law named Idris", "Brother-in-law Idris lives in Leeds"],
        ),
    ],
)
def test_the_answer_tells_the_relation(
    gate: WriteGate, asked: str, said: str, stored: list[str]
) -> None:
    assert told(gate, asked, said) == stored


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Who is Piotr?", "no idea"),
        ("Who is Piotr?", "my husband says he's a crook"),
        ("Who is Piotr?", "my sister won't tell me"),
        ("Who is Piotr?", "my boss and landlord"),
        ("Who is Piotr?", "my husband and my brother"),
        ("Who is Piotr?", "a doctor"),
        ("Who is Piotr?", "is he my cousin?"),
        ("Is Gethin your son?", "my husband Tom is coming"),
        ("Is Gethin your son?", "no"),
        ("Is Gethin your son's friend?", "my husband"),
        ("Are Ana and Tom your kids?", "my neighbour"),
        ("Does Ana know your sister?", "yes"),
        ("What about Gethin?", "my sister"),
        ("Who's coming, Gethin?", "my sister"),
    ],
)
def test_other_answers_name_nobody(gate: WriteGate, asked: str, said: str) -> None:
    names = [word.strip("?'s") for word in asked.split()[1:] if word[0].isupper()]
    texts = told(gate, asked, said)
    assert not [text for text in texts for name in names if f"named {name}" in text]


def test_the_rest_of_the_answer_speaks_of_them(judged: WriteGate) -> None:
    asked = "Is Gethin your son?"
    said = "my husband you daft thing. he's at the steelworks"
    decision = judged.decide(Turn(text=said, assistant_before=asked))
    assert [fact.text for fact in decision.facts] == [
        "Has a husband named Gethin",
        "Husband Gethin is at the steelworks",
    ]
    assert {fact.subject for fact in decision.facts} == {"user.husband:gethin"}
