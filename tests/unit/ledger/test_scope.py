"""What a value or a text is about: the same thing, a narrower one, another kind, several people."""

from __future__ import annotations

import pytest

from bmo.ledger.subjects import speaks_of_several
from bmo.ledger.values import denies_whole, goes_on, kind_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("denied", "known", "same"),
    [
        ("boat", "a little sailboat", True),
        ("peanuts", "peanut", True),
        ("coffee", "cold coffee", True),
        ("peanut oil", "peanuts", False),
        ("pizza with pineapple", "pizza", False),
        ("brother-in-law", "brother", False),
        ("brother", "brother-in-law", False),
    ],
)
def test_only_the_same_or_a_wider_value_denies_another(denied: str, known: str, same: bool) -> None:
    assert denies_whole(denied, known) is same


def test_what_stands_behind_a_value_makes_it_narrower() -> None:
    known = "Works at lidl"
    assert goes_on("Does not work at lidl on Mondays", "lidl", known) == "on Mondays"
    assert goes_on("Does not work at lidl any more", "lidl", known) == ""
    assert goes_on("Does not like dogs (hunde)", "dogs", "Likes dogs (hunde)") == ""


def test_a_favourite_is_one_of_its_kind() -> None:
    assert kind_of("favourite", "favourite colour: blue") == kind_of("favourite", "colour: red")
    assert kind_of("favourite", "movie: Alien") == kind_of("favourite", "film: Jaws")
    assert kind_of("favourite", "Italian food: lasagne") != kind_of("favourite", "food: pizza")
    assert kind_of("lives_in", "Leeds: Headingley") == ""


@pytest.mark.parametrize(
    ("text", "subject", "several"),
    [
        ("Brothers live in Bonn", "user.brother", True),
        ("Children go to school", "user.child", True),
        ("Brother lives in Bonn", "user.brother", False),
        ("Brother's birthday is June 9", "user.brother", False),
        ("Brother Tom lives in Ulm", "user.brother:tom", False),
        ("Brothers are what the user wants", "user", False),
    ],
)
def test_several_of_a_relation_are_nobody_of_them(text: str, subject: str, several: bool) -> None:
    assert speaks_of_several(text, subject) is several
