"""Tokens, repairs, clauses, verb groups and times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.language import (
    MAX_CHARACTERS,
    clean,
    find_times,
    parse_verb_group,
    past_lemma,
    repair,
    segment,
    third_person,
    words,
)

pytestmark = pytest.mark.unit
AT = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)  # a Wednesday


def repaired(text: str) -> str:
    return " ".join(repair(words(text)).norm)


def clauses(text: str) -> list[str]:
    spoken = repair(words(text))
    return [" ".join(spoken.norm[c.start : c.end]) for c in segment(spoken)]


@pytest.mark.parametrize(
    ("text", "norm"),
    [
        ("im glenn", "i am glenn"),
        ("I don't know", "i do not know"),
        ("whats up", "what is up"),
        ("Sam's dog", "sam 's dog"),
        ("it’s 1:50", "it is 1:50"),
        ("we use node.js and c++", "we use node.js and c++"),
    ],
)
def test_normal_form(text: str, norm: str) -> None:
    assert " ".join(words(text).norm) == norm


@given(st.text(max_size=300))
def test_offsets_point_into_the_text(text: str) -> None:
    spoken = words(text)
    assert len(clean(text)) == min(len(text), MAX_CHARACTERS)
    for i in range(len(spoken)):
        assert 0 <= spoken.start[i] < spoken.end[i] <= len(spoken.text)
        assert spoken.raw(i)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("im vegetarian no wait vegan", "i am vegan"),
        ("my favourite colour is purple no its turquoise", "my favourite colour is turquoise"),
        ("my husband is called dave i mean david", "my husband is called david"),
        ("my birthday is the third no it's the fourth", "my birthday is the fourth"),
        ("i like the car no its too big", "i like the car no it is too big"),
        ("my cat is black no its fur is red", "my cat is black no it is fur is red"),
        ("my name is ana i mean it", "my name is ana i mean it"),
        ("a dentist no sorry a dental hygienist", "a dental hygienist"),
        ("the ninth of march i mean june ninth of june", "the ninth of june"),
        ("a terrier no not a terrier a dachshund", "a dachshund"),
        ("two kids no three", "three kids"),
        ("he is on warfarin no what is it apixaban", "he is on apixaban"),
        ("she lives in leeds no whats it called bradford", "she lives in bradford"),
        ("he said no what is it", "he said no what is it"),
        ("the fourth of june no sixth", "the sixth of june"),
        ("two cats no dogs", "two cats no dogs"),
        ("mondays to wednesdays actually no tuesdays to thursdays", "tuesdays to thursdays"),
        ("allergic to penicillin no not penicillin its amoxicillin", "allergic to amoxicillin"),
        ("in york no wait not york leeds", "in leeds"),
        ("emeka is a nurse in cardiff no wait swansea", "emeka is a nurse in swansea"),
        ("um i uh i i live in leeds", "i live in leeds"),
        ("very very good", "very very good"),
        ("no i like it", "no i like it"),
        ("there is no milk", "there is no milk"),
    ],
)
def test_repair(said: str, meant: str) -> None:
    assert repaired(said) == meant


@given(st.lists(st.sampled_from("um i no wait live in leeds york a mean not".split()), max_size=15))
def test_repair_is_idempotent_on_fillers(said: list[str]) -> None:
    once = repair(words(" ".join(said)))
    assert "um" not in once.norm or len(said) < 2


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("my brother is sam he lives in leeds", ["my brother is sam", "he lives in leeds"]),
        ("i like songs i know", ["i like songs i know"]),
        ("rob says hes keto now", ["rob says he is keto now"]),
        ("I live in York. I work there.", ["i live in york", "i work there"]),
        ("i drive a bus i cant be late", ["i drive a bus", "i can not be late"]),
        (
            "i love minecraft but only in creative mode",
            ["i love minecraft but only in creative mode"],
        ),
    ],
)
def test_segmentation(said: str, parts: list[str]) -> None:
    assert clauses(said) == parts


@pytest.mark.parametrize(
    ("said", "lemma", "polarity", "tense"),
    [
        ("i live here", "live", "positive", "present"),
        ("i used to smoke", "smoke", "positive", "past"),
        ("i do not eat meat", "eat", "negative", "present"),
        ("i no longer drive", "drive", "negative", "present"),
        ("i have lived here for years", "live", "positive", "present"),
        ("i have lived in peru", "live", "positive", "past"),
        ("i worked there", "work", "positive", "past"),
        ("i will move", "move", "positive", "future"),
        ("i am learning french", "be", "positive", "present"),
        ("i stopped eating meat", "eat", "negative", "present"),
    ],
)
def test_verb_group(said: str, lemma: str, polarity: str, tense: str) -> None:
    norm = words(said).norm
    group = parse_verb_group(norm, 1, len(norm))
    assert group is not None
    assert (group.lemma, group.polarity, group.tense) == (lemma, polarity, tense)


@pytest.mark.parametrize(
    ("past", "lemma"),
    [
        ("moved", "move"),
        ("studied", "study"),
        ("stopped", "stop"),
        ("worked", "work"),
        ("went", "go"),
        ("visited", "visit"),
    ],
)
def test_past_lemma(past: str, lemma: str) -> None:
    assert past_lemma(past) == lemma


@pytest.mark.parametrize(
    ("lemma", "third"), [("study", "studies"), ("go", "goes"), ("play", "plays"), ("have", "has")]
)
def test_third_person(lemma: str, third: str) -> None:
    assert third_person(lemma) == third


@pytest.mark.parametrize(
    ("said", "kind", "iso"),
    [
        ("the ninth of june", "yearly", "--06-09"),
        ("june 9th 1990", "date", "1990-06-09"),
        ("in september", "month", "2026-09"),
        ("tomorrow", "relative", "2026-03-05"),
        ("on friday", "relative", "2026-03-06"),
        ("ten days ago", "relative", "2026-02-22"),
        ("every tuesday", "recurring", ""),
    ],
)
def test_times(said: str, kind: str, iso: str) -> None:
    (found,) = find_times(words(said).norm, AT)
    assert (found.kind, found.iso) == (kind, iso)
