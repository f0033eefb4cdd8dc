"""Changes of state, from words to the live list: gate, session context and a real ledger."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from bmo.gate import WriteGate
from bmo.ledger import Ledger
from bmo.memory.dialogue import Dialogue, KnownUser
from bmo.settings import load_settings
from bmo.turn import Decision, Fact, Turn
from tests.fakes.speaker import START

pytestmark = pytest.mark.integration

GATE = WriteGate(load_settings(gatekeeper_mode="pattern"))


class Talk:
    """A person who talks, turn by turn, days apart."""

    def __init__(self, home: Path) -> None:
        self.ledger = Ledger.open(f"sqlite:///{home}/ledger.db")
        self.dialogue = Dialogue()
        self.said = 0

    def say(self, text: str, decision: Decision | None = None) -> Decision:
        self.said += 1
        turn = Turn(
            text=text,
            user_id="ana",
            session_id="s",
            at=START + timedelta(minutes=self.said),
            language="en",
        )
        known = self.ledger.known_subjects("ana")
        self.dialogue.know(KnownUser.of(known, self.ledger.live_facts("ana")))
        decided = decision or GATE.decide_by_rules(turn, self.dialogue.context())
        self.ledger.record(turn, decided)
        self.dialogue.note_turn(turn, decided)
        return decided

    def live(self) -> set[str]:
        return {fact.text for fact in self.ledger.live_facts("ana")}


def after(home: Path, *turns: str) -> set[str]:
    talk = Talk(home)
    for said in turns:
        talk.say(said)
    live = talk.live()
    talk.ledger.close()
    return live


NOTHING: set[str] = set()


@pytest.mark.parametrize(
    ("told", "changed", "live"),
    [
        ("my girlfriend lotte is a midwife", "lotte and i broke up", NOTHING),
        ("my girlfriend is called lotte", "she dumped me", NOTHING),
        ("i have a boyfriend called tom", "we split up last month", NOTHING),
        ("my wife is called anna and she teaches maths", "we got divorced", {"Is divorced"}),
        ("my husband ben works at the hospital", "ben is my ex now", NOTHING),
        ("i live with my boyfriend dan", "me and dan are over", NOTHING),
        ("we're getting married in august", "the wedding is off", NOTHING),
        (
            "my girlfriend is called lotte",
            "my new girlfriend is called femke",
            {"Has a girlfriend named Femke"},
        ),
        ("my boss is karen", "my new boss is called raj", {"Has a boss named Raj"}),
        ("im single", "i have a boyfriend now", {"Has a boyfriend"}),
        ("i work at the bakery", "i quit the bakery last week", NOTHING),
        ("i work at de gouden aar", "i quit the bakery last week", NOTHING),
        ("i work for the council", "i left the council", NOTHING),
        ("i work at norwood", "got laid off on friday", {"Was laid off"}),
        ("i work at norwood", "ive handed in my notice", NOTHING),
        ("im a nurse at norwood", "i retired in june", {"Is retired"}),
        ("i work at norwood", "my new job is at the museum", {"Works at the museum"}),
        ("i work nights", "im on days now", {"Works days"}),
        ("we have a dog called rex", "we had to put our dog down", {"Dog Rex has died"}),
        ("my cat is called miso", "miso died last night", {"Cat Miso has died"}),
        ("my dog bella is twelve", "we lost bella on tuesday", {"Dog Bella has died"}),
        ("my mum lives in leeds", "mum passed away in march", {"Mother has died"}),
        ("my flatmate is called jo", "jo moved out last week", NOTHING),
        ("we keep chickens", "we gave the chickens away", NOTHING),
        ("i have a telescope", "sold the telescope", NOTHING),
        ("i drive a golf", "i got a new car a kia", {"Drives a kia"}),
        ("always answer in short sentences", "you can use long sentences again", NOTHING),
        (
            "always remind me to drink water",
            "you dont need to remind me to drink water any more",
            NOTHING,
        ),
        ("call me boss", "stop calling me boss", {"Does not want to be called boss"}),
        ("talk to me in german", "you can talk english again", {"Wants answers in English"}),
        ("i love tea", "gone off tea", {"No longer likes tea"}),
        ("im a vegetarian", "im eating meat again", {"Eats meat again"}),
        ("im on a keto diet", "im off keto now", NOTHING),
        ("im learning the violin", "i gave up the violin", {"Has given up violin"}),
        ("i play football", "i had to give up football", {"Has given up football"}),
        ("i smoke ten a day", "ive quit smoking", {"Does not smoke"}),
        ("i take metformin", "im off the metformin now", NOTHING),
        ("we use twilio", "weve dropped twilio", {"The team no longer uses twilio"}),
        ("we deploy on fridays", "that rule about friday deploys is gone", NOTHING),
        ("we never deploy on fridays", "we can deploy on fridays again", NOTHING),
        ("i have a peanut allergy", "im not allergic to peanuts", {"Is not allergic to peanuts"}),
        ("i live in gliwice", "actually i meant zabrze not gliwice", {"Lives in Zabrze"}),
        (
            "i work at de gouden korenaar",
            "no wait its called de gouden aar",
            {"Works at de gouden aar"},
        ),
        ("i work at norwood", "no sorry northwood", {"Works at northwood"}),
        ("my sister is called ana", "its hannah not ana", {"Has a sister named Hannah"}),
    ],
)
def test_what_is_over_is_not_said_again(
    tmp_path: Path, told: str, changed: str, live: set[str]
) -> None:
    assert after(tmp_path, told), "the first turn is remembered"
    again = tmp_path / "again"
    again.mkdir()
    assert after(again, told, changed) == live


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("my girlfriend is called lotte", "my sister and her husband split up"),
        ("my girlfriend is called lotte", "we split up into teams"),
        ("my girlfriend is called lotte", "did we split up"),
        ("i work for the council", "i left the house at nine"),
        ("i work for the council", "i might quit my job"),
        ("my mum lives in leeds", "my phone died"),
        ("always answer in short sentences", "you can play that again"),
        ("i have a telescope", "should i sell the telescope"),
        ("im a vegetarian", "if i was eating meat again id feel sick"),
        ("we use twilio for sms", "weve dropped the ball"),
        ("i live in leeds", "not now"),
        ("my dog bella is twelve", "we lost bella in the park"),
    ],
)
def test_what_is_not_over_stays(tmp_path: Path, told: str, said: str) -> None:
    talk = Talk(tmp_path)
    talk.say(told)
    before = talk.live()
    talk.say(said)
    assert before <= talk.live()
    talk.ledger.close()


@pytest.mark.parametrize(
    ("memory", "changed"),
    [
        ("Is moving in with girlfriend Lotte in May", "lotte and i broke up"),
        ("Starts at five at the bakery", "i quit the bakery"),
        ("Practises the violin before breakfast", "i gave up the violin"),
        (
            "Wants the assistant to read the news headlines first",
            "you dont need to read the news headlines first any more",
        ),
    ],
)
def test_a_memory_without_a_slot_ends_too(tmp_path: Path, memory: str, changed: str) -> None:
    talk = Talk(tmp_path)
    if "lotte" in changed:
        talk.say("my girlfriend is called lotte")
    else:
        talk.say("i work at the bakery")
    judged = Fact(text=memory, category="personal_facts", extraction_method="judge:test")
    talk.say(
        memory,
        Decision("allow", ("personal_fact",), "judged durable", 0.9, facts=(judged,), text=memory),
    )
    assert memory in talk.live()
    talk.say(changed)
    assert memory not in talk.live()
    talk.ledger.close()
