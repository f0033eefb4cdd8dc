"""What is told beside a request, and standing wishes that look like one."""

from __future__ import annotations

import pytest

from bmo.gate.analysis import analyse
from bmo.gate.judge_memories import is_wish
from bmo.gate.told_beside_requests import told_part
from bmo.turn import DialogueContext, Turn

pytestmark = pytest.mark.unit


def acts(text: str) -> list[str]:
    analysis = analyse(Turn(text=text), DialogueContext(), "en")
    return [clause.speech_act for clause in analysis.clauses]


@pytest.mark.parametrize(
    "text",
    [
        "turn it up i am deaf in one ear",
        "order the usual i am allergic to peanuts",
        "save some for later i have a sore throat coming on",
        "book a table for six my birthday is on the ninth of june",
        "set us an alarm for five would you im on nights for good now",
        "turn it down will you please we have a newborn called effie",
        "find a recipe without nuts could you my son arthur is allergic to them",
        "book me a table please my wife is vegan",
        "could you put the radio on for me my husband owen is blind",
        "turn the heating up thanks our flat is in the cellar",
        "remind me to ring the surgery at eight the cat has her jabs tomorrow",
        "remind me to take my tablets im on warfarin for my heart",
    ],
)
def test_is_told_beside_a_request(text: str) -> None:
    assert acts(text) == ["directive", "statement"]


@pytest.mark.parametrize(
    "text",
    [
        "tell her i am running late for dinner",
        "text jo i am on the bus now",
        "remind me i have choir at seven",
        "play the song i like",
        "ask mum my size in shoes is wrong",
        "tell my sister please i will be late for dinner",
        "text bob that i moved the meeting would you",
        "can you let mum know for me i passed my exam",
        "remind me that the gas man comes at nine",
        "remind me to tell rob the meeting is moved to nine",
        "order the cake for me my mum likes",
        "set an alarm for when my shift starts would you",
        "what time is it would you say i am late",
        "could you tell me please i have lost my card",
    ],
)
def test_belongs_to_the_request(text: str) -> None:
    assert "statement" not in acts(text)


def test_what_somebody_cannot_have_is_told_with_its_reason() -> None:
    said = "find us a soup nothing with cream for ravi it brings on his asthma"
    assert acts(said) == ["directive", "statement", "statement"]
    assert acts("find us a soup nothing with cream for me") == ["directive", "directive"]


@pytest.mark.parametrize(
    "text",
    [
        "and please, no notifications while i am milking, ever",
        "please no exclamation marks in anything you write for me",
        "talk slow to me i do not hear so well",
        "give me everything in kilometres and watts please",
        "do not you dare give me a semicolon",
    ],
)
def test_is_a_standing_wish(text: str) -> None:
    clauses = analyse(Turn(text=text), DialogueContext(), "en").clauses
    assert is_wish(clauses[0])
    assert clauses[0].speech_act != "directive"


@pytest.mark.parametrize(
    "text",
    ["no sugar please", "no music tonight please, not ever so loud", "the red one please"],
)
def test_is_a_request_of_the_moment(text: str) -> None:
    assert set(acts(text)) == {"directive"}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("set an alarm for five would you im on nights now", "im on nights now"),
        ("could you read that out for me i am registered blind", "i am registered blind"),
        (
            "find us a soup nothing with cream for ravi it brings on his asthma",
            "nothing with cream for ravi it brings on his asthma",
        ),
    ],
)
def test_what_runs_on_behind_a_request_is_judged_alone(said: str, told: str) -> None:
    analysis = analyse(Turn(text=said), DialogueContext(), "en")
    assert told_part(said, analysis.clauses) == told


@pytest.mark.parametrize(
    "said",
    [
        "get me a flight to rome in june i am coming back on the ninth",
        "send me a cab for four people and we are going to the beach",
        "set an alarm for five would you. im on nights now",
        "turn it down would you i think my head might burst",
        "tell my sister please i will be late for dinner",
    ],
)
def test_is_judged_with_its_request(said: str) -> None:
    analysis = analyse(Turn(text=said), DialogueContext(), "en")
    assert told_part(said, analysis.clauses) == said
