"""What a question and a memory share: a name that few memories have, a telling word, or nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bmo.recall.candidates import NAMED, Asked
from bmo.recall.relevance import evidence
from bmo.recall.selection import select
from bmo.recall.small_memory import fitting
from bmo.recall.words_in_common import NAMED_BY_MOST, is_named, share_a_word
from bmo.turn import RecalledMemory, RecallPlan, ScoreParts, StoredFact

from .test_selection import fact

pytestmark = pytest.mark.unit

CLUSTER = fact("Deploys to a cluster", entities=("orchard ship", "osh"))


def test_any_of_its_names_names_a_memory() -> None:
    assert is_named(CLUSTER, {"osh": 1, "deploy": 7})
    assert is_named(CLUSTER, {"orchard": 2, "ship": 40})
    assert not is_named(CLUSTER, {"ship": 2})
    assert not is_named(fact("Deploys to a cluster"), {"deploy": 1, "cluster": 1})


def test_a_name_that_many_memories_hold_tells_none_of_them_from_another() -> None:
    assert is_named(CLUSTER, {"osh": NAMED_BY_MOST})
    assert not is_named(CLUSTER, {"osh": NAMED_BY_MOST + 1})


def test_verbs_that_say_nothing_are_no_word_in_common() -> None:
    baking: StoredFact = fact("Uses a stone for baking bread", value="stone")
    assert share_a_word(baking, {"bread": 1})
    assert share_a_word(baking, {"use": 3, "stone": 1})
    assert not share_a_word(baking, {"use": 3, "tool": 2})


def test_the_relevance_gap_does_not_count_for_what_is_named() -> None:
    def memory(text: str, similarity: float, why: str) -> RecalledMemory:
        parts = ScoreParts(semantic=0.5 * similarity, kind=0.05)
        return RecalledMemory(fact(text), parts.total, parts, why)

    plan = RecallPlan(recall=True, trigger="forced", budget_tokens=500)
    near, far = memory("Bakes bread", 0.9999, "search"), memory("Keeps bees", 0.7, "search")
    given, left = select([near, far], plan, 0.3)
    assert [m.fact.text for m in given] == ["Bakes bread"]
    assert [m.why for m in left] == ["after the relevance gap"]
    given, left = select([near, replace(far, why=NAMED)], plan, 0.3)
    assert [m.fact.text for m in given] == ["Bakes bread", "Keeps bees"] and not left


def test_in_a_small_memory_what_is_named_is_given_beside_the_slot() -> None:
    facts = [
        fact("Has a son named Ruari", slot="name", subject="user.son:ruari", value="Ruari"),
        fact("Calls the boy Pip", entities=("pip",)),
        fact("Owns a kayak", entities=("kayak",)),
    ]
    query = "which of my sons answers to pip"
    plan = RecallPlan(
        recall=True,
        trigger="own_fact_question",
        budget_tokens=500,
        query=query,
        slots=("name",),
    )
    rows = evidence(plan, facts, {}, lambda _: True)
    weighed = list(zip(facts, rows, strict=True))
    found = {c.fact.text: c.why for c in fitting(plan, Asked((), (), ()), weighed)}
    assert found["Calls the boy Pip"] == NAMED
    assert found["Owns a kayak"] != NAMED
    about_pip = Asked((), ("user.son:pip",), ("pip",))
    found = {c.fact.text: c.why for c in fitting(plan, about_pip, weighed)}
    assert found["Calls the boy Pip"] != NAMED, "the name is whom it is asked about"
