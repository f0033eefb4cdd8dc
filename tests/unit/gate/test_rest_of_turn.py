"""What an allowed turn tells beside its memories is kept; what nobody vouches for is not."""

from __future__ import annotations

from functools import cache

import pytest

from bmo.gate import WriteGate
from bmo.gate.analysis import analyse
from bmo.gate.open_coverage import untold
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit


@cache
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings())


def kept(said: str) -> str:
    decision = gate().decide(Turn(text=said))
    assert decision.verdict == "allow", decision.reason
    return " | ".join(fact.text for fact in decision.facts).lower()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "huw does all the mornings mind, i had my left hip replaced in november",
            ("huw", "hip"),
        ),
        ("i have two cats, they sleep in the airing cupboard", ("cats", "airing cupboard")),
        (
            "im lakshmi, engineering manager for the claims team at a health insurer in hyderabad",
            ("lakshmi", "engineering manager", "claims team", "health insurer"),
        ),
        (
            "code reviews have to be finished within one day. if the reviewer is on leave, "
            "it comes to me",
            ("one day", "reviewer is on leave"),
        ),
    ],
)
def test_what_is_told_beside_a_memory_is_kept(said: str, words: tuple[str, ...]) -> None:
    memories = kept(said)
    assert [word for word in words if word not in memories] == []


@pytest.mark.parametrize(
    ("said", "never"),
    [
        ("my name is rob and what time is it in tokyo", "tokyo"),
        ("i'm vegan and remind me to call my brother", "brother"),
        ("i live in york, could you play some jazz", "jazz"),
        ("my phone is 0171 555 0199 and im a nurse on the renal ward", "phone"),
        ("i take metformin in the morning and a statin at night", "metformin and a statin"),
    ],
)
def test_questions_requests_and_masks_are_not_told_with_it(said: str, never: str) -> None:
    assert never not in kept(said)


@pytest.mark.parametrize(
    ("said", "old"),
    [
        ("ive stopped eating meat altogether", "stopped eating"),
        ("and the growth plan, forget the three cities, we're staying in munich", "three cities"),
    ],
)
def test_what_was_is_not_told_beside_a_change(said: str, old: str) -> None:
    assert old not in kept(said)


def test_a_supposed_condition_stays_untold() -> None:
    analysis = analyse(
        Turn(text="i live in york. if i won the lottery i would move to spain"), DialogueContext()
    )
    assert untold(analysis, [Fact("Lives in York", "personal_facts")]) == []


def test_what_is_generally_so_is_untold_until_a_fact_has_it() -> None:
    analysis = analyse(
        Turn(text="reviews take one day. if the reviewer is on leave it comes to me"),
        DialogueContext(),
    )
    first = Fact("Reviews take one day", "policies", subject="team")
    assert [" ".join(clause.norm) for clause in untold(analysis, [first])] != []
    both = Fact("Reviews take one day; if the reviewer is on leave it comes to them", "policies")
    assert untold(analysis, [both]) == []


def test_a_person_named_in_an_answer_is_the_one_named_in_a_statement() -> None:
    turn = Turn(text="my uncle tom", assistant_before="Who taught you to sail?")
    assert [fact.subject for fact in gate().decide(turn).facts] == ["user.uncle:tom"]
