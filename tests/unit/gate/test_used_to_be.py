"""What used to be and what is now are two things: "now" belongs to the second."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.gate.talk_order import in_clauses
from bmo.language import words
from bmo.settings import load_settings
from bmo.turn import DialogueContext, Fact, Turn

pytestmark = pytest.mark.unit

PETER = Fact(
    text="Has a son named Peter",
    category="relationships",
    subject="user.son:peter",
    slot="name",
    value="Peter",
)
CONTEXT = DialogueContext(known=(PETER,), recent_facts=(PETER,), subjects={"peter": PETER.subject})


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings())


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "peter used to be a vet now he runs a campsite",
            ["Son Peter used to be a vet", "Son Peter runs a campsite"],
        ),
        ("i used to smoke now i vape", ["Used to smoke", "Vapes"]),
    ],
)
def test_what_used_to_be_ends_before_now(gate: WriteGate, said: str, kept: list[str]) -> None:
    facts = gate.decide(Turn(text=said), CONTEXT).facts
    assert [fact.text for fact in facts] == kept


@pytest.mark.parametrize(
    "said",
    [
        "i used to smoke until now i suppose",
        "my mum used to teach but not now she is tired",
        "i am used to it by now he said",
    ],
)
def test_now_stays_in_its_phrase(said: str) -> None:
    spoken, pack = words(said), load_pack("en")
    read = in_clauses(spoken, 0, Turn(text=said), pack, people_lexicon("en"))
    assert "." not in read.after
