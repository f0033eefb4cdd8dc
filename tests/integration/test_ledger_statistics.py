"""Counting, inspecting and restating: the same on SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bmo.evaluation.health import statistics_of
from bmo.ledger import Ledger, inspect_ledger, statistics
from bmo.ledger.statistics import Span
from bmo.turn import Decision, Recall, RecallPlan, Turn
from tests.seeding import Said, brother, held, home_in, likes

pytestmark = pytest.mark.integration

DAY = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


def decided(said: Said, *, version: str = "rules-test") -> Decision:
    return Decision(
        verdict=said.verdict,
        signals=said.signals,
        reason=said.reason,
        confidence=0.9,
        facts=said.facts,
        gate_version=version,
        text=said.text,
        fallback=said.fallback,
    )


def record(ledger: Ledger, said: Said, at: datetime) -> Turn:
    turn = Turn(said.text, user_id=said.user_id, session_id="visit", at=at)
    ledger.record(turn, decided(said))
    return turn


def test_decisions_are_counted_once_a_turn_by_day_and_user(ledger: Ledger) -> None:
    kept = record(ledger, brother(), DAY)
    record(ledger, held("someone came by"), DAY + timedelta(days=1))
    record(ledger, likes("tea", "eve"), DAY + timedelta(days=1))
    # A second pass of the gate over the same turn: only the newest word counts.
    ledger.record(kept, replace(decided(brother()), verdict="discard", facts=(), fallback=True))
    with ledger.reading() as connection:
        everybodys = statistics.decision_counts(connection, Span())
        locals_ = statistics.decision_counts(connection, Span("local"))
        later = statistics.decision_counts(connection, Span(since=DAY + timedelta(hours=1)))
        by_day = statistics.verdicts_by_day(connection, Span())
        assert statistics.verdict_counts(connection, Span()) == everybodys.verdicts
        backlog = statistics.held_backlog(connection, None)
        of_eve = statistics.held_backlog(connection, "eve")
    assert everybodys.verdicts == {"allow": 1, "discard": 1, "hold": 1}
    assert everybodys.fallbacks == 1
    assert everybodys.held_reasons == {"no rule vouches": 1}
    assert locals_.turns == 2
    assert later.verdicts == {"allow": 1, "hold": 1}
    assert by_day == {"2026-03-01": {"discard": 1}, "2026-03-02": {"allow": 1, "hold": 1}}
    assert backlog == (1, DAY + timedelta(days=1))
    assert of_eve == (0, None)


def test_rules_and_how_their_memories_fared(ledger: Ledger) -> None:
    for number in range(3):
        record(ledger, likes(f"thing {number}"), DAY + timedelta(minutes=number))
    record(ledger, home_in("Oslo"), DAY)
    facts = ledger.live_facts("local", slots=["likes"])
    ledger.edit("local", facts[0].id, text="Likes something else")
    ledger.feedback("local", fact_id=facts[1].id, turn_id=None, helpful=False, at=DAY)
    with ledger.reading() as connection:
        found = {rule.rule_id: rule for rule in statistics.rule_records(connection, Span("local"))}
        categories = statistics.live_by_category(connection, "local")
        by_day = statistics.facts_by_day(connection, Span())
    assert (found["likes"].facts, found["likes"].taken_back, found["likes"].unhelpful) == (3, 1, 1)
    assert (found["lives_in"].facts, found["lives_in"].taken_back) == (1, 0)
    assert categories == {"preferences": 3, "personal_facts": 1}
    assert sum(by_day.values()) == 5


def test_recalls_are_counted(ledger: Ledger) -> None:
    turn = record(ledger, brother(), DAY)
    for recalled, trigger, took in ((True, "own_fact_question", 4.0), (False, "smalltalk", 0.1)):
        plan = RecallPlan(recall=recalled, trigger=trigger)
        ledger.record_recall(turn, Recall(plan=plan, tokens=12 if recalled else 0, elapsed_ms=took))
    with ledger.reading() as connection:
        found = statistics.recall_counts(connection, Span("local"))
    assert (found.turns, found.recalled, found.tokens) == (2, 1, 12)
    assert found.elapsed_ms == (4.0,)
    assert found.triggers == {"own_fact_question": 1, "smalltalk": 1}


def test_duplicates_are_none_where_the_ledger_reconciled(ledger: Ledger) -> None:
    record(ledger, likes("tea"), DAY)
    record(ledger, likes("tea"), DAY + timedelta(days=1))
    record(ledger, likes("tea", "eve"), DAY)
    with ledger.reading() as connection:
        assert statistics.duplicates(connection, None) == 0
        assert statistics.conflicting(connection, None) == 0


def test_gather_puts_it_together(ledger: Ledger) -> None:
    record(ledger, likes("tea"), DAY)
    found = statistics_of(ledger, now=DAY + timedelta(days=1), days=7)
    assert found["users"] == 1
    assert found["live"] == 1


def test_an_inspection_changes_nothing_and_knows_the_schema(ledger_url: str) -> None:
    before = inspect_ledger(ledger_url)
    assert (before.exists, before.schema, before.problem) == (False, None, "")
    Ledger.open(ledger_url).close()
    after = inspect_ledger(ledger_url)
    assert (after.exists, after.problem) == (True, "")
    assert after.schema is not None and after.schema.newest == after.head and after.schema.fits


def test_an_inspection_of_what_is_none_says_why() -> None:
    assert inspect_ledger("not a url").problem
    dead = inspect_ledger("postgresql+psycopg://bmo:hunter2@127.0.0.1:1/bmo")
    assert "does not answer" in dead.problem
    assert "hunter2" not in dead.place + dead.problem


def test_another_pass_adds_changes_and_removes(ledger: Ledger) -> None:
    turns = [
        record(ledger, held("i live in leeds"), DAY),
        record(ledger, likes("the weather"), DAY + timedelta(minutes=1)),
        record(ledger, likes("jazz"), DAY + timedelta(minutes=2)),
    ]
    jazz = replace(likes("jazz").facts[0], text="Likes jazz music", value="jazz music")
    passes = [
        (turns[0], decided(home_in("Leeds"), version="rules-new")),
        (turns[1], decided(Said("x", (), "discard"), version="rules-new")),
        (turns[2], replace(decided(likes("jazz")), facts=(jazz,))),
    ]
    found = ledger.compare_passes(passes)
    assert [fact.text for fact in found[0].added] == ["Lives in Leeds"]
    assert [fact.text for fact in found[1].removed] == ["Likes the weather"]
    assert [(o.text, n.text) for o, n in found[2].changed] == [("Likes jazz", "Likes jazz music")]
    assert len(ledger.live_facts("local")) == 2

    ledger.write_passes(found)
    live = {fact.text: fact for fact in ledger.live_facts("local")}
    assert set(live) == {"Lives in Leeds", "Likes jazz music"}
    assert live["Lives in Leeds"].valid_from == DAY
    assert live["Lives in Leeds"].extraction_version == "rules-new"
    assert not any(ledger.compare_passes(passes))


def test_another_pass_leaves_what_others_wrote_or_said_again(ledger: Ledger) -> None:
    first = record(ledger, likes("tea"), DAY)
    record(ledger, likes("tea"), DAY + timedelta(days=1))
    by_tool = Turn("remember chess", at=DAY)
    ledger.record(by_tool, decided(likes("chess")), source_type="tool")
    nothing = decided(Said("x", (), "discard"))
    assert not any(ledger.compare_passes([(first, nothing), (by_tool, nothing)]))


def test_another_pass_does_not_bring_back_what_was_forgotten(ledger: Ledger) -> None:
    turn = Turn("i like jazz and tea", at=DAY)
    both = (likes("jazz").facts[0], likes("tea").facts[0])
    ledger.record(turn, replace(decided(likes("jazz")), facts=both))
    jazz = next(fact for fact in ledger.live_facts("local") if fact.value == "jazz")
    ledger.erase("local", [jazz.id], at=DAY + timedelta(days=1))
    (found,) = ledger.compare_passes([(turn, replace(decided(likes("jazz")), facts=both))])
    assert not found
    assert [fact.text for fact in found.forgotten] == ["Likes jazz"]
