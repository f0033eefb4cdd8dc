"""A yes or no is judged by what the question asks."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


@pytest.mark.parametrize(
    ("asked", "said", "memory"),
    [
        ("Do you smoke?", "yes", "Smokes"),
        ("Do you smoke?", "nope", "Does not smoke"),
        ("Do you wear a hearing aid?", "yes i do", "Wears a hearing aid"),
        ("Can you swim?", "no i can't", "Cannot swim"),
        ("Does your wife work?", "yeah", "Wife works"),
        ("Do you live alone?", "yes i do", "Lives alone"),
        ("Have you ever been to Japan?", "yes", "Has been to Japan"),
        ("You don't eat meat, right?", "right", "Does not eat meat"),
        ("You don't eat meat, right?", "no i do", "Eats meat"),
        ("You don't eat meat, do you?", "no", "Does not eat meat"),
        ("Do you drink alcohol?", "only at weekends", "Drinks alcohol only at weekends"),
        ("Do you drive?", "not since the stroke", "Does not drive since the stroke"),
        ("Do you work from home?", "only on fridays", "Works from home only on Fridays"),
        ("How many kids do you have?", "four all grown up", "Has four kids all grown up"),
        ("How many kids have you got?", "a boy and a girl", "Has a boy and a girl"),
        ("How many brothers do you have?", "i've got three", "Has three brothers"),
        ("What did your dad do?", "miner", "Dad worked as miner"),
        ("What do you usually drink in the morning?", "tea", "Usually drinks tea in the morning"),
        ("Where's your husband from?", "wales", "Husband is from Wales"),
        ("Do you take sugar or milk?", "neither", "Does not take sugar or milk"),
        ("Do you smoke or not?", "i don't", "Does not smoke"),
        ("You never eat meat, right?", "right", "Does not eat meat"),
        ("You've never smoked, have you?", "no", "Has not smoked"),
        ("Your name is Tom, right?", "no tim", "Is named Tim"),
        ("Your wife's a nurse, isn't she?", "yes", "Wife is a nurse"),
        ("Would you call yourself religious?", "not really", "Is not religious"),
        ("Are you married?", "yes twelve years", "Is married for twelve years"),
        ("Do you wear glasses?", "yes for reading", "Wears glasses for reading"),
        ("Do you rent or own?", "rent", "Rents"),
        ("Do you own your home?", "no i rent", "Does not own their home; rents"),
        ("Who do you live with?", "just me", "Lives alone"),
        ("Do you have children?", "yes two a boy and a girl", "Has two children a boy and a girl"),
        ("Since when have you been vegan?", "since january", "Has been vegan since January"),
        ("Who looks after you?", "my daughter", "Daughter looks after them"),
        ("Does anyone in your family have diabetes?", "my dad", "Dad has diabetes"),
        (
            "What did you do before you retired?",
            "bus driver",
            "Worked as bus driver before they retired",
        ),
        ("Is your son called Tim?", "no his name is tom", "Has a son named Tom"),
        ("Do you have any brothers or sisters?", "only child", "Is an only child"),
        ("Does your daughter have any allergies?", "peanuts", "Daughter is allergic to peanuts"),
        ("And your brother, is he still in Leeds?", "no moved to york", "Brother lives in York"),
    ],
)
def test_what_a_question_of_a_life_asks_is_kept(
    gate: WriteGate, asked: str, said: str, memory: str
) -> None:
    decision = gate.decide(Turn(text=said, assistant_before=asked))
    assert [fact.text for fact in decision.facts] == [memory]


@pytest.mark.parametrize("said", ["yes", "no", "yes i do", "yep", "no i don't"])
@pytest.mark.parametrize(
    "asked",
    [
        "Are you ready?",
        "Are you hungry?",
        "Do you want me to set a timer?",
        "Do you need anything else?",
        "Do you see the button on the left?",
        "Do you have a pen?",
        "Are you feeling better?",
        "Can you see the light blinking?",
        "Is your wife at home?",
        "You wanted jazz, right?",
        "You're tired, aren't you?",
        "Are you cooking tonight?",
    ],
)
def test_what_a_question_of_the_moment_asks_is_not(gate: WriteGate, asked: str, said: str) -> None:
    decision = gate.decide(Turn(text=said, assistant_before=asked))
    assert decision.verdict != "allow" and not decision.facts


@pytest.mark.parametrize(
    ("asked", "said", "never"),
    [
        ("Do you have kids, and how old are they?", "yes six and nine", "six kids"),
        ("Is your wife at home?", "no she's out", "at home"),
        ("You don't drive, do you?", "yes", "drive"),
        ("You don't eat meat, right?", "no i am vegetarian", "Eats meat"),
        ("Are you working at the moment?", "no i'm on maternity leave", "learning"),
        ("When did you move there?", "2019", "Lives in 2019"),
        ("What's your favourite team?", "don't have one", "do not have"),
        ("Have you got any pets?", "had a cat but she died", "Has a cat"),
        ("What are you cooking?", "lasagne", "lasagne"),
        ("Are you two married?", "yes", "two"),
        ("How many years have you been there?", "eight", "Has eight"),
        ("What's your middle name?", "don't have one", "not have"),
        ("Where do your parents live?", "they're dead", "live in"),
        ("Who's Anna?", "nobody", "nobody"),
        ("What's for dinner?", "curry", "urry"),
        ("Do you have a car or do you take the bus?", "bus", "Has"),
        ("Do you and your wife drink coffee?", "she does", "wife"),
        ("So that's two kids?", "yes", "is kids"),
        ("Do you know any good restaurants?", "no", "restaurants"),
    ],
)
def test_an_answer_tells_nothing_false(gate: WriteGate, asked: str, said: str, never: str) -> None:
    decision = gate.decide(Turn(text=said, assistant_before=asked))
    assert all(never not in fact.text for fact in decision.facts)
