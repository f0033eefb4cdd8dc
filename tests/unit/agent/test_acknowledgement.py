"""What the offline responder says of a turn that asks for nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.chat.acknowledgement import (
    CONFLICT,
    FORGOTTEN,
    HEARD,
    LISTENING,
    NOTHING_TO_FORGET,
    PAST,
    SECRET,
    SORRY,
    STEERING,
    UNKEPT,
    Kept,
    about_forgetting,
    acknowledge,
)
from bmo.chat.wording import answer

pytestmark = pytest.mark.unit


def test_it_names_what_was_written() -> None:
    said = acknowledge("x", Kept("allow", added=("Lives in Leeds", "Has a brother named Sam")))
    assert "you live in Leeds and your brother is named Sam" in said
    both = ("Has a sister named Hanna", "Sister Hanna has a dog named Pickle")
    once = acknowledge("x", Kept("allow", added=both))
    assert "your sister Hanna has a dog named Pickle" in once
    assert "is named" not in once
    assert acknowledge("x", Kept("allow", added=("Father has died",))) == SORRY
    many = Kept("allow", added=("Likes tea", "Likes jam", "Likes rye", "Likes figs"))
    assert acknowledge("x", many).partition(";")[0].rstrip(".").endswith("and 2 more")
    assert acknowledge("x", Kept("allow", added=("Is 9", "Is 8"), conflict=True)).endswith(CONFLICT)
    assert acknowledge("x", Kept("allow", added=('Said in German: "so"',))) == "Noted."
    assert acknowledge("x", Kept("allow", added=("Likes " + "a" * 200,))) == "Noted."
    assert acknowledge("x", Kept("allow", confirmed=("Is vegan",))) == "Yes, I know: you are vegan."
    assert acknowledge("x", Kept("allow", ended=True)) == PAST
    twice = ("Husband Carl is a chef", "Husband Carl works at the Grand")
    said = acknowledge("x", Kept("allow", added=twice))
    assert "your husband Carl is a chef and works at the Grand" in said
    noted = acknowledge("x", Kept("allow", added=("Every PR needs two reviews",)))
    assert "every PR needs" in noted
    stack = acknowledge("Our stack is Go", Kept("allow", added=("Stack is Go",)))
    assert " stack is Go" in stack
    named = acknowledge("Vera has three kids", Kept("allow", added=("Vera has 3 (three) kids",)))
    assert "Vera has 3 kids" in named
    quoted = acknowledge("x", Kept("allow", added=("First time living alone",)))
    assert '"First time living alone"' in quoted and "I noted" not in quoted


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (Kept("discard", "secret"), SECRET),
        (Kept("hold", "injection"), STEERING),
        (Kept("allow", off_record=True, added=("Likes tea",)), UNKEPT),
    ],
)
def test_what_is_not_kept_is_not_named(kept: Kept, said: str) -> None:
    assert acknowledge("my tea", kept) == said


def test_forgetting_names_nothing_that_is_gone() -> None:
    assert about_forgetting(Kept("allow", forgotten=True)) == FORGOTTEN
    assert about_forgetting(Kept("allow")) == NOTHING_TO_FORGET
    asked = about_forgetting(Kept("allow", ended=True, asked=("Likes tea",)))
    assert asked == "1 memory is withdrawn (Likes tea). Shall I erase them for good?"


def test_a_statement_is_acknowledged_before_what_was_recalled() -> None:
    recall = "<memory>\nPeople and pets:\n- Has a cat named Admiral\n</memory>"
    kept = Kept("allow", "stated personal fact", ("personal_fact",), added=("Lives in Leeds",))
    said = answer("i live in leeds", [recall], ("personal_fact",), kept)
    assert "you live in Leeds" in said
    assert "Admiral" not in said
    assert answer("i live in leeds", [], ("personal_fact",), None) == HEARD


@given(st.text(), st.sampled_from(["allow", "hold", "discard"]), st.text())
def test_the_same_words_get_the_same_reply(words: str, verdict: str, reason: str) -> None:
    kept = Kept(verdict, reason)  # type: ignore[arg-type]
    assert acknowledge(words, kept) == acknowledge(words, kept)
    if not reason:
        assert acknowledge(words, kept) in LISTENING
