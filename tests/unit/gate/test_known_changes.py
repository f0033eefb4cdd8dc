"""Constructions of change: every example ends what it names, no counter-example ends anything."""

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
        source = PACKS / language / "known_changes.toml"
        if source.is_file():
            for rule in tomllib.loads(source.read_text("utf-8"))["change"]:
                for number, example in enumerate(rule[which]):
                    yield pytest.param(
                        language, rule["id"], *example[:3], id=f"{language}-{rule['id']}-{number}"
                    )


def pointing(which: str) -> Iterator[object]:
    for language in ("en", "de", "fr", "es"):
        raw = tomllib.loads((PACKS / language / "known_changes.toml").read_text("utf-8"))
        for memory, before, said in raw["pointing"][which]:
            yield pytest.param(language, memory, before, said, id=f"{language}-{said}-{before}")


@pytest.mark.parametrize(("language", "memory", "before", "said"), list(pointing("examples")))
def test_what_was_just_spoken_of_ends(language: str, memory: str, before: str, said: str) -> None:
    assert ends(decided(language, memory, said, before), memory)


@pytest.mark.parametrize(("language", "memory", "before", "said"), list(pointing("non_examples")))
def test_what_nobody_spoke_of_stays(language: str, memory: str, before: str, said: str) -> None:
    assert not ends(decided(language, memory, said, before), memory)


def decided(language: str, memory: str, said: str, before: str = "") -> tuple[Fact, ...]:
    subject = "user"
    subjects = {}
    if memory.startswith("Wife Priya"):
        subject, subjects = "user.wife:priya", {"priya": "user.wife:priya"}
    if memory.startswith("Brother Sam"):
        subject, subjects = "user.brother:sam", {"sam": "user.brother:sam"}
    slot = "lives_in" if memory.startswith("Lives in") else None
    known = Fact(text=memory, category="personal_facts", subject=subject, slot=slot)
    context = DialogueContext(known=(known,), subjects=subjects)
    return GATE.decide_by_rules(
        Turn(text=said, language=language, assistant_before=before), context
    ).facts


def ends(facts: tuple[Fact, ...], memory: str) -> bool:
    return any(
        (fact.op == "retract" and fact.scope == "memory" and fact.text == memory)
        or (fact.op == "assert" and fact.replaces == memory)
        for fact in facts
    )


@pytest.mark.parametrize(("language", "rule", "memory", "said", "instead"), list(cases("examples")))
def test_an_example_ends_what_it_names(
    language: str, rule: str, memory: str, said: str, instead: str
) -> None:
    facts = decided(language, memory, said)
    assert ends(facts, memory)
    if instead:
        assert instead in {fact.text for fact in facts if fact.op == "assert"}


@pytest.mark.parametrize(("language", "rule", "memory", "said"), list(cases("non_examples")))
def test_a_counter_example_ends_nothing(language: str, rule: str, memory: str, said: str) -> None:
    assert not ends(decided(language, memory, said), memory)
