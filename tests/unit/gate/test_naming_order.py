"""Names in the order of talk, and self-introductions that go on without a subject."""

from __future__ import annotations

import pytest

from bmo.gate import WriteGate
from bmo.gate.introduced_clauses import with_subjects_behind_name
from bmo.language import words
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def gate() -> WriteGate:
    return WriteGate(load_settings(gatekeeper_mode="pattern"))


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("im omar just moved to leith", "i am omar i just moved to leith"),
        ("I'm Omar, originally from Tunis", "i am omar i am originally from tunis"),
        ("my name is Omar, been here a year", "my name is omar i have been here a year"),
        ("i'm Omar, working at the docks", "i am omar i am working at the docks"),
        ("it's omar from accounts", "it is omar from accounts"),
        ("i'm Omar, just checking in", "i am omar just checking in"),
        ("i am done moved it all", "i am done moved it all"),
    ],
)
def test_what_follows_a_name_gets_its_subject(said: str, read: str) -> None:
    assert " ".join(with_subjects_behind_name(words(said, "en")).norm) == read


def test_an_article_behind_a_preposition_says_nothing_of_who_somebody_is(gate: WriteGate) -> None:
    told = gate.decide_by_rules(Turn(text="hi im omar looking for a flat near the docks"))
    assert [fact.text for fact in told.facts if fact.slot == "is_a"] == []
    moved = gate.decide_by_rules(Turn(text="im omar, just moved to leith for a job at the museum"))
    assert {(fact.slot, fact.value) for fact in moved.facts} == {
        ("name", "Omar"),
        ("lives_in", "Leith"),
        ("employer", "the museum"),
    }
