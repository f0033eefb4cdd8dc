"""What stands beside the known: every example of ``packs/<language>/beside.toml``."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bmo.gate import WriteGate
from bmo.gate.pack_tables import read_table
from bmo.language import LANGUAGES, LanguageCode
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
_SLOTS = {"Lives in": "lives_in", "Works at": "employer", "Is a": "occupation", "Likes": "likes"}

CASES = [
    (language, *case)
    for language in LANGUAGES
    for kind in ("examples", "non_examples")
    for case in read_table(language, "beside.toml")[kind]
]


def _known(text: str) -> Fact:
    opening = next(words for words in _SLOTS if text.startswith(words))
    value = text.removeprefix(opening).strip()
    return Fact(text=text, category="personal_facts", slot=_SLOTS[opening], value=value)


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings(load_judge=False)


@pytest.mark.parametrize(("language", "known", "said", "text", "how"), CASES)
def test_example_ends_nothing_or_what_it_should(
    gate: WriteGate, language: LanguageCode, known: str, said: str, text: str, how: str
) -> None:
    turn = Turn(text=said, at=AT, language=language)
    decision = gate.decide_by_rules(turn, DialogueContext(known=(_known(known),)))
    told = {fact.text: f"{fact.cardinality} {fact.tense}" for fact in decision.facts}
    assert told.get(text) == how, told


def test_a_stay_is_no_home(gate: WriteGate) -> None:
    known = DialogueContext(known=(_known("Lives in York"),))
    for said in ("i'm in paris now for the weekend", "i'm in paris now for a few days"):
        facts = gate.decide_by_rules(Turn(text=said, at=AT, language="en"), known).facts
        assert not [fact for fact in facts if fact.slot == "lives_in"]


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        ("i sold my piano last week", True),
        ("i sold my piano in 2025", True),
        ("i sold my piano", True),
        ("i sold my old piano in 2010", False),
        ("i sold my piano when i was nineteen", False),
    ],
)
def test_what_was_sold_long_ago_is_not_what_is_owned_now(
    gate: WriteGate, said: str, ends: bool
) -> None:
    piano = Fact(text="Has a piano", category="personal_facts", slot="has", value="piano")
    decision = gate.decide_by_rules(
        Turn(text=said, at=AT, language="en"), DialogueContext(known=(piano,))
    )
    assert any(fact.op == "retract" for fact in decision.facts) is ends
