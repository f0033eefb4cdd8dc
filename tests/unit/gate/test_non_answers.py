"""A reply that settles nothing ends no memory and makes none."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

NUTS = "Are you really allergic to nuts?"


@pytest.fixture(scope="module")
def local() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


def told(gate: WriteGate, question: str, reply: str) -> list[str]:
    return [f.text for f in gate.decide(Turn(text=reply, assistant_before=question)).facts]


@pytest.mark.parametrize(
    "reply",
    [
        *("no idea", "no, no idea", "no clue", "i don't know", "i don't think so"),
        *("i don't want to talk about it", "no comment", "i don't care", "no problem"),
        *("no worries", "no thanks", "no one knows", "no way to know", "yes and no"),
        *("yes, i mean no", "no, wait, yes", "no need to ask", "no more than you are"),
        *("not that i know of", "i haven't been tested", "i'm not sure", "well no doubt"),
        *("never mind", "it depends", "no i don't think so"),
    ],
)
def test_a_reply_that_settles_nothing_is_no_memory(local: WriteGate, reply: str) -> None:
    assert told(local, NUTS, reply) == []


@pytest.mark.parametrize(
    "reply",
    [
        *("no", "nope", "nah", "no never", "no, not any more", "no i don't", "no, i'm not"),
        *("not any more", "no longer", "not really", "definitely not", "no sorry", "god no"),
        *("no not at all", "no, i was joking", "no, my sister is"),
    ],
)
def test_a_no_still_settles_the_question(local: WriteGate, reply: str) -> None:
    assert "Is not allergic to nuts" in told(local, NUTS, reply)


@pytest.mark.parametrize("reply", ["yes i am", "yeah i am", "i am yeah", "yes i really am"])
def test_a_yes_still_settles_the_question(local: WriteGate, reply: str) -> None:
    assert "Is allergic to nuts" in told(local, NUTS, reply)


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("What's your name?", "guess"),
        ("What's your name?", "nobody"),
        ("What's your name?", "none of your business"),
        ("Where do you work?", "nowhere"),
        ("Where do you work?", "anywhere"),
        ("Where do you live?", "nowhere special"),
        ("Where do you live?", "here and there"),
        ("Where do you live?", "it depends"),
        ("How many kids do you have?", "no idea"),
    ],
)
def test_a_name_or_place_is_not_made_of_a_shrug(
    local: WriteGate, question: str, reply: str
) -> None:
    assert told(local, question, reply) == []


@pytest.mark.parametrize(
    ("question", "reply", "memory"),
    [
        ("What's your name?", "grace", "Is named Grace"),
        ("What's your name?", "no worries i'm ben", "Is named Ben"),
        ("Where do you work?", "tesco", "Works at tesco"),
        ("Is your wife vegan?", "i don't have a wife", "Does not have a wife"),
        ("Is your wife vegan?", "i'm not married", "Is not married"),
        ("Is your wife vegan?", "no she isn't", "Wife is not vegan"),
        ("Is your dog old?", "i have no dog", "Does not have dog"),
        ("Do you have a dog?", "no i don't have a dog", "Does not have a dog"),
        ("Do you eat meat?", "i don't eat meat", "Does not eat meat"),
        ("Do you smoke?", "yes i do", "Smokes"),
    ],
)
def test_only_what_the_reply_says_is_kept(
    local: WriteGate, question: str, reply: str, memory: str
) -> None:
    assert told(local, question, reply) == [memory]


def test_no_said_of_oneself_is_not_the_team_s(local: WriteGate) -> None:
    facts = local.decide(
        Turn(text="no i never played tennis", assistant_before="Do you also play tennis?")
    ).facts
    assert [fact.text for fact in facts if fact.subject == "team"] == []
