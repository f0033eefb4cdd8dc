"""Evidence for memories of a small store: topics, rareness, names, and whom a memory is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.recall.candidates import Asked
from bmo.recall.relevance import evidence, familiarity, log_odds
from bmo.recall.small_memory import LEAST, fitting
from bmo.recall.topics import topic_rows, topics_asked, topics_told
from bmo.turn import RecallPlan, StoredFact

pytestmark = pytest.mark.unit

ANYBODY = Asked((), (), ())


def fact(text: str, slot: str | None = None, subject: str = "user", value: str = "") -> StoredFact:
    return StoredFact(
        id=text,
        user_id="ana",
        subject=subject,
        slot=slot,
        value=value,
        text=text,
        category="personal_facts",
        kind="fact",
        cardinality="many",
        polarity="positive",
        confidence=0.9,
        valid_from=datetime(2026, 1, 5, tzinfo=UTC),
    )


def wants(query: str, **more: object) -> RecallPlan:
    plan = RecallPlan(recall=True, trigger="own_fact_question", budget_tokens=500, query=query)
    return replace(plan, **more)  # type: ignore[arg-type]  # fields of a plan at every call


def best(query: str, facts: list[StoredFact]) -> str:
    rows = evidence(wants(query), facts, {}, lambda _: True)
    return max(zip(rows, facts, strict=True), key=lambda pair: log_odds(pair[0]))[1].text


@pytest.mark.parametrize("topic", topic_rows())
def test_a_topic_is_shared_by_its_examples_and_by_no_counter_example(topic: str) -> None:
    row = topic_rows()[topic]
    assert row.examples
    for asked, told in row.examples:
        assert topic in topics_asked(asked) & topics_told(told), (asked, told)
    for asked, told in row.counter_examples:
        assert topic not in topics_asked(asked) & topics_told(told), (asked, told)


@given(st.text(max_size=200))
def test_any_text_has_topics_of_the_table(text: str) -> None:
    assert topics_asked(text) | topics_told(text) <= topic_rows().keys()


def test_a_topic_that_one_memory_has_tells_more_than_one_that_all_have() -> None:
    pets = [fact(f"Has a dog, number {n}") for n in range(8)]
    diet = fact("Has coeliac disease")
    rare = evidence(wants("what can i eat"), [*pets, diet], {}, lambda _: True)[-1]
    others = [fact(f"Cannot stand the cheese of stall {n}") for n in range(8)]
    common = evidence(wants("what can i eat"), [*others, diet], {}, lambda _: True)[-1]
    assert rare.topics > common.topics > 0


def test_words_in_another_form_and_in_compounds_are_found() -> None:
    facts = [fact("Rehearsals are in the old mill"), fact('"mein mann hat ne nussallergie"')]
    assert best("where do we rehearse", facts) == facts[0].text
    assert best("hat mein mann eine allergie", facts) == facts[1].text


def test_a_memory_that_names_who_another_speaks_of_is_linked() -> None:
    facts = [
        fact("tengo un nieto bruno que vivía conmigo"),
        fact("bruno se mudó a mendoza"),
        fact("vendí la moto"),
    ]
    rows = evidence(wants("nieto"), facts, {}, lambda _: True)
    assert [row.linked for row in rows] == [0.0, 1.0, 0.0]


def test_an_unanswered_slot_does_not_bring_what_has_nothing_in_common() -> None:
    facts = [fact("Lives in Leeds", "lives_in"), fact("Is named Ana", "name")]
    plan = wants("what is my shoe size", slots=("shoe_size",), subjects=("user",))
    weighed = list(zip(facts, evidence(plan, facts, {}, lambda _: True), strict=True))
    assert all(c.similarity == 0.0 for c in fitting(plan, ANYBODY, weighed))


def test_a_named_slot_is_certain_and_what_is_given_else_is_probable() -> None:
    facts = [fact("Works as a nurse", "occupation"), fact("Was promoted to head nurse in May")]
    plan = wants("what is my job", slots=("occupation",), subjects=("user",))
    weighed = list(zip(facts, evidence(plan, facts, {}, lambda _: True), strict=True))
    in_slot, beside = fitting(plan, ANYBODY, weighed)
    assert (in_slot.similarity, in_slot.why) == (1.0, "slot")
    assert beside.similarity == 0.0 or LEAST <= beside.similarity < 1.0


def test_memories_of_somebody_who_was_not_asked_about_are_none() -> None:
    facts = [fact("Brother Sam eats no fish", "diet", subject="user.brother:sam")]
    asked = Asked(("user.wife",), ("user.wife",), ())
    plan = wants("what fish does my wife eat", slots=("diet",), subjects=("user.wife",))
    weighed = list(zip(facts, evidence(plan, facts, {}, asked.allows), strict=True))
    (only,) = fitting(plan, asked, weighed)
    assert (only.similarity, only.why) == (0.0, "about somebody else")


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("what shoe size is eli", True),
        ("whats the weather in leeds", False),
        ("how high is the net in the middle", False),
        ("is friday a holiday", False),
    ],
)
def test_names_of_people_are_familiar_and_places_are_not(said: str, named: bool) -> None:
    facts = [
        fact("Has the twins Ava and Eli"),
        fact("Lives in Leeds"),
        fact("Trains for The Games on Friday"),
    ]
    assert familiarity(said, facts).named is named


def test_what_shares_nothing_is_not_familiar() -> None:
    facts = [fact("Has coeliac disease")]
    assert familiarity("morning its me", facts).score == 0.0
    assert familiarity("what could i eat there", facts).score > 0.0
    assert familiarity("what could i eat there", []).score == 0.0


def given_for(plan: RecallPlan, facts: list[StoredFact], near: dict[str, float]) -> set[str]:
    rows = evidence(plan, facts, near, lambda _: True)
    found = fitting(plan, ANYBODY, list(zip(facts, rows, strict=True)))
    return {c.fact.text for c in found if c.similarity >= LEAST}


def test_a_request_in_a_small_memory_is_given_the_best_few_rather_than_nothing() -> None:
    facts = [fact(text) for text in ("Runs at five", "Has a stick", "Owns a loom", "Sells eggs")]
    near = {"Runs at five": 0.14, "Has a stick": 0.13, "Owns a loom": 0.12, "Sells eggs": -0.2}
    request = replace(wants("suggest something"), trigger="indirect_need")
    given = given_for(request, facts, near)
    assert "Runs at five" in given and "Sells eggs" not in given
    assert len(given) <= 3


def test_what_was_never_told_is_answered_with_nothing() -> None:
    facts = [fact("Cannot stand lilies"), fact("Owns a loom")]
    asked = wants("and my blood group have you that", slots=("blood_type",))
    assert given_for(asked, facts, {"Cannot stand lilies": 0.05, "Owns a loom": 0.02}) == set()


def test_how_the_assistant_should_behave_does_not_crowd_out_what_answers() -> None:
    behave = replace(
        fact("Wants no exclamation marks in a draft answer", "standing_instruction"),
        category="preferences",
    )
    told = [
        fact(text) for text in ("Never offers before a reference", "Owns a loom", "Has a stick")
    ]
    plan = wants("draft an answer to a candidate about our process", trigger="judge")
    near = {behave.id: 0.3} | {f.id: c for f, c in zip(told, (0.2, 0.1, 0.0), strict=True)}
    assert given_for(plan, [behave, *told], near) >= {behave.text, told[0].text}
    crowding = replace(behave, slot="trait")
    assert told[0].text not in given_for(plan, [crowding, *told], near)


def test_whoever_is_told_of_by_name_alone_may_be_who_is_asked_about() -> None:
    megan = replace(fact("There is only Megan; she is a vet nurse"), category="relationships")
    other = fact("Farms eighty cows outside the town")
    plan = wants("what could my daughter use", subjects=("user.daughter",))
    rows = evidence(plan, [megan, other], {}, lambda _: False)
    assert [row.unplaced for row in rows] == [1.0, 0.0]
    nobody = evidence(wants("what could i use"), [megan, other], {}, lambda _: False)
    assert [row.unplaced for row in nobody] == [0.0, 0.0]


def test_who_doubts_that_it_was_told_is_given_only_what_answers() -> None:
    facts = [fact("Pam next door keeps the spare key"), fact("Likes green tea")]
    near = {facts[0].id: 0.2, facts[1].id: 0.12}
    doubting = wants("did i ever tell you my favourite song", trigger="explicit_prompt")
    assert given_for(doubting, facts, near) == set()
    needing = wants("what shall i put on", trigger="judge")
    assert given_for(needing, facts, near)


def test_what_is_to_be_written_depends_on_more_than_one_memory() -> None:
    facts = [fact("Stand-up is at a quarter to ten"), fact("The queue is Kafka")]
    near = {facts[0].id: 0.2, facts[1].id: 0.12}
    asked = wants("how do we work", slots=("policy",))
    assert given_for(asked, facts, near) == set()
    written = replace(asked, intent="generation", query="write down how we work")
    assert given_for(written, facts, near) == {f.text for f in facts}
    doubted = replace(written, trigger="explicit_prompt")
    assert given_for(doubted, facts, near) == set()


def test_beside_a_slot_that_a_reply_depends_on_more_is_given_than_beside_an_answer() -> None:
    facts = [fact("Works at the railway", "employer"), fact("Stays at home since Monday")]
    near = {facts[0].id: 0.2, facts[1].id: 0.1}
    needed = wants("fill in the form for the nursery", slots=("employer",), trigger="judge")
    assert given_for(needed, facts, near) == {f.text for f in facts}
    asked = replace(needed, trigger="own_fact_question")
    assert given_for(asked, facts, near) == {facts[0].text}
