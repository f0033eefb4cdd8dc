"""What ships with the judge is made from these files: they are checked without torch."""

from __future__ import annotations

import random

import pytest

from training.augmentation import vary
from training.turns import LEFT_OUT, digest, normal_form, read_turns
from training.twins import written_out

pytestmark = pytest.mark.unit

TURNS = read_turns()


def test_facts_stand_only_with_allow() -> None:
    assert not [t.text for t in TURNS if t.facts and t.verdict != 0]


def test_nothing_left_out_is_read() -> None:
    barred = set(LEFT_OUT.read_text().split())
    assert not [t.text for t in TURNS if digest(t.text) in barred]


def test_every_kind_of_label_has_lines_with_and_without_context() -> None:
    for verdict in range(3):
        rows = [t for t in TURNS if t.verdict == verdict]
        bare = sum(not t.context for t in rows) / len(rows)
        assert 0.1 < bare < 0.9


def test_other_writings_keep_the_label_and_some_words() -> None:
    rng = random.Random(1)
    for turn in TURNS[:2000]:
        varied = vary(turn, rng, ["Good to know."])
        assert (varied.verdict, varied.recall) == (turn.verdict, turn.recall)
        assert varied.text.strip()


def test_a_digest_does_not_see_case_or_marks() -> None:
    assert digest("I'm Sam!") == digest("im sam")
    assert normal_form("I’m  Sam.") == "im sam"


def test_a_pattern_chooses_the_same_word_in_line_and_memory() -> None:
    said, memory = written_out("i like {x} => Likes {x}", {"x": ["jazz", "ska"]}, random.Random(2))
    assert said.removeprefix("i like ") == memory.removeprefix("Likes ")
