"""What is over: things sold, jobs and courses finished, tastes gone, and clauses told in pieces."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.ledger.retraction import target_of
from bmo.settings import load_settings
from bmo.turn import Decision, DialogueContext, Fact, StoredFact, Turn, utc_now

pytestmark = pytest.mark.unit

GATE = WriteGate(load_settings(gatekeeper_mode="pattern"))


def decide(text: str, **subjects: str) -> Decision:
    return GATE.decide_by_rules(
        Turn(text=text, language="en"), DialogueContext(subjects=dict(subjects))
    )


@pytest.mark.parametrize(
    ("said", "slot", "scope", "value"),
    [
        ("well i sold the telescope got me a pair of binoculars", "owns", "value", "telescope"),
        ("i gave my drum kit away last month", "owns", "value", "drum kit"),
        ("and i traded in the old car", "drives", "slot", ""),
        ("the credit union is finished for me", "employer", "value", "credit union"),
        ("im done with the aqua class", "activity", "value", "aqua class"),
        ("i finally finished my degree", "studies", "slot", ""),
    ],
)
def test_what_is_over_ends_and_is_not_erased(said: str, slot: str, scope: str, value: str) -> None:
    decision = decide(said)
    ending = next(fact for fact in decision.facts if fact.op == "retract")
    assert (ending.slot, ending.scope, ending.value) == (slot, scope, value)
    assert decision.verdict == "allow"
    assert "forget" not in decision.signals, "only a request to forget erases"


@pytest.mark.parametrize(
    "said",
    [
        "i sell cars",
        "should i sell the car",
        "i might sell the telescope",
        "the film is over",
        "i have not sold the piano",
        "if i finish my degree ill move",
        "im done with the dishes",
    ],
)
def test_what_is_not_over_ends_nothing(said: str) -> None:
    assert not any(fact.op == "retract" for fact in decide(said).facts)


def test_a_request_to_forget_still_erases() -> None:
    decision = decide("no just um delete everything you have about devon please")
    assert decision.signals[0] == "forget"
    assert [(fact.op, fact.scope, fact.value) for fact in decision.facts] == [
        ("retract", "subject", "devon")
    ]


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (
            "on my days off thats monday and tuesday no reminders before ten",
            ["Days off are Monday and Tuesday", "Wants no reminders before ten"],
        ),
        (
            "the clinic did move in the end to taiping so thats where i work now",
            ["Works at the clinic in Taiping"],
        ),
        (
            "my wife efua is lovely but strong perfume gives her a migraine",
            ["Wife Efua gets migraine from strong perfume"],
        ),
        (
            "im learning portuguese because my partner's parents speak nothing else",
            ["Partner's parents speak Portuguese"],
        ),
        (
            "the deadline for my georgian moved up i want to be conversational by july",
            ["Wants to be conversational in Georgian by July"],
        ),
        (
            "theres a puppy at my place now a corgi his name is tofu",
            ["Has a puppy named Tofu, a corgi"],
        ),
        ("hi, Lerato here", ["Is named Lerato"]),
        (
            "tuesdays and thursdays i'm at the surgery until seven then",
            ["Is at the surgery until seven Tuesdays and Thursdays"],
        ),
        (
            "Saturdays, Sundays and Mondays, my daughter is at her dad's.",
            ["Daughter is at her dad's Saturdays Sundays and Mondays"],
        ),
        ("I work nights. Fridays I'm at the shelter.", ["Is at the shelter Fridays"]),
    ],
)
def test_what_a_clause_leaves_out_is_taken_from_the_turn(said: str, stored: list[str]) -> None:
    texts = [fact.text for fact in decide(said).facts]
    assert set(stored) <= set(texts)


@pytest.mark.parametrize("said", ["morning rain here", "over here", "hi still here"])
def test_what_is_here_is_not_always_a_name(said: str) -> None:
    assert not any(fact.slot == "name" for fact in decide(said).facts)


def _known(text: str, slot: str | None, value: str) -> StoredFact:
    return StoredFact(
        id=text,
        user_id="u",
        subject="user",
        slot=slot,
        value=value,
        text=text,
        category="personal_facts",
        kind="fact",
        cardinality="many",
        polarity="positive",
        confidence=0.9,
        valid_from=utc_now(),
    )


def test_a_thing_that_is_gone_ends_only_where_it_belongs() -> None:
    sold = next(f for f in decide("i sold the telescope").facts if f.op == "retract")
    owned = _known("Owns a telescope, an eight inch dobsonian", "owns", "telescope")
    liked = _known("Likes the telescope at the museum", "likes", "telescope at the museum")
    assert target_of(sold, [owned, liked], latest=(), near={}).facts == (owned,)
    assert target_of(sold, [liked], latest=(), near={liked.id: 0.9}).facts == ()


def test_a_new_car_takes_the_place_of_the_old_one() -> None:
    first = decide("i have an old diesel passat").facts[0]
    second = decide("im in an electric one now a um a kia").facts[0]
    assert (first.slot, first.cardinality) == (second.slot, second.cardinality) == ("drives", "one")
    assert isinstance(first, Fact)
