"""Scoring, selection, assembly, profile and feedback: pure parts of recall."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.ledger import JudgedItem
from bmo.recall import (
    DEFAULT_WEIGHTS,
    adjusted,
    assemble,
    block,
    counts_against,
    score,
    tokens_of,
)
from bmo.recall.assembly import cost
from bmo.recall.people import asked_about, speaks_of
from bmo.recall.profile import choose_profile
from bmo.recall.selection import MOST, select
from bmo.recall.withholding import withheld
from bmo.turn import (
    WITHHOLD_RULE,
    Category,
    Decision,
    Fact,
    Kind,
    Recall,
    RecalledMemory,
    RecallPlan,
    ScoreParts,
    Signal,
    StoredFact,
)

pytestmark = pytest.mark.unit

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def fact(
    text: str,
    *,
    days: float = 60,
    kind: Kind = "fact",
    category: Category = "personal_facts",
    **more: object,
) -> StoredFact:
    values = {
        "id": text,
        "user_id": "ana",
        "subject": "user",
        "slot": None,
        "value": "",
        "text": text,
        "category": category,
        "kind": kind,
        "cardinality": "many",
        "polarity": "positive",
        "confidence": 0.9,
        "valid_from": NOW - timedelta(days=days),
    }
    return StoredFact(**{**values, **more})  # type: ignore[arg-type]  # keyword shorthand


def scored(
    text: str, total: float, *, kind: Kind = "fact", semantic: float = 0.4
) -> RecalledMemory:
    parts = ScoreParts(semantic=semantic, kind=total - semantic)
    return RecalledMemory(fact(text, kind=kind), total, parts, "search")


PLAN = RecallPlan(recall=True, trigger="own_fact_question", budget_tokens=2000, domains=("food",))


def test_score_parts_are_those_of_the_design() -> None:
    parts = score(fact("Eats rice", days=30, domain="food", use_count=1), PLAN, 0.8, NOW)
    assert parts.semantic == pytest.approx(0.4)
    assert parts.recency == pytest.approx(0.15 * 0.36788, abs=1e-4)
    assert parts.domain == pytest.approx(0.15)
    assert parts.usage == pytest.approx(0.1)
    assert parts.kind == pytest.approx(0.05)
    assert parts.total == pytest.approx(0.4 + 0.0552 + 0.15 + 0.1 + 0.05, abs=1e-3)


@pytest.mark.parametrize(
    ("kind", "category", "boost"),
    [
        ("hard_rule", "preferences", 0.25),
        ("policy", "policies", 0.1),
        ("fact", "decisions", 0.1),
        ("preference", "preferences", 0.05),
        ("fact", "personal_facts", 0.05),
    ],
)
def test_boost_by_kind(kind: Kind, category: Category, boost: float) -> None:
    assert score(fact("x", kind=kind, category=category), PLAN, 0, NOW).kind == boost


def test_usage_is_capped() -> None:
    assert score(fact("x", use_count=500), PLAN, 0, NOW).usage == 0.15


def many(*totals: float) -> list[RecalledMemory]:
    return [scored(f"{n:02}", total) for n, total in enumerate(totals)]


def test_where_memory_is_needed_the_best_few_are_given_whatever_their_score() -> None:
    given_out, left = select(many(*[0.2] * MOST, 0.19), PLAN)
    assert len(given_out) == MOST
    assert [m.why for m in left] == [f"more than {MOST} memories"]
    assert len(select(many(*[0.31] * 20), PLAN)[0]) == MOST


def test_a_hard_rule_above_seven_tenths_has_a_reserve() -> None:
    plan = replace(PLAN, budget_tokens=40)
    rule = scored("Never plan anything before nine in the morning", 0.75, kind="hard_rule")
    fillers = [scored(f"Something of no great weight, number {n}", 0.9) for n in range(3)]
    given_out, left = select([rule, *fillers], plan)
    assert rule.fact in [m.fact for m in given_out]
    assert left and {m.why for m in left} == {"budget spent"}


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=80), st.floats(0, 1)), max_size=40),
    st.integers(0, 400),
    st.booleans(),
)
def test_selection_keeps_every_candidate_and_the_budget(
    rows: list[tuple[str, float]], budget: int, wide: bool
) -> None:
    plan = replace(PLAN, budget_tokens=budget, include_all=wide)
    candidates = [
        replace(scored(text, total), fact=fact(text, id=str(n)))
        for n, (text, total) in enumerate(rows)
    ]
    given_out, left = select(candidates, plan)
    assert {m.fact.id for m in (*given_out, *left)} == {m.fact.id for m in candidates}
    assert sum(cost(m.fact) for m in given_out) <= budget
    assert select(list(reversed(candidates)), plan) == (given_out, left)


def test_the_profile_is_by_importance_inside_its_budget() -> None:
    facts = [
        fact("Likes tea", category="preferences", slot="likes"),
        fact("Is named Ana", slot="name"),
        fact("Has a son named Leo", category="relationships", subject="user.son:leo", slot="name"),
        fact("Is allergic to nuts", slot="allergic_to"),
        fact("Never call before nine", kind="hard_rule", category="preferences"),
        fact("Wants to sail to Malta", category="goals", slot="goal"),
        fact("Exam in April", expires_at=NOW - timedelta(days=1), category="goals"),
    ]
    chosen, left = choose_profile(facts, 400, NOW)
    assert [f.text for f in chosen] == [
        "Never call before nine",
        "Is named Ana",
        "Has a son named Leo",
        "Is allergic to nuts",
        "Likes tea",
        "Wants to sail to Malta",
    ]
    assert left == []
    assert tokens_of(assemble(chosen, profile=True)) <= 400
    few, rest = choose_profile(facts, 100, NOW)
    assert [f.text for f in few][:2] == ["Never call before nine", "Is named Ana"]
    assert rest
    assert tokens_of(assemble([f for f in few if f.kind != "hard_rule"], profile=True)) <= 100


def test_the_block_has_sections_dates_and_says_that_the_newer_holds() -> None:
    said: dict[str, Any] = {"extraction_method": "encoder:1"}
    shown = assemble(
        [
            fact("me and ines", asked="Who is cooking?", said="um me and ines", **said),
            fact("we live in bonn", days=90, said="we live in bonn", **said),
            fact("we live in kiel", days=3, said="we live in kiel", **said),
            fact("Never calls before nine", kind="hard_rule", category="preferences"),
            fact("Lived in Oslo", days=300, valid_until=NOW),
        ]
    )
    lines = shown.splitlines()
    assert lines[0] == "<memory>" and lines[-1] == "</memory>"
    assert "the newer holds" in lines[1] and "own words" in lines[1]
    assert lines[2:-1] == [
        "Standing wishes:",
        "- Never calls before nine (2026-03-02)",
        "Facts:",
        '- "we live in kiel" (said 2026-04-28)',
        '- asked "Who is cooking?": "me and ines" (said 2026-03-02)',
        '- "we live in bonn" (said 2026-01-31)',
        "- Lived in Oslo (until 2026-05-01, no longer true)",
    ]
    assert assemble([]) == ""


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_nothing_inside_a_block_can_close_it(head: str, lines: list[str]) -> None:
    shown = block("memory_notice", head, [f"</memory_notice>{line}" for line in lines])
    assert shown.count("<") == shown.count(">") == 2
    assert shown.startswith("<memory_notice>\n") and shown.endswith("\n</memory_notice>")
    assert len(shown.splitlines()) <= len(lines) + 3


def test_what_is_never_to_be_brought_up_is_left_out_until_the_user_does() -> None:
    order = fact(
        "never bring up my divorce", kind="hard_rule", value="my divorce", rule_id=WITHHOLD_RULE
    )
    told = fact("since the divorces i sleep badly", said="since the divorces i sleep badly")
    asked = fact("it was in may", asked="When was the divorce?")
    other = fact("i keep bees")
    facts = [order, told, asked, other]
    assert withheld(facts, [order], "how do i sleep") == {order.id, told.id, asked.id}
    assert withheld(facts, [order], "when was my divorce") == {order.id}
    acknowledged = fact("i sleep with the window open", asked="I won't mention the divorce.")
    assert withheld([acknowledged], [order], "how do i sleep") == set()  # nobody but BMO said it
    assert withheld(facts, [], "") == {order.id}  # taken back: it holds no more, and is not quoted


def test_who_is_never_to_be_brought_up_is_left_out_by_name_as_well() -> None:
    order = fact("never mention my dad", kind="hard_rule", value="my dad", rule_id=WITHHOLD_RULE)
    slotted = fact("Has a father named Erik", subject="user.father:erik", value="Erik")
    told = fact("my father ole keeps bees", said="my father ole keeps bees")
    named, other = fact("erik has bought a boat"), fact("i keep bees")
    facts = [order, slotted, told, named, other]
    assert withheld(facts, [order], "who has a boat") == {
        f.id for f in (order, slotted, told, named)
    }
    assert withheld(facts, [order], "what does erik do") == {order.id}


def test_who_is_asked_about_and_which_memories_speak_of_them() -> None:
    known = {"ines": "user.wife:ines"}
    assert asked_about("what does ines eat", "en", "", known) == ("user.wife:ines", "user.wife")
    assert asked_about("what do my sisters eat", "en", "", {}) == ("user.sister",)
    assert asked_about("what does my wife eat", "en", "", known) == ("user.wife", "user.wife:ines")
    assert asked_about("was isst meine schwester", "de", "", {}) == ("user.sister",)
    assert asked_about("ma voiture", "fr", "", {}) == ()
    assert speaks_of(fact("ines loves figs"), ["user.wife:ines"])
    assert speaks_of(fact("the missus loves figs"), ["user.wife"])
    assert speaks_of(fact("she loves figs", asked="And your wife?"), ["user.wife"])
    assert speaks_of(fact("Loves figs", subject="user.wife:ines"), ["user.wife"])
    assert not speaks_of(fact("housewives love figs"), ["user.wife", "user.person:fi"])


@given(
    st.lists(
        st.builds(
            JudgedItem,
            st.just("a"),
            st.sampled_from(["fact", "preference", "policy", "hard_rule"]),
            st.builds(
                ScoreParts,
                semantic=st.floats(0, 0.5),
                recency=st.floats(0, 0.15),
                domain=st.sampled_from([0.0, 0.15]),
            ),
            st.booleans(),
        ),
        max_size=200,
    )
)
def test_feedback_moves_weights_within_bounds(judgements: list[JudgedItem]) -> None:
    weights = adjusted(judgements)
    for name in ("semantic", "recency", "domain", "hard_rule", "policy", "preference", "fact"):
        default = getattr(DEFAULT_WEIGHTS, name)
        assert 0.5 * default - 1e-9 <= getattr(weights, name) <= 1.5 * default + 1e-9
    assert adjusted([]) == DEFAULT_WEIGHTS


def test_good_and_bad_feedback_pull_apart() -> None:
    near = JudgedItem("a", "fact", ScoreParts(semantic=0.5), helpful=True)
    stale = JudgedItem("b", "fact", ScoreParts(semantic=0.1, recency=0.15), helpful=False)
    weights = adjusted([near, stale] * 10)
    assert weights.semantic > DEFAULT_WEIGHTS.semantic
    assert weights.recency < DEFAULT_WEIGHTS.recency


def recall_of(*facts: StoredFact) -> Recall:
    memories = tuple(RecalledMemory(fact, 0.5, ScoreParts(0.4), "slot") for fact in facts)
    return Recall(RecallPlan(recall=True, trigger="own_fact_question"), memories)


def decided(*signals: Signal, facts: tuple[Fact, ...] = ()) -> Decision:
    return Decision("discard", signals, "", 0.9, facts=facts)


def test_a_correction_counts_against_what_it_is_about() -> None:
    sam = fact("Has a brother named Sam", slot="name", value="Sam", subject="user.brother:sam")
    tea = fact("Likes green tea", slot="likes", value="green tea")
    recall = recall_of(sam, tea)
    wrong = decided("correction")
    # "that's wrong": what the reply used; if it used nothing, all that was given.
    assert counts_against(recall, "Your brother is Sam.", "that's wrong", wrong) == [sam.id]
    assert counts_against(recall, "You have one.", "that's wrong", wrong) == [sam.id, tea.id]
    assert counts_against(recall, "Your brother is Sam.", "ok", decided("confirmation")) == []
    # A correction that says what is right is about the same slot, or names the value.
    coffee = Fact("Likes coffee", "preferences", slot="likes", value="coffee")
    said = decided("correction", facts=(coffee,))
    assert counts_against(recall, "Your brother is Sam.", "no i like coffee", said) == [tea.id]
    other = Fact("Lives in Leeds", "personal_facts", slot="lives_in", value="Leeds")
    said = decided("correction", facts=(other,))
    assert counts_against(recall, "Sam it is.", "no i live in leeds", said) == []
