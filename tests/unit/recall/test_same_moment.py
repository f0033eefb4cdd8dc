"""Facts of one turn have one time and random ids: their order must not hang on the ids."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.recall.profile import choose_profile
from bmo.recall.selection import select
from bmo.turn import RecalledMemory, RecallPlan, ScoreParts, StoredFact
from tests.fakes.memory_session import stored_fact

pytestmark = pytest.mark.unit

TEXTS = ("Has a brother named Sam", "Has a dog", "Is a nurse", "Lives in Leeds")
NOW = datetime(2026, 4, 1, tzinfo=UTC)
PLAN = RecallPlan(recall=True, trigger="forced", budget_tokens=500)


def facts(order: list[int]) -> list[StoredFact]:
    return [stored_fact(TEXTS[place], id=f"{n:032x}") for n, place in enumerate(order)]


@given(st.permutations(range(4)))
def test_the_profile_is_the_same_whatever_the_ids(order: list[int]) -> None:
    chosen, _ = choose_profile(facts(order), 400, NOW)
    usual, _ = choose_profile(facts([0, 1, 2, 3]), 400, NOW)
    assert [fact.text for fact in chosen] == [fact.text for fact in usual]
    assert len(chosen) == len(TEXTS)


@given(st.permutations(range(4)))
def test_what_is_selected_is_the_same_whatever_the_ids(order: list[int]) -> None:
    scored = [RecalledMemory(fact, 0.9, ScoreParts(semantic=0.9), "slot") for fact in facts(order)]
    chosen, _ = select(scored, PLAN, 0.3)
    assert [memory.fact.text for memory in chosen] == sorted(TEXTS)[: len(chosen)]
    assert chosen
