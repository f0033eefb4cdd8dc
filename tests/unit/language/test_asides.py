"""Asides addressed to the hearer are no part of what is said."""

from __future__ import annotations

import pytest

from bmo.language import repair, words

pytestmark = pytest.mark.unit


def spoken(text: str) -> str:
    left = repair(words(text))
    return " ".join(f"{w}{m[:1].strip()}" for w, m in zip(left.norm, left.after, strict=True))


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("i am new here so bear with me", "i am new here"),
        ("my gran, if you can believe it, still swims", "my gran, still swims"),
        ("i teach piano, would you believe", "i teach piano,"),
        ("i cant stand the manager mind, right jobsworth", "i can not stand the manager, right"),
        ("i like it black like, no sugar", "i like it black, no sugar"),
        ("don't judge me but i eat cereal for dinner", "i eat cereal for dinner"),
        ("i see her on sundays, as you know", "i see her on sundays,"),
        ("we live by the docks innit, noisy", "we live by the docks, noisy"),
        ("ravi is veggie, should have said", "ravi is veggie,"),
        ("my son is coeliac i should have mentioned", "my son is coeliac"),
        ("she is deaf in one ear forgot to say", "she is deaf in one ear"),
        ("should've told you, i am coeliac", "i am coeliac"),
        ("i should have mentioned my wife is deaf", "my wife is deaf"),
        ("forgot to say we are moving to hull", "we are moving to hull"),
    ],
)
def test_an_aside_goes_and_its_comma_stays(said: str, left: str) -> None:
    assert spoken(said).startswith(left)


@pytest.mark.parametrize(
    "said",
    [
        "the bear with me is from finland",
        "she does not believe me",
        "i do not mind, thanks",
        "he has a great mind, my son",
        "my mate, dave, is a plumber",
        "call me mate, everyone does",
        "just so you know my daughter is vegan",
        "i know what it looks like, it is blue",
        "do not judge me",
        "i should have said no",
        "i should have said i was ill",
        "he should have said he is allergic",
        "she thinks i should have said i am leaving",
        "that is what i should have said",
        "he should have told you",
        "i should have told her i am leaving",
        "he forgot to say",
        "we should have gone to spain",
    ],
)
def test_what_is_meant_stays(said: str) -> None:
    assert spoken(said) == said


@pytest.mark.parametrize(
    "said", ["bear with me", "bear with me, my gran, believe it or not, swims"]
)
def test_dropping_is_idempotent(said: str) -> None:
    once = repair(words(said))
    assert repair(once).norm == once.norm
