"""Bare corrections: every example of the packs puts right what it names, no other turn does."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import bmo.gate
from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit

PACKS = Path(bmo.gate.__file__).parent / "packs"
GATE = WriteGate(load_settings(gatekeeper_mode="pattern"))


def cases(which: str) -> Iterator[object]:
    for language in ("en", "de", "fr", "es"):
        raw = tomllib.loads((PACKS / language / "corrections.toml").read_text("utf-8"))
        for row in raw[which]:
            yield pytest.param(language, *row, id=f"{language}-{row[5]}")


def decided(
    language: str, subject: str, slot: str, value: str, text: str, before: str, said: str
) -> tuple[Fact, ...]:
    told = Fact(
        text=text, category="personal_facts", subject=subject, slot=slot or None, value=value
    )
    turn = Turn(text=said, assistant_before=before, language=language)
    return GATE.decide_by_rules(turn, DialogueContext(recent_facts=(told,))).facts


@pytest.mark.parametrize(
    ("language", "subject", "slot", "value", "text", "before", "said", "right"),
    list(cases("examples")),
)
def test_a_bare_value_takes_the_place_of_what_was_told(
    language: str,
    subject: str,
    slot: str,
    value: str,
    text: str,
    before: str,
    said: str,
    right: str,
) -> None:
    facts = decided(language, subject, slot, value, text, before, said)
    assert [(fact.op, fact.text) for fact in facts] == [("correct", right)]


@pytest.mark.parametrize(
    ("language", "subject", "slot", "value", "text", "before", "said"),
    list(cases("non_examples")),
)
def test_what_is_no_value_puts_nothing_right(
    language: str, subject: str, slot: str, value: str, text: str, before: str, said: str
) -> None:
    facts = decided(language, subject, slot, value, text, before, said)
    assert not [fact for fact in facts if fact.op == "correct"]
