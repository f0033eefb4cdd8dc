from __future__ import annotations

import pytest

from bmo.gate.analysis import analyse
from bmo.gate.dialogue_questions import questions
from bmo.turn import DialogueContext, Turn

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("before", "said", "texts"),
    [
        (
            "Who am I helping today?",
            "imre, from szeged, fifty two and should have stayed in bed",
            ["Is named Imre", "Comes from Szeged", "Is 52 (fifty two) years old"],
        ),
        (
            "Lovely. And your name?",
            "tuuli, and oulu before you ask, they all ask",
            ["Is named Tuuli", "Comes from Oulu"],
        ),
        (
            "What's your name, and where are you from?",
            "tuuli, and oulu",
            ["Is named Tuuli", "Comes from Oulu"],
        ),
        (
            "Who do I have the pleasure of talking to?",
            "Priya, thirty-one, a dental nurse from Leicester",
            [
                "Is named Priya",
                "Is 31 (thirty-one) years old",
                "Is a dental nurse",
                "Comes from Leicester",
            ],
        ),
        (
            "",
            "Right then. Rachel, forty-four, tax lawyer, Golders Green, which says it all.",
            [
                "Is named Rachel",
                "Is 44 (forty-four) years old",
                "Is a tax lawyer",
                "Lives in Golders Green",
            ],
        ),
        ("What a pretty name. And what is yours?", "kwasi. and she's asleep", ["Is named Kwasi"]),
        (
            "What's your name?",
            "it's desmond, des to my friends, and i'm seventy",
            ["Is named Desmond", "Is 70 (seventy) years old"],
        ),
        (
            "Who am I speaking with?",
            "this is ama, i'm a midwife in tema",
            ["Is named Ama", "Is a midwife", "Works in tema"],
        ),
        # None of these introduces anybody.
        ("", "milk, eggs, a dozen buns", []),
        ("", "grace, a plumber, came by at forty", []),
        ("", "leeds, from king's cross, forty minutes late", []),
        ("What's your name?", "later, from now on only the time", []),
    ],
)
def test_a_list_that_opens_with_the_name(before: str, said: str, texts: list[str]) -> None:
    analysis = analyse(Turn(text=said, assistant_before=before), DialogueContext())
    named = [fact.text for fact in analysis.facts if fact.slot != "standing_instruction"]
    assert named == texts


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        ("Nice. And your name?", ("what", "is", "your", "name")),
        ("What a lovely name. And what is yours?", ("what", "is", "your", "name")),
        ("My favourite colour is green. Yours?", ("what", "is", "your", "favourite colour")),
        ("I like mine black. And yours?", ("yours",)),
    ],
)
def test_a_question_without_its_verb_or_noun(before: str, asked: tuple[str, ...]) -> None:
    assert questions(before, "en")[0] == asked


@pytest.mark.parametrize(
    "said",
    [
        "nils aaberg, 19, worked as a welder in duluth for twenty years.",
        "Sunil Rao, 34, had been a pilot in Leeds until the mine closed.",
    ],
)
def test_news_of_a_stranger_introduces_nobody(said: str) -> None:
    assert analyse(Turn(text=said), DialogueContext()).facts == ()


def test_who_is_retired_still_introduces_themselves() -> None:
    facts = analyse(Turn(text="Marta, 68, retired, from Leeds"), DialogueContext()).facts
    assert "Is named Marta" in [fact.text for fact in facts]
