"""What else ends when one thing changes: pure, over invented facts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bmo.ledger.changes import also_ended, is_together_again, reach, rejoined
from bmo.ledger.said_over import TOPICS, over
from bmo.turn import Fact, StoredFact
from tests.fakes.speaker import START, fact
from tests.unit.ledger.test_reconcile import stored

pytestmark = pytest.mark.unit

LATER = START + timedelta(days=3)


def person(subject: str, text: str, **more: object) -> StoredFact:
    return stored(fact(text, "relationships", subject=subject, **more))


def of_user(text: str, slot: str | None = None, value: str = "", **more: object) -> StoredFact:
    return stored(fact(text, slot=slot, value=value, **more))  # type: ignore[arg-type]


WIFE = person("user.wife:anna", "Has a wife named Anna", slot="name", value="Anna")
HER_JOB = person("user.wife:anna", "Wife Anna is a nurse", slot="occupation", value="nurse")
HER_SISTER = person("user.wife.sister:eva", "Wife's sister Eva lives in Bath")
MARRIED = of_user("Is married", "marital_status", "married")
TRIP = of_user("Is going to Rome with Anna in May", "plan", "Rome")
FRIEND = person("user.friend:bo", "Has a friend named Bo", slot="name", value="Bo")
JOB = of_user("Works at the bakery", "employer", "the bakery")
NIGHTS = of_user("Works nights", "work_mode", "nights")
BAKER = of_user("Is a baker", "occupation", "baker")
EARLY = of_user("Starts at five at the bakery")
SHORT = of_user(
    "Wants the assistant to always answer in short sentences",
    "standing_instruction",
    "answer in short sentences",
)
NEWS = of_user(
    "Wants the assistant to read the news first", "standing_instruction", "read the news"
)
KNOWN = [WIFE, HER_JOB, HER_SISTER, MARRIED, TRIP, FRIEND, JOB, NIGHTS, BAKER, EARLY, SHORT, NEWS]


def texts(rows: object) -> set[str]:
    return {row.text for row in rows}  # type: ignore[attr-defined]


def ended_by(slot: str, **more: Any) -> set[str]:
    said = fact("No longer so", slot=slot, op="retract", scope="subject", **more)
    found = over(said, KNOWN)
    assert found is not None
    return texts(found)


COUPLE = texts([WIFE, HER_JOB, HER_SISTER, MARRIED, TRIP])


@pytest.mark.parametrize("value", ["", "Anna", "wife"])
def test_a_couple_parts(value: str) -> None:
    assert ended_by("partner", value=value) == COUPLE


def test_somebody_else_is_not_the_partner() -> None:
    assert ended_by("partner", value="Tom") == set()
    assert ended_by("partner", subject="user.grandfather") == set()


def test_a_job_takes_its_hours_along_and_leaves_the_trade() -> None:
    assert ended_by("employer") == texts([JOB, NIGHTS])
    assert ended_by("employer", value="bakery") == texts([JOB, NIGHTS, EARLY])
    assert ended_by("employer", value="council") == set()


def test_a_wish_is_found_by_what_it_is_about() -> None:
    assert ended_by("standing_instruction", value="use long sentences") == {SHORT.text}
    assert ended_by("standing_instruction", value="tell jokes") == set()


def test_every_topic_says_where_to_look() -> None:
    for topic in TOPICS:
        said = fact("x", slot=topic, op="retract", value="anna", subject="user.wife:anna")
        assert over(said, KNOWN) is not None
        where = reach(said)
        assert where.slots or where.relations or where.words
    assert over(fact("x", slot="likes", op="retract"), KNOWN) is None


def new(slot: str, value: str, subject: str = "user", **more: Any) -> set[str]:
    return texts(
        also_ended(fact("New", slot=slot, value=value, subject=subject, **more), LATER, KNOWN)
    )


@pytest.mark.parametrize(
    ("slot", "value", "ended"),
    [
        ("marital_status", "divorced", texts([WIFE, HER_JOB, HER_SISTER])),
        ("marital_status", "married", set()),
        ("employment", "out of work", texts([JOB, NIGHTS])),
        ("employment", "retired", texts([JOB, NIGHTS, BAKER])),
        ("employment", "freelance", set()),
        ("work_mode", "days", texts([NIGHTS])),
        ("work_mode", "part time", set()),
    ],
)
def test_a_value_ends_what_it_rules_out(slot: str, value: str, ended: set[str]) -> None:
    assert new(slot, value) == ended


def test_the_dead_keep_nothing_but_what_was() -> None:
    born = person(
        "user.wife:anna", "Wife Anna's birthday is 3 June", slot="birthday", value="3 June"
    )
    said = fact("Has died", slot="deceased", value="died", subject="user.wife:anna")
    assert texts(also_ended(said, LATER, [*KNOWN, born])) == texts([WIFE, HER_JOB])


def test_two_of_a_kind_need_a_name() -> None:
    dogs = [
        person(f"user.dog:{name}", f"Has a dog named {name.title()}", slot="name", value=name)
        for name in ("rex", "max")
    ]
    unnamed = fact("Dog has died", slot="deceased", value="died", subject="user.dog")
    named = fact("Dog Rex has died", slot="deceased", value="died", subject="user.dog:rex")
    assert also_ended(unnamed, LATER, dogs) == []
    assert texts(also_ended(named, LATER, dogs)) == {"Has a dog named Rex"}
    assert texts(also_ended(unnamed, LATER, dogs[:1])) == {"Has a dog named Rex"}


def test_a_new_partner_takes_the_place_of_the_old_and_a_namesake_does_not() -> None:
    femke = new("name", "Femke", "user.girlfriend:femke")
    assert femke == texts([WIFE, HER_JOB])
    assert new("name", "Anna", "user.girlfriend:anna") == set()
    assert new("name", "Femke", "user.friend:femke") == set()


def test_what_is_said_in_the_same_breath_stays() -> None:
    said = fact("Is divorced", slot="marital_status", value="divorced")
    assert also_ended(said, START, KNOWN) == []


@pytest.mark.parametrize(
    ("food", "diet", "ends"),
    [("meat", "vegetarian", True), ("cheese", "vegan", True), ("cheese", "vegetarian", False)],
)
def test_who_eats_it_again_is_on_no_diet_against_it(food: str, diet: str, ends: bool) -> None:
    known = of_user(f"Is {diet}", "diet", diet)
    said = Fact(text=f"Eats {food} again", category="preferences", slot="eats", value=food)
    assert bool(also_ended(said, LATER, [known])) is ends


MARRIED_TO = of_user("Is married to joe", "married_to", "joe")
ENGAGED_TO = of_user("Is engaged to leo", "engaged_to", "leo")


@pytest.mark.parametrize(
    ("slot", "value", "polarity", "gone"),
    [
        ("marital_status", "divorced", "positive", {"Is married to joe", "Is engaged to leo"}),
        ("marital_status", "married", "positive", {"Is engaged to leo"}),
        ("married_to", "leo", "positive", {"Is engaged to leo"}),
        ("marital_status", "divorced", "negative", set()),
        ("marital_status", "together tom", "positive", set()),
    ],
)
def test_a_state_of_a_couple_ends_what_it_rules_out(
    slot: str, value: str, polarity: Any, gone: set[str]
) -> None:
    said = fact("Is so", "relationships", slot=slot, value=value, polarity=polarity)
    assert texts(also_ended(said, LATER, [MARRIED_TO, ENGAGED_TO])) == gone
    assert {"married_to", "engaged_to"} >= set(reach(said).slots) or not gone


def over_since(days: int, *rows: StoredFact) -> list[StoredFact]:
    return [replace(row, valid_until=START + timedelta(days=days)) for row in rows]


ARON = person("user.boyfriend:aron", "Has a boyfriend named Aron", slot="name", value="Aron")
HIS_JOB = person("user.boyfriend:aron", "Boyfriend Aron is a vet", slot="occupation", value="vet")
TIM = person("user.boyfriend:tim", "Has a boyfriend named Tim", slot="name", value="Tim")


@pytest.mark.parametrize(
    ("value", "again"),
    [
        ("together", {"Has a boyfriend named Aron", "Boyfriend Aron is a vet"}),
        ("together Tim", {"Has a boyfriend named Tim"}),
        ("together Ken", set()),
    ],
)
def test_who_is_together_again_is_who_parted_last(value: str, again: set[str]) -> None:
    said = fact("Is back together", "relationships", slot="marital_status", value=value)
    assert is_together_again(said)
    ended = [*over_since(1, TIM), *over_since(2, ARON, HIS_JOB)]
    assert texts(rejoined(said, ended)) == again


def test_who_is_divorced_is_not_together_again() -> None:
    said = fact("Is divorced", "relationships", slot="marital_status", value="divorced")
    assert not is_together_again(said)
