"""Plain statements about work and life: told in the tense and with the words they were said in."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.open_canonicalisation import canonicalise
from bmo.language import words
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def rules() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.mark.parametrize(
    ("said", "memory"),
    [
        # without a span the perfect says what was so at some time, not that it still is
        ("i've grown up in leeds", "Has grown up in Leeds"),
        ("my wife has grown up in kenya", "Wife has grown up in Kenya"),
        ("i've been a nurse", "Has been a nurse"),
        ("my husband's been a chef", "Husband has been a chef"),
        ("my sister had been a nurse", "Sister used to be a nurse"),
        ("i've been a nurse for ten years", "Is a nurse"),
        ("i've had a bookshop", "Has had a bookshop"),
        ("i managed a hotel in spain", "Used to manage a hotel in Spain"),
        ("i've learnt portuguese", "Has learnt Portuguese"),
        ("i don't work on mondays", "Does not work on Mondays"),
        ("nobody is allowed to work alone", "Rule: nobody may work alone"),
    ],
)
def test_the_memory_says_no_more_than_was_said(rules: WriteGate, said: str, memory: str) -> None:
    assert [fact.text for fact in rules.decide(Turn(said)).facts] == [memory]


@pytest.mark.parametrize(
    "said", ["my contract runs out in june", "my contract is up in june", "my job ends at five"]
)
def test_a_contract_that_will_end_is_no_job_left(rules: WriteGate, said: str) -> None:
    assert not [fact for fact in rules.decide(Turn(said)).facts if fact.op == "retract"]


@pytest.mark.parametrize(
    ("said", "memory"),
    [
        ("i did my abitur at night school", "Did their abitur at night school"),
        ("i do my laundry at night", "Does their laundry at night"),
        ("i've taken over my father's farm", "Has taken over their father's farm"),
    ],
)
def test_a_verb_before_a_possessive_is_kept(said: str, memory: str) -> None:
    found = canonicalise(words(said, "en"))
    assert found is not None
    assert found.text == memory


def test_a_reply_before_a_new_subject_stays_a_reply() -> None:
    found = canonicalise(words("i did my brother is a vet", "en"))
    assert found is not None
    assert found.text == "Brother is a vet"
