"""The planning function, without a database: what holds for every plan."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ledger.reconcile import MERGE_COSINE, Plan, plan_fact, statement_key
from bmo.turn import Fact, StoredFact
from tests.fakes.speaker import START, fact, lives_in, words

pytestmark = pytest.mark.unit

PLACES = ["Leeds", "York", "Oslo", "the Leeds"]


def stored(said: Fact, days: int = 0, user: str = "ana") -> StoredFact:
    return StoredFact(
        id=said.id,
        user_id=user,
        subject=said.subject,
        slot=said.slot,
        value=said.value,
        text=said.text,
        said=said.said,
        asked=said.asked,
        category=said.category,
        kind=said.kind,
        cardinality=said.cardinality,
        polarity=said.polarity,
        confidence=said.confidence,
        valid_from=START + timedelta(days=days),
        entities=said.entities,
    )


facts = st.builds(
    lambda place, cardinality, polarity: fact(
        f"Lives in {place}",
        slot="lives_in",
        value=place,
        cardinality=cardinality,
        polarity=polarity,
    ),
    st.sampled_from(PLACES),
    st.sampled_from(["one", "many"]),
    st.sampled_from(["positive", "negative"]),
)
worded = st.sampled_from(["i live in leeds", "moved to york", "not any more"]).map(words)
known = st.lists(
    st.tuples(st.one_of(facts, worded), st.integers(0, 9), st.sampled_from(["ana", "ben"])),
    max_size=6,
)


def plan(new: Fact, live: list[StoredFact], days: int = 10, **more: object) -> Plan:
    at = START + timedelta(days=days)
    return plan_fact(new, user_id="ana", at=at, live=live, **{"near": {}, **more})  # type: ignore[arg-type]


@given(
    st.one_of(facts, worded), known, st.integers(0, 9), st.sets(st.integers(0, 5)), st.booleans()
)
def test_plans_touch_only_what_is_the_users_and_live_and_each_once(
    new: Fact, told: list[tuple[Fact, int, str]], days: int, named: set[int], dated: bool
) -> None:
    live = [stored(one, at, user) for one, at, user in told]
    new = replace(new, ends=tuple(live[n].id for n in named if n < len(live)))
    found = plan(new, live, days, dated=dated)
    touched = [end.fact for end in found.ends] + list(found.conflicts)
    for other in (found.confirm, found.ended_by):
        touched += [other] if other is not None else []
    assert len({row.id for row in touched}) == len(touched)
    assert all(row.user_id == "ana" for row in touched)
    assert all(end.fact.valid_from <= START + timedelta(days=days) for end in found.ends)
    assert found == plan(new, live, days, dated=dated)


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.integers(0, 30)), max_size=8))
def test_a_slot_of_one_value_has_one_live_value(told: list[tuple[str, int]]) -> None:
    told = list({days: (place, days) for place, days in told}.values())
    live: list[StoredFact] = []
    for place, days in told:
        new = lives_in(place)
        found = plan(new, live, days)
        gone = {end.fact.id for end in found.ends}
        live = [row for row in live if row.id not in gone]
        if found.confirm is None and found.ended_by is None:
            live.append(stored(new, days))
        assert len(live) == 1
        assert plan(new, [row for row in live if row.id in gone], days).ends == ()


@given(facts)
def test_what_is_known_is_confirmed_and_ends_nothing(told: Fact) -> None:
    row = stored(told)
    found = plan(replace(told, id="new", ends=(row.id,)), [row])
    assert (found.confirm, found.ends) == (row, ())
    assert statement_key(told) == statement_key(row)


def test_undated_value_conflicts_instead_of_superseding() -> None:
    row = stored(lives_in("Leeds"))
    found = plan(lives_in("York"), [row], dated=False)
    assert (found.conflicts, found.ends) == ((row,), ())


def test_merge_needs_more_than_the_threshold() -> None:
    row, said = stored(fact("Plays the cello on Sundays")), fact("Plays cello on Sundays")
    assert plan(said, [row], near={row.id: MERGE_COSINE}).confirm is None
    assert plan(said, [row], near={row.id: 0.96}).confirm == row
