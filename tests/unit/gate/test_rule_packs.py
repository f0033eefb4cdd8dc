"""Every example and counter-example of every rule of every language."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bmo.gate import PackError, WriteGate
from bmo.gate.packs import load_pack
from bmo.gate.rule_patterns import compile_pattern
from bmo.language import LANGUAGES
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
RULES = [(code, rule.data) for code in LANGUAGES for rule in load_pack(code).rules]


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.mark.parametrize(
    ("code", "rule_id", "known", "example"),
    [(code, rule.id, rule.known, example) for code, rule in RULES for example in rule.examples],
)
def test_example_is_stored_as_written(
    gate: WriteGate, code: str, rule_id: str, known: tuple[str, ...], example: tuple[str, ...]
) -> None:
    said, *texts = example
    context = DialogueContext()
    if known:
        # Such a rule speaks only of what is known; without it the same words store nothing.
        fact = Fact(text=known[1], category="personal_facts", slot=known[0])
        turn = Turn(text=said, at=AT, language=code)
        nothing = gate.decide_by_rules(turn, context)
        assert rule_id not in [fact.rule_id for fact in nothing.facts]
        context = DialogueContext(known=(fact,))
    decision = gate.decide_by_rules(Turn(text=said, at=AT, language=code), context)
    stored = [fact.text for fact in decision.facts]
    assert decision.verdict == "allow", decision.reason
    assert stored
    for text in texts:
        assert text in stored


@pytest.mark.parametrize(
    ("code", "rule_id", "said"),
    [(code, rule.id, said) for code, rule in RULES for said in rule.non_examples],
)
def test_counter_example_is_not_stored_by_its_rule(
    gate: WriteGate, code: str, rule_id: str, said: str
) -> None:
    decision = gate.decide_by_rules(Turn(text=said, at=AT, language=code))
    assert rule_id not in [fact.rule_id for fact in decision.facts]


def test_every_rule_has_examples() -> None:
    bare = [f"{code}/{rule.id}" for code, rule in RULES if not rule.examples]
    assert not bare


def test_every_slot_has_counter_examples() -> None:
    told = {(code, rule.slot) for code, rule in RULES if rule.non_examples}
    assert not {(code, rule.slot) for code, rule in RULES} - told


def test_english_has_at_least_seventy_slot_families() -> None:
    assert len({rule.slot for code, rule in RULES if code == "en"}) >= 70


def test_confidence_is_a_probability() -> None:
    for code in LANGUAGES:
        for rule in load_pack(code).rules:
            assert 0.0 < rule.confidence <= 1.0


def test_unknown_lexicon_is_named() -> None:
    with pytest.raises(PackError, match="<no_such_list>"):
        compile_pattern("S like <no_such_list>", {})


def test_pattern_must_begin_with_a_word() -> None:
    with pytest.raises(PackError, match="begins with a capture"):
        compile_pattern("{v:NP} is nice", {})
