"""The planning function, without a database: what holds for every plan."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ids import new_id
from bmo.ledger.reconcile import MERGE_COSINE, plan_fact
from bmo.turn import Fact, StoredFact
from tests.fakes.speaker import START, brother, fact, lives_in

pytestmark = pytest.mark.unit

PLACES = ["Leeds", "York", "Oslo", "the Leeds"]


def stored(said: Fact, days: int = 0, **more: object) -> StoredFact:
    values: dict[str, object] = {
        "id": new_id(),
        "user_id": "ana",
        "subject": said.subject,
        "slot": said.slot,
        "value": said.value,
        "text": said.text,
        "category": said.category,
        "kind": said.kind,
        "cardinality": said.cardinality,
        "polarity": said.polarity,
        "confidence": said.confidence,
        "valid_from": START + timedelta(days=days),
        "entities": said.entities,
    }
    return StoredFact(**{**values, **more})  # type: ignore[arg-type]


facts = st.builds(
    lambda place, cardinality, polarity, op: fact(
        f"Lives in {place}",
        slot="lives_in",
        value=place,
        cardinality=cardinality,
        polarity=polarity,
        op=op,
    ),
    st.sampled_from(PLACES),
    st.sampled_from(["one", "many"]),
    st.sampled_from(["positive", "negative"]),
    st.sampled_from(["assert", "correct"]),
)


@given(facts, st.lists(st.tuples(facts, st.integers(0, 9)), max_size=5), st.integers(0, 9))
def test_plans_touch_only_what_is_live_and_each_fact_once(
    new: Fact, known: list[tuple[Fact, int]], days: int
) -> None:
    live = [stored(said, at) for said, at in known]
    plan = plan_fact(new, at=START + timedelta(days=days), live=live, near={})
    touched = [end.fact.id for end in plan.ends] + [r.fact.id for r in plan.rewrites]
    assert len(touched) == len(set(touched))
    assert set(touched) <= {row.id for row in live}
    if plan.confirm is not None:
        assert plan.confirm.id not in touched
        assert plan.confirm.polarity == new.polarity


@given(facts, st.lists(st.tuples(facts, st.integers(0, 9)), max_size=5))
def test_a_plan_depends_on_nothing_but_its_input(new: Fact, known: list[tuple[Fact, int]]) -> None:
    live = [stored(said, at) for said, at in known]
    at = START + timedelta(days=10)
    assert plan_fact(new, at=at, live=live, near={}) == plan_fact(new, at=at, live=live, near={})


def test_undated_value_conflicts_instead_of_superseding() -> None:
    known = stored(lives_in("Leeds"))
    plan = plan_fact(lives_in("York"), at=START, live=[known], near={}, dated=False)
    assert plan.conflicts == (known,)
    assert plan.ends == ()


def test_less_detail_confirms_more() -> None:
    known = stored(fact("Is a senior nurse", slot="job", value="senior nurse", cardinality="one"))
    less = fact("Is a nurse", slot="job", value="nurse", cardinality="one")
    assert plan_fact(less, at=START + timedelta(days=1), live=[known], near={}).confirm == known


def test_merge_needs_more_than_the_threshold() -> None:
    known = stored(fact("Plays the cello on Sundays"))
    said = fact("Plays cello on Sundays")
    at = START + timedelta(days=1)
    assert plan_fact(said, at=at, live=[known], near={known.id: MERGE_COSINE}).confirm is None
    assert plan_fact(said, at=at, live=[known], near={known.id: 0.96}).confirm == known


def test_friend_named_much_later_is_another_friend() -> None:
    unnamed = stored(fact("Friend plays tennis", "relationships", subject="user.friend"))
    named = fact(
        "Has a friend named Ana",
        "relationships",
        slot="friend",
        value="Ana",
        subject="user.friend:ana",
    )
    soon = plan_fact(named, at=START + timedelta(minutes=5), live=[unnamed], near={})
    late = plan_fact(named, at=START + timedelta(days=5), live=[unnamed], near={})
    assert [rewrite.text for rewrite in soon.rewrites] == ["Friend Ana plays tennis"]
    assert late.rewrites == ()


def test_ambiguous_wrong_name_renames_nobody() -> None:
    known = [
        stored(brother("Tim")),
        stored(fact("Has a cat named Tim", slot="cat", value="Tim", subject="user.cat:tim")),
    ]
    said = fact(
        "Has a dog named Tom",
        slot="dog",
        value="Tom",
        subject="user.dog:tom",
        op="correct",
        replaces="Tim",
    )
    assert plan_fact(said, at=START, live=known, near={}).rewrites == ()
