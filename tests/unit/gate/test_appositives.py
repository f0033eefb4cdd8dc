"""Appositives and relative clauses: who is meant, and what is said of them beside the main verb."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.gate import WriteGate
from bmo.gate.appositives import MAX_REWRITES, written_out
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.language import repair, words
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_settings(gatekeeper_mode="pattern"), load_judge=False)


def written(text: str) -> str:
    pack = load_pack("en")
    jobs = pack.lexicons["occupations"]
    spoken = repair(words(text, "en"), "en")
    found = written_out(spoken, people_lexicon("en"), pack.stops, jobs)
    return " ".join(word + mark.strip() for word, mark in zip(found.norm, found.after, strict=True))


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("my sister ana who lives in rome is a vet", "my sister ana lives in rome she is a vet"),
        ("My brother, who lives in Oslo, is a chef.", "my brother lives in oslo, he is a chef."),
        ("i have a son tom who is in leeds", "i have a son called tom he is in leeds"),
        ("We have a son, Ezra.", "we have a son called ezra."),
        ("My best friend, Jo, is moving to Spain", "my best friend jo is moving to spain"),
        ("Gwyn, my husband, is learning to sign", "my husband gwyn is learning to sign"),
        (
            "My dad, a retired plumber, lives with us",
            "my dad is a retired plumber, he lives with us",
        ),
        ("I'm Tom, 34, from Leeds.", "i am tom, i am 34, i am from leeds."),
        ("my kids who are at school love pizza", "my kids who are at school love pizza"),
        ("my sister who smokes", "my sister smokes"),
    ],
)
def test_what_is_written_out(said: str, read: str) -> None:
    assert written(said) == read


@pytest.mark.parametrize(
    "said",
    [
        "my brother who i love is here",
        "my brother, tom and i went out",
        "I'm Tom, nice to meet you",
        "I'm fine, a bit tired",
        "the man who fixed the boiler is here",
        "who is my sister",
        "my boss is late",
        "it is cold, windy and wet",
        "Sam, my keys are gone",
    ],
)
def test_what_stays_as_it_was_said(said: str) -> None:
    spoken = repair(words(said, "en"), "en")
    as_said = " ".join(w + m.strip() for w, m in zip(spoken.norm, spoken.after, strict=True))
    assert written(said) == as_said


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        (
            "I have a sister, Ana, who lives in Rome.",
            {"Has a sister named Ana", "Sister Ana lives in Rome"},
        ),
        ("My aunt, who lives in Oslo, is a chef.", {"Aunt lives in Oslo", "Aunt is a chef"}),
        ("my sister who is a nurse works nights", {"Sister is a nurse", "Sister works nights"}),
        (
            "Hi, I'm Tom, 34, from Leeds.",
            {"Is named Tom", "Is 34 years old", "Comes from Leeds"},
        ),
        ("call my sister who lives in rome", set()),
        ("what is it with my brother who always eats my food", set()),
    ],
)
def test_what_is_stored(gate: WriteGate, said: str, stored: set[str]) -> None:
    assert {fact.text for fact in gate.decide(Turn(text=said)).facts} == stored


PHRASES = "my brother|, tom ,|who|lives in leeds|is a chef|a son|Ana|i am|,".split("|")


@given(st.lists(st.sampled_from(PHRASES), max_size=40))
def test_every_word_keeps_an_offset_of_the_turn(parts: list[str]) -> None:
    text = " ".join(parts)
    pack = load_pack("en")
    spoken = words(text, "en")
    found = written_out(spoken, people_lexicon("en"), pack.stops, pack.lexicons["occupations"])
    assert all(0 <= a < b <= len(text) for a, b in zip(found.start, found.end, strict=True))
    assert len({len(found.norm), len(found.start), len(found.end), len(found.after)}) == 1
    # Of what was said only "who" and moved names may be told otherwise; nothing is said twice.
    assert len(found) <= len(spoken) + MAX_REWRITES * 8
