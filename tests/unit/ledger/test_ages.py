"""A new age ends the old one of the same person, however either was kept; nothing else does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bmo.ledger.ages import age_in, outgrown
from bmo.ledger.changes import reach
from bmo.ledger.reconcile import plan_fact
from bmo.turn import StoredFact
from tests.fakes.speaker import START, fact
from tests.unit.ledger.test_reconcile import stored

pytestmark = pytest.mark.unit

LATER = START + timedelta(days=3)


@pytest.mark.parametrize(
    ("text", "subject", "told"),
    [
        ("Callum's fourteen", "user", ("callum", 14, False)),
        ("Callum is fifteen now", "user", ("callum", 15, False)),
        ("Maya's turned five last week", "user", ("maya", 5, False)),
        ("Son Callum is 14 (fourteen) years old", "user.son:callum", ("callum", 14, False)),
        ("Emmi turns five in August", "user", ("emmi", 5, True)),
        ('Said in German: "Emmi wird im August fünf"', "user", ("emmi", 5, True)),
        (
            'Said in German about daughter (tochter): "Meine Tochter Emmi wird im August fünf"',
            "user.daughter",
            ("emmi", 5, True),
        ),
        ('Said in French: "Zoé a cinq ans maintenant"', "user", ("zoé", 5, False)),
        ('Said in Spanish: "Lola ya tiene cinco años"', "user", ("lola", 5, False)),
    ],
)
def test_an_age_is_read_however_it_was_kept(
    text: str, subject: str, told: tuple[str, int, bool]
) -> None:
    assert age_in(text, subject) == told


@pytest.mark.parametrize(
    "text",
    [
        "Noah's seven Maya's four",
        "Callum's fourteen; plays football",
        "Callum has two dogs",
        "Callum is number fifteen in the team",
        "Is fifteen",
        "Works since fifteen",
        "Callum plays at fifteen clubs",
        'Said in French: "Zoé a deux chats"',
        'Said in German: "Lina ist elf Paul neun und Emmi wird im August fünf"',
        "Callum and Josh are fifteen",
        "Callum is 300",
    ],
)
def test_what_tells_more_or_other_than_one_age_is_none(text: str) -> None:
    assert age_in(text) is None


def told_before(text: str, **more: Any) -> StoredFact:
    return stored(fact(text, "relationships", **more))


def ended(new: str, *known: StoredFact, change: bool = False, **more: Any) -> set[str]:
    said = fact(new, "relationships", **more)
    return {row.text for row in outgrown(said, LATER, known, change=change)}


FOURTEEN = told_before("Callum's fourteen")


def test_a_new_age_ends_the_old_one_of_the_same_name() -> None:
    other = told_before("Josh is fourteen")
    assert ended("Callum is fifteen now", FOURTEEN, other) == {FOURTEEN.text}
    assert ended("Callum is fifteen; it was his birthday on Saturday", FOURTEEN) == {FOURTEEN.text}
    grandson: dict[str, Any] = {"subject": "user.grandson:callum", "slot": "age", "value": "15"}
    text = "Grandson Callum is 15 (fifteen) years old"
    assert ended(text, FOURTEEN, other, **grandson) == {FOURTEEN.text}
    said = fact("Callum is fifteen; it was his birthday", "relationships")
    assert reach(said).words == {"callum"}


def test_an_age_to_come_ends_when_it_has_come_and_ends_nothing_itself() -> None:
    to_come = told_before('Said in German: "Emmi wird im August fünf"')
    assert ended('Said in German: "Emmi ist doch schon fünf"', to_come) == {to_come.text}
    assert ended("Callum turns fifteen in May", FOURTEEN) == set()


def test_nobody_gets_younger_but_by_a_correction() -> None:
    assert ended("Callum is twelve", FOURTEEN) == set()
    assert ended("Callum is twelve", FOURTEEN, change=True) == {FOURTEEN.text}


def test_of_two_of_one_name_nothing_ends() -> None:
    son = told_before("Son Callum lives in Hull", subject="user.son:callum")
    nephew = told_before("Nephew Callum lives in York", subject="user.nephew:callum")
    assert ended("Callum is fifteen now", FOURTEEN, son, nephew) == set()
    assert ended("Callum is fifteen now", FOURTEEN, son) == {FOURTEEN.text}


def test_a_plan_ends_an_age_that_is_outgrown_unless_nobody_knows_when_it_was_said() -> None:
    said = fact("Callum is fifteen now", "relationships")
    plan = plan_fact(said, at=LATER, live=[FOURTEEN], near={})
    assert [end.fact.text for end in plan.ends] == [FOURTEEN.text]
    assert plan_fact(said, at=LATER, live=[FOURTEEN], near={}, dated=False).ends == ()
