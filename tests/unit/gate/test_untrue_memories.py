"""Memories that would say what is not so: the wrong person's, the opposite, half a statement."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.settings import load_settings
from tests.fakes.short_talk import decided

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def rules() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.fixture(scope="module")
def local() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="local"))


@pytest.mark.parametrize(
    ("said", "never"),
    [
        # he is the one just brought up, and nobody of whom the talk knew before
        (["my brother's called Aled", "we took on a new lad last week, he's eighteen"], "brother"),
        (["my brother's called Aled", "a bloke from the council came", "he's eighteen"], "brother"),
        # they are not one person of a turn ago
        (["my partner Ines is a vet", "they're called Mo and Bo"], "partner"),
        (["my partner Ines is a vet", "they've moved the appointment to may"], "partner"),
        # "it" is no pet of some turns ago
        (["my dog's called Shep", "my son Huw was off sick", "it's nursing he wants"], "dog"),
    ],
)
def test_a_pronoun_is_not_given_to_whoever_was_spoken_of_earlier(
    local: WriteGate, said: list[str], never: str
) -> None:
    assert [f.text for f in decided(local, *said).facts if never in f.subject] == []


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (
            "I tore a pulley in my finger, so no climbing for six weeks.",
            "No climbing for six weeks",
        ),
        ('i don\'t like being called "dear"', "Does not like being called dear"),
        ("i've had two falls since june", "Has had two falls"),
        ("my sister got a job in Leith", "Sister works in Leith"),
        (
            "i clean windows, me and my brother have two vans",
            "They and their brother have two vans",
        ),
    ],
)
def test_what_is_stored_is_what_was_said(local: WriteGate, said: str, stored: str) -> None:
    assert any(fact.text.startswith(stored) for fact in decided(local, said).facts)


def test_a_name_is_told_with_nothing_else(local: WriteGate) -> None:
    said = "I'm setting this up for my gran, but I'll use it too. My name is Ada Brook."
    names = [fact.text for fact in decided(local, said).facts if fact.slot == "name"]
    assert names == ["Is named Ada Brook"]


def test_a_full_stop_behind_the_second_subject_hides_nothing(rules: WriteGate) -> None:
    said = ["our son Kenji is fifteen", "I'm allergic to penicillin and so is Kenji."]
    assert "Son Kenji is allergic to penicillin" in [f.text for f in decided(rules, *said).facts]


def test_no_memory_begins_with_he_of_nobody(local: WriteGate) -> None:
    assert decided(local, "what a day", "he drives a bus").facts == ()


def test_whose_it_is_is_written_out(local: WriteGate) -> None:
    said = ["my sister Wren moved out last week", "her flat is in Hove"]
    told = [fact.text for fact in decided(local, *said).facts]
    assert [text for text in told if text.startswith(("Her", "Their"))] == []


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("remember i'm diabetic when you suggest food", "Is diabetic"),
        ("i broke my right wrist and it never healed", "Broke their right wrist; it never healed"),
        ("i lost my hearing in my left ear", "Lost their hearing in their left ear"),
        ("no swearing around the kids", "No swearing around their kids"),
        ("only suggest vegetarian restaurants",
         "Wants the assistant only to suggest vegetarian restaurants"),
        ("its fine just dont bring up my dad at dinner",
         "Does not want the assistant to bring up their dad at dinner"),
        ("i can't kneel because of my hip", "Cannot kneel because of their hip"),
    ],
)  # fmt: skip
def test_nothing_said_is_turned_round_or_cut_in_two(
    local: WriteGate, said: str, stored: str
) -> None:
    assert [fact.text for fact in decided(local, said).facts] == [stored]
