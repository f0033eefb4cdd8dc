"""Who is not what they are known as: every example of the packs ends it, no other turn does."""

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
        raw = tomllib.loads((PACKS / language / "denied_relations.toml").read_text("utf-8"))
        for name, subject, said in raw[which]:
            yield pytest.param(language, name, subject, said, id=f"{language}-{said}")


def decided(language: str, name: str, subject: str, said: str) -> tuple[Fact, ...]:
    told = Fact(
        text=f"Has one named {name.title()}",
        category="relationships",
        subject=subject,
        slot="name",
        value=name.title(),
    )
    context = DialogueContext(known=(told,), subjects={name: subject})
    return GATE.decide_by_rules(Turn(text=said, language=language), context).facts


@pytest.mark.parametrize(("language", "name", "subject", "said"), list(cases("examples")))
def test_a_denied_relation_ends(language: str, name: str, subject: str, said: str) -> None:
    facts = decided(language, name, subject, said)
    assert [(f.op, f.slot, f.subject) for f in facts] == [("retract", "not_of_relation", subject)]


@pytest.mark.parametrize(("language", "name", "subject", "said"), list(cases("non_examples")))
def test_what_denies_another_relation_ends_nothing(
    language: str, name: str, subject: str, said: str
) -> None:
    facts = decided(language, name, subject, said)
    assert not [fact for fact in facts if fact.slot == "not_of_relation"]


def test_what_else_is_told_is_told_by_name() -> None:
    facts = decided(
        "en", "devraj", "user.boss:devraj", "Devraj is not my manager, he's the CTO. he likes golf"
    )
    assert {(f.subject, f.text) for f in facts if f.op == "assert"} == {
        ("user", "Devraj is a CTO"),
        ("user", "Devraj likes golf"),
    }


def test_a_pronoun_behind_means_who_is_named_and_not_the_position() -> None:
    turn = Turn(text="Devraj is not my manager, he's a plumber. my manager is Beatriz")
    facts = GATE.decide_by_rules(turn).facts
    assert ("user", "Devraj is a plumber") in {(f.subject, f.text) for f in facts}
    assert not [f for f in facts if f.subject.startswith("user.boss") and "plumber" in f.text]


def test_nobodys_title_is_whose_they_are() -> None:
    facts = GATE.decide_by_rules(Turn(text="my brother tom is not my manager")).facts
    assert not [f for f in facts if "their manager" in f.text and " a their " in f.text]


def test_what_they_are_instead_is_told() -> None:
    said = "anna is not my sister, she is my cousin"
    facts = decided("en", "anna", "user.sister:anna", said)
    assert [(f.op, f.subject) for f in facts] == [
        ("retract", "user.sister:anna"),
        ("assert", "user.cousin:anna"),
    ]
