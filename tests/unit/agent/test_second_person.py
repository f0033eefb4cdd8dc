"""Every memory becomes a well-formed sentence for the person it is about."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bmo.chat.second_person import QUOTED, second_person
from bmo.gate import WriteGate
from bmo.language import third_person
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

SCENARIOS = Path(__file__).parents[2] / "scenarios"
ODD = (
    "His name's biscuit",
    "Her sister is in grade eleven",
    "This year is for the roof",
    "Thursdays with a woman called Pru",
    "Days off are Monday and Tuesday",
    "Nuts are fine; it is egg",
    "Books come back within fourteen days",
    "Shifts run twelve hours",
    "Efuas mum is living with them",
    "Mums mines the thirteenth",
    "Glasses are new",
    "First time living alone",
    "Brass monkeys in here",
    "Left ear has been dead since they were a child",
    "Wife's just been made redundant",
    "Always",
    "Yes",
    "; ;",
    "Is a job at the children's hospital",
    "There are six of them",
    "They and their kid go up to the lakes",
    "As of May",
    "Bus pass ran out",
    "James runs a chip shop",
    "Physics is what they study",
)
NEW = frozenset(
    (
        "you your yours yourself me my i are name noted is named have do were don't aren't haven't"
    ).split()
)
"""Words that a sentence may have and its memory not."""
NO_VERBS = frozenset(
    "his her its this these those thursdays days nuts books shifts efuas mums glasses eyes yes "
    "first brass left as us the a there they bus james physics".split()
)


def _rows(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("user"), str):
            yield part["user"]
        for value in part.values():
            yield from _rows(value)
    elif isinstance(part, list):
        for value in part:
            yield from _rows(value)


def _memories() -> list[str]:
    """What the rules write of every scenario, and what the packs' examples write."""
    gate = WriteGate(load_settings())
    found = set(ODD)
    for path in sorted(SCENARIOS.glob("*.turns.yaml")):
        for words in _rows(yaml.safe_load(path.read_text(encoding="utf-8"))):
            found.update(fact.text for fact in gate.decide_by_rules(Turn(words)).facts)
    open_examples = (files("bmo.gate") / "packs" / "en" / "open_examples.toml").read_text("utf-8")
    found.update(e["text"] for e in tomllib.loads(open_examples)["example"] if "text" in e)
    return sorted(found)


def _words(text: str) -> list[str]:
    return re.findall(r"[\w'’-]+", text.casefold().replace("’", "'"))


def _broken(memory: str, sentence: str) -> list[str]:
    """Words of a sentence that are neither its memory's nor a form of one of them."""
    had = set(_words(memory))
    return [
        word
        for word in _words(sentence)
        if word not in had and word not in NEW and third_person(word) not in had - NO_VERBS
    ]


def test_every_memory_is_a_sentence() -> None:
    memories = _memories()
    assert len(memories) > 400
    for memory in memories:
        sentence = second_person(memory)
        if not memory.strip(" ;"):
            assert sentence == ""
            continue
        assert sentence[0] == sentence[0].upper(), memory
        assert sentence.endswith((".", '"')), memory
        assert "the assistant" not in re.sub(r'"[^"]*"', "", sentence), memory
        if sentence.startswith((QUOTED, "You said")):
            continue
        assert not _broken(memory, sentence), (memory, sentence, _broken(memory, sentence))
        said = _words(sentence)
        if said[0] == "you":
            assert said[1] not in NO_VERBS, (memory, sentence)
            for clause in re.split(r"; |, ", sentence):
                for before, word in pairwise(_words(clause)[:3]):
                    assert before != "you" or word not in ("is", "has", "does", "was"), sentence


@pytest.mark.parametrize("memory", ODD)
def test_nothing_of_an_odd_memory_is_lost(memory: str) -> None:
    same = {"is", "they", "their", "them", "was", "has", "does"}
    said = set(_words(second_person(memory)))
    kept = {third_person(word) for word in said} | said
    assert set(_words(memory)) - same <= kept


@given(st.text(max_size=80))
def test_any_text_becomes_a_sentence(memory: str) -> None:
    said = second_person(memory)
    assert said or not memory.strip(" \n.;,") or not memory.strip().strip(".,; ")
