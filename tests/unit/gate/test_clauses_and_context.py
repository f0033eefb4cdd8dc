"""The stages together: who a fact is about, context, corrections, retractions, vetoes."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Decision, DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


def decide(gate: WriteGate, text: str, before: str = "", **context: object) -> Decision:
    turn = Turn(text=text, assistant_before=before, language="en")
    return gate.decide_by_rules(turn, DialogueContext(**context))  # type: ignore[arg-type]


def texts(decision: Decision) -> list[str]:
    return [fact.text for fact in decision.facts]


def name_fact(subject: str, name: str, text: str) -> Fact:
    return Fact(text=text, category="relationships", slot="name", value=name, subject=subject)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("im vegetarian no wait vegan", ["Is vegan"]),
        ("okay so um im a dentist no sorry a dental hygienist", ["Is a dental hygienist"]),
        (
            "uh my sister hana her birthdays on the ninth of march i mean june ninth of june",
            ["Has a sister named Hana", "Sister Hana's birthday is ninth of June"],
        ),
        (
            "my brother is sam he lives in leeds",
            ["Has a brother named Sam", "Brother Sam lives in Leeds"],
        ),
        ("i live in york and work at a bakery", ["Lives in York", "Works at a bakery"]),
        ("ebo taylor thats my favourite musician", ["Favourite musician is ebo taylor"]),
        ("knitting is my favourite hobby", ["Favourite hobby is Knitting"]),
        (
            "both my brothers are coming emeka and chidi",
            ["Has a brother named Emeka", "Has a brother named Chidi"],
        ),
    ],
)
def test_speech_becomes_facts(gate: WriteGate, said: str, expected: list[str]) -> None:
    stored = [text.lower() for text in texts(decide(gate, said))]
    for text in expected:
        assert text.lower() in stored


def test_people_of_a_kind_are_told_apart(gate: WriteGate) -> None:
    first = decide(gate, "my brother sam lives in leeds").facts
    second = decide(gate, "my brother tom lives in york").facts
    assert {f.subject for f in first} == {"user.brother:sam"}
    assert {f.subject for f in second} == {"user.brother:tom"}


def test_known_name_is_resolved(gate: WriteGate) -> None:
    subjects = {"abena": "user.daughter:abena"}
    decision = decide(gate, "shes moved to cape coast", "And Abena?", subjects=subjects)
    assert [f.subject for f in decision.facts] == ["user.daughter:abena"]
    assert texts(decision) == ["Daughter Abena lives in Cape Coast"]


def test_the_name_the_assistant_said_last_is_meant(gate: WriteGate) -> None:
    subjects = {"arjun": "user.brother:arjun", "kavi": "user.brother:kavi"}
    before = "A dentist in Toronto. And Kavi, is he in Canada as well?"
    decision = decide(gate, "no no hes in pune", before, subjects=subjects)
    assert [f.subject for f in decision.facts] == ["user.brother:kavi"]


@pytest.mark.parametrize(
    ("before", "said", "expected"),
    [
        ("What is your name?", "glenn", "Is named Glenn"),
        ("And what's your name?", "oh um ngozi", "Is named Ngozi"),
        (
            "Where do you live?",
            "uh in gdansk with my girlfriend ola",
            "Lives in Gdansk with their girlfriend Ola",
        ),
        ("Do you have any kids?", "two", "Has two kids"),
        ("How many children do you have?", "three", "Has three children"),
        ("Do you drive, by the way?", "nope never learned", "Does not drive"),
        ("What's your favourite colour?", "green", "Favourite colour is green"),
        ("Which languages do you speak?", "polish and english", "Speaks Polish"),
        ("Which languages do you speak?", "polish and english", "Speaks English"),
    ],
)
def test_short_answers_are_read_with_the_question(
    gate: WriteGate, before: str, said: str, expected: str
) -> None:
    assert expected in texts(decide(gate, said, before))


def test_yes_to_a_request_is_no_fact(gate: WriteGate) -> None:
    assert decide(gate, "yes please", "Shall I play some jazz?").verdict != "allow"


def test_correction_replaces_the_name(gate: WriteGate) -> None:
    wrong = name_fact("user.cat:dumbo", "Dumbo", "Has a cat named Dumbo")
    decision = decide(gate, "no no his name is gumbo", "Dumbo!", recent_facts=(wrong,))
    (fact,) = decision.facts
    assert (fact.op, fact.replaces, fact.subject) == ("correct", "Dumbo", "user.cat:gumbo")
    assert "correction" in decision.signals


@pytest.mark.parametrize(
    ("said", "scope", "value"),
    [
        ("forget that", "last", ""),
        ("delete everything you have about devon please", "subject", "devon"),
        ("forget that i like blues", "value", "like blues"),
        ("forget everything", "all", ""),
    ],
)
def test_retractions(gate: WriteGate, said: str, scope: str, value: str) -> None:
    decision = decide(gate, said)
    (fact,) = decision.facts
    assert (fact.op, fact.scope) == ("retract", scope)
    assert value in fact.value


@pytest.mark.parametrize("said", ["forget it", "delete the reservation", "clear my todo list"])
def test_commands_are_no_retractions(gate: WriteGate, said: str) -> None:
    assert decide(gate, said).verdict != "allow"


def test_a_goal_given_up_ends_its_fact(gate: WriteGate) -> None:
    decision = decide(gate, "im not saving for that boat any more so you can lose that too")
    (fact,) = decision.facts
    assert (fact.op, fact.scope, fact.slot) == ("retract", "slot", "saving_for")


def test_remember_writes_in_third_person(gate: WriteGate) -> None:
    decision = decide(gate, "remember that my canoe is over in haralds garage")
    (fact,) = decision.facts
    assert "canoe" in fact.text.lower()
    assert "my" not in fact.text.lower().split()
    assert fact.rule_id == "remember"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("if i won the lotto id buy a castle in kerry", "conditional"),
        ("i might move to spain", "hedge"),
        ("i wish i lived in paris", "wish"),
        ("rob says hes keto now", "third_party"),
        ("my mam always says im allergic to hard work", "third_party"),
    ],
)
def test_what_is_not_vouched_for_is_held(gate: WriteGate, said: str, reason: str) -> None:
    decision = decide(gate, said)
    assert decision.verdict == "hold"
    assert decision.reason in (reason, "idiom")
    assert not decision.facts


@pytest.mark.parametrize(
    "said",
    [
        "id love to hear a joke",
        "call my brother",
        "play my favourite song",
        "what is my brothers name",
        "can you call my wife anna",
        "i like that idea",
        "i want you to stop",
        "how long do i boil eggs",
        "tell me how much i spent on groceries",
    ],
)
def test_requests_and_politeness_store_nothing(gate: WriteGate, said: str) -> None:
    assert decide(gate, said).verdict != "allow"


def test_open_is_set_where_nothing_vouches(gate: WriteGate) -> None:
    decision = decide(gate, "im keeping the sourdough thing going whatever happens")
    assert (decision.verdict, decision.open) == ("hold", True)


def test_used_to_is_stored_as_past(gate: WriteGate) -> None:
    (fact,) = decide(gate, "i used to live in oslo").facts
    assert (fact.tense, fact.text) == ("past", "Used to live in Oslo")


def test_dislikes_share_the_slot_of_likes(gate: WriteGate) -> None:
    (liked,) = decide(gate, "i like olives").facts
    (hated,) = decide(gate, "i hate olives").facts
    assert liked.slot == hated.slot
    assert (liked.polarity, hated.polarity) == ("positive", "negative")


def test_fail_policy_open_allows_the_raw_turn() -> None:
    settings = load_settings(gatekeeper_mode="pattern", gatekeeper_fail_policy="open")
    decision = WriteGate(settings).decide_by_rules(Turn(text="the api endpoint is /api/users"))
    assert decision.verdict == "allow"
    assert decision.facts[0].text == "the api endpoint is /api/users"


def test_disabled_allows_the_raw_turn_but_no_secret() -> None:
    gate = WriteGate(load_settings(gatekeeper_enabled=False))
    assert gate.decide_by_rules(Turn(text="hmm whatever")).verdict == "allow"
    assert gate.decide_by_rules(Turn(text="my pin is one two three four")).verdict == "discard"


def test_missing_judge_is_said() -> None:
    gate = WriteGate(load_settings())
    decision = gate.decide(Turn(text="im keeping the sourdough thing going whatever happens"))
    assert (decision.verdict, decision.fallback) == ("hold", True)


def test_debug_line(caplog: pytest.LogCaptureFixture) -> None:
    gate = WriteGate(load_settings(gatekeeper_mode="pattern", gatekeeper_debug=True))
    gate.decide_by_rules(Turn(text="i like jazz", language="en"))
    (record,) = caplog.records
    line = getattr(record, "lk.pii.gatekeeper")
    assert line.startswith('[gatekeeper] KEEP (preference): "i like jazz" - ')
