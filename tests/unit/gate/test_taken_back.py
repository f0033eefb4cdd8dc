"""Taking back what the turn before told: the examples of every pack, and what they spare."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.pack_tables import read_table
from bmo.gate.taken_back import taken_back, taking_back
from bmo.language import LANGUAGES, LanguageCode, words
from bmo.memory.dialogue import Dialogue
from bmo.settings import load_settings
from bmo.turn import TAKEN_BACK, Decision, DialogueContext, Turn

pytestmark = pytest.mark.unit

GATE = WriteGate.from_settings(load_settings(gatekeeper_mode="pattern"), load_judge=False)


def last_of(language: LanguageCode, *said: str, reply: str = "Okay.") -> Decision:
    """The gate's word on the last of some turns, each answered with the same words."""
    dialogue = Dialogue()
    decision = None
    for text in said:
        turn = Turn(text=text, language=language, assistant_before=dialogue.assistant_before)
        decision = GATE.decide_by_rules(turn, dialogue.context())
        dialogue.note_turn(turn, decision)
        dialogue.note_reply(turn.id, reply)
    assert decision is not None
    return decision


def of_packs(key: str) -> list[tuple[LanguageCode, list[str]]]:
    return [(code, line) for code in LANGUAGES for line in read_table(code, "taken_back.toml")[key]]


@pytest.mark.parametrize(("language", "example"), of_packs("examples"))
def test_what_is_taken_back_is_undone(language: LanguageCode, example: list[str]) -> None:
    before, reply, said, instead = example
    decision = last_of(language, before, said, reply=reply)
    assert decision.verdict == "allow"
    assert [f.rule_id for f in decision.facts if f.op == "retract"] == [TAKEN_BACK]
    assert [f.text for f in decision.facts if f.op != "retract"] == ([instead] if instead else [])


@pytest.mark.parametrize(("language", "example"), of_packs("non_examples"))
def test_what_only_sounds_alike_takes_nothing_back(
    language: LanguageCode, example: list[str]
) -> None:
    before, reply, said = example
    decision = last_of(language, before, said, reply=reply)
    assert [f for f in decision.facts if f.op == "retract"] == []


def test_only_the_turn_just_before_is_taken_back() -> None:
    decision = last_of("en", "i'm allergic to nuts", "what's the weather like", "just kidding")
    assert decision.facts == ()


def test_a_correction_of_one_of_two_facts_spares_the_other() -> None:
    decision = last_of("en", "i have a cat and i live in bradford", "scratch that, leeds")
    assert [(f.op, f.text) for f in decision.facts] == [("correct", "Lives in Leeds")]


def test_a_pack_without_the_table_takes_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bmo.gate.taken_back.read_table", lambda *_: {})
    taking_back.cache_clear()
    told = last_of("en", "i live in york").facts
    context = DialogueContext(last_facts=told)
    assert taken_back(words("just kidding", "en"), context, "", "en") is None
    taking_back.cache_clear()
