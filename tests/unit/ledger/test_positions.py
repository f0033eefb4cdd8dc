"""A new boss, told in whatever words, ends who was the boss before; nothing else does."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bmo.ledger.changes import reach
from bmo.ledger.positions import fills_anew, held_before, superior_of
from bmo.ledger.reconcile import plan_fact
from bmo.ledger.said_over import over
from bmo.turn import StoredFact
from tests.fakes.speaker import START, fact
from tests.unit.ledger.test_reconcile import stored

pytestmark = pytest.mark.unit

LATER = START + timedelta(days=3)


def boss(name: str, text: str = "", slot: str = "name") -> StoredFact:
    told = text or f"Has a boss named {name}"
    subject = f"user.boss:{name.lower()}"
    return stored(fact(told, "relationships", subject=subject, slot=slot, value=name))


NEW_BOSS = fact(
    "Has a boss named Devraj",
    "relationships",
    subject="user.boss:devraj",
    slot="name",
    value="Devraj",
)
INGRID = boss("Ingrid")
HER_HOME = boss("Ingrid", "Boss Ingrid lives in Hull", "lives_in")
REPORTS = stored(fact("Reports to Ingrid", slot="activity", value="Reports to Ingrid"))
GERMAN = stored(fact('Said in German: "ich berichte an Ingrid"'))
MEETING = stored(fact("Reports to Ingrid on Mondays about sales", slot="activity"))
CHORES = stored(fact("Reports on the harbour for a paper", slot="activity"))
SISTER = stored(
    fact("Has a sister named Ingrid", subject="user.sister:ingrid", slot="name", value="Ingrid")
)
KNOWN = [INGRID, HER_HOME, REPORTS, GERMAN, MEETING, CHORES, SISTER]


def texts(rows: object) -> set[str]:
    return {row.text for row in rows}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Reports to Ingrid", "ingrid"),
        ("Reports to Ana Lee", "ana lee"),
        ('Said in German: "ich berichte an Ingrid"', "ingrid"),
        ('Said in French: "je rends compte à Ana"', "ana"),
        ('Said in Spanish: "reporto a Ana"', "ana"),
        ("Reports to Ingrid on Mondays about sales", ""),
        ("Reports to work at nine", ""),
        ("Reports to work", ""),
        ("Does not report to Ingrid", ""),
    ],
)
def test_who_is_reported_to_is_read_where_nothing_else_is_said(text: str, name: str) -> None:
    assert superior_of(text) == name


def test_a_new_boss_ends_whom_one_reported_to() -> None:
    assert texts(held_before(NEW_BOSS, LATER, KNOWN)) == texts([INGRID, HER_HOME, REPORTS, GERMAN])
    assert "user.boss" in reach(NEW_BOSS).relations


def test_reporting_to_somebody_new_ends_the_boss() -> None:
    told = fact("Reports to Devraj", slot="activity", value="Reports to Devraj")
    assert texts(held_before(told, LATER, KNOWN)) == texts([INGRID, HER_HOME, REPORTS, GERMAN])


def test_the_same_boss_in_other_words_ends_nothing() -> None:
    assert (
        held_before(replace(NEW_BOSS, subject="user.boss:ingrid", value="Ingrid"), LATER, KNOWN)
        == []
    )
    assert held_before(fact("Reports to Ingrid", slot="activity"), LATER, KNOWN) == []


def test_what_fills_no_position_ends_nothing() -> None:
    sister = fact("Has a sister named Ana", subject="user.sister:ana", slot="name", value="Ana")
    assert held_before(sister, LATER, KNOWN) == []
    home = replace(NEW_BOSS, text="Boss Devraj lives in York", slot="lives_in", value="York")
    assert held_before(home, LATER, KNOWN) == []
    assert held_before(NEW_BOSS, START, KNOWN) == []


def test_a_successor_ends_whom_one_reported_to() -> None:
    said = fact("Has a new boss", slot="successor", subject="user.boss", op="retract")
    assert texts(over(said, KNOWN) or ()) == texts([INGRID, HER_HOME, REPORTS, GERMAN])
    said = fact("Has a new dentist", slot="successor", subject="user.dentist", op="retract")
    assert over(said, KNOWN) == ()


def test_who_is_not_the_boss_takes_their_position_along_and_a_friend_only_the_name() -> None:
    said = fact("Not that", slot="not_of_relation", subject="user.boss:ingrid", op="retract")
    assert texts(over(said, KNOWN) or ()) == texts([INGRID, HER_HOME, REPORTS, GERMAN])
    tom = "user.friend:tom"
    named = stored(fact("Has a friend named Tom", subject=tom, slot="name", value="Tom"))
    home = stored(fact("Friend Tom lives in York", subject=tom, slot="lives_in", value="York"))
    said = fact("Not that", slot="not_of_relation", subject=tom, op="retract")
    assert texts(over(said, [named, home, INGRID]) or ()) == {named.text}


@pytest.mark.parametrize(
    ("words", "name", "anew"),
    [
        ("my boss is Devraj now", "my boss is Devraj", True),
        ("so, my boss is now Devraj", "my boss is now Devraj", True),
        ("now that ingrid is out, my boss is Devraj", "my boss is Devraj", False),
        ("my boss is Devraj, now to the news", "my boss is Devraj", False),
        ("my old boss Kofi now sells vans", "my old boss Kofi", False),
    ],
)
def test_a_name_tells_of_a_change_in_its_own_words(words: str, name: str, anew: bool) -> None:
    first = words.index(name)
    assert fills_anew(words, (first, first + len(name))) is anew
    assert fills_anew(words, None) is False


def test_a_plan_ends_whom_one_reported_to_only_where_something_has_changed() -> None:
    def ended(*, change: bool) -> set[str]:
        plan = plan_fact(NEW_BOSS, at=LATER, live=[REPORTS], near={}, change=change)
        return texts(end.fact for end in plan.ends)

    assert ended(change=True) == texts([REPORTS])
    assert ended(change=False) == set()
