"""A question behind its condition is a clause of its own, with no comma between them."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.language import segment, words
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate.from_settings()


ASKED = [
    "if i get her a room in a guesthouse | does it matter what it costs",
    "if company wants a peek inside | what shoes do they have to wear",
    "if i had a fall | which of my girls could be here first",
    "if i am in town on friday | is anybody about",
    "if she comes over | what can she eat",
    "if i go to the shop on sunday | will it be open",
    "when i see the doctor | should i mention my knee",
]
TOLD = [
    "if my brother does it again that is it",
    "if i knew what she was on about",
    "when i talk about how they do it in spain",
    "i always ask her when i cook if she can eat it",
    "when i was little what we did was hide",
    "if you can you should try it",
]


def _cut(text: str) -> list[str]:
    spoken = words(text)
    return [" ".join(spoken.norm[c.start : c.end]) for c in segment(spoken)]


@pytest.mark.parametrize("marked", ASKED)
def test_a_question_begins_behind_its_condition(marked: str, gate: WriteGate) -> None:
    condition, asked = marked.split(" | ")
    text = f"{condition} {asked}"
    assert _cut(text)[0] == condition
    decision = gate.decide(Turn(text=text))
    assert (decision.verdict, decision.facts) == ("discard", ())


@pytest.mark.parametrize("text", TOLD)
def test_what_only_sounds_asked_is_not_cut_off(text: str) -> None:
    assert not any(_asks(piece) for piece in _cut(text)[1:])


def _asks(piece: str) -> bool:
    return piece.split()[0] in {"what", "does", "do", "can", "is", "how", "will"}


def test_a_condition_without_a_question_is_still_held(gate: WriteGate) -> None:
    decision = gate.decide(Turn(text="if we move to lisbon i would keep bees"))
    assert (decision.verdict, decision.reason) == ("hold", "conditional")
