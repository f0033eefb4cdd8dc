"""Turns into the ledger: what is written of them, read back, retracted and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bmo.ledger import Backlog, Ledger, OutboxOp
from bmo.turn import Decision, Fact, StoredFact, Turn
from tests.fakes.speaker import (
    allowed,
    brother,
    day,
    decided,
    fact,
    gone,
    likes,
    lives_in,
    of_brother,
    say,
    turn,
    why_ended,
    words,
)
from tests.integration.memory_parts import rows_of

pytestmark = pytest.mark.integration

ADD: OutboxOp = "add"
PURGE: OutboxOp = "purge"


def test_every_turn_leaves_a_row_with_its_decision(ledger: Ledger) -> None:
    ledger.record(turn("hello"), decided("discard", "hello", signals=("greeting",)))
    ledger.record(turn("i might move", at=day(1)), decided("hold", "i might move"))
    rows = ledger.turns("ana")
    assert [(row.text, row.verdict, row.signals) for row in rows] == [
        ("hello", "discard", ("greeting",)),
        ("i might move", "hold", ("other",)),
    ]
    assert rows[0].at == day(0)
    assert rows[0].gate_version == "rules-test"


def test_moments_come_back_aware_in_utc(ledger: Ledger) -> None:
    berlin = datetime.fromisoformat("2026-03-01T12:00:00+01:00")
    recorded = say(ledger, "x", lives_in("Leeds", expires_at=berlin), at=berlin)
    stored = recorded.added[0]
    assert stored.valid_from == datetime(2026, 3, 1, 11, tzinfo=UTC)
    assert stored.valid_from.tzinfo is UTC
    assert stored.expires_at == berlin


def test_masked_text_is_what_is_written(ledger: Ledger) -> None:
    secret = Turn(text="my card is 4111 1111 1111 1111", user_id="ana")
    ledger.record(secret, decided("discard", "my card is [card]", signals=("sensitive",)))
    unmasked = Turn(text="the code is 889911", user_id="ana")
    ledger.record(unmasked, decided("discard", "", signals=("sensitive",)))
    assert [row.text for row in ledger.turns("ana")] == ["my card is [card]", ""]


def test_nul_and_lone_surrogates_are_cleaned(ledger: Ledger) -> None:
    odd = "a\x00b \ud83d c"
    recorded = say(ledger, odd, fact(f"Says {odd}", value=odd, slot="says"))
    assert recorded.added[0].text == "Says ab \ufffd c"
    assert ledger.turns("ana")[0].text == "ab \ufffd c"


@pytest.mark.parametrize(
    "told",
    [
        lives_in("Leeds", expires_at=datetime.fromisoformat("2026-04-01T12:00:00.25+01:00")),
        fact("Says a\x00b \ud83d c", value="\ud83d", slot="says", entities=("Ana\x00", "Bo")),
        of_brother("Sam", "lives_in", "Oslo", "Brother Sam lives in Oslo", confidence=1),
        words("the second one", "Which boat was it?", sensitive=True),
    ],
    ids=lambda told: told.value or "words",
)
def test_a_new_fact_is_handed_back_as_the_ledger_reads_it(ledger: Ledger, told: Fact) -> None:
    added = say(ledger, "x", told, at=datetime.fromisoformat("2026-03-01T12:00:00+01:00")).added[0]
    read = ledger.facts_by_id("ana", [added.id])[0]
    assert added == read
    assert repr(added) == repr(read)


def test_backlog_tells_what_is_due_of_some_operations(ledger: Ledger) -> None:
    assert ledger.backlog() == Backlog(0, None, None, None)
    said = turn("raw words")
    ledger.record(said, decided("discard", said.text), raw=True)
    say(ledger, "x", likes("tea"), at=day(1))
    everything, adds = ledger.backlog(), ledger.backlog(ops=[ADD])
    assert (everything.depth, adds.depth) == (2, 2)
    assert adds.oldest == everything.oldest == everything.first_due
    assert adds.first_due == adds.last_due == everything.last_due
    assert ledger.backlog(ops=[PURGE]).first_due is None
    assert adds.last_due is not None
    assert adds.is_due(adds.last_due)
    assert not adds.is_due(adds.last_due - timedelta(minutes=1))
    assert adds.is_due(adds.last_due - timedelta(hours=1))  # put in by a clock that went back
    assert not ledger.backlog(ops=[PURGE]).is_due(adds.last_due)


def test_retraction_without_forget_ends_but_keeps_the_row(ledger: Ledger) -> None:
    boat = say(ledger, "x", fact("Is saving for a small sailboat", "goals")).added[0]
    recorded = say(ledger, "not saving for that sailboat any more", gone(boat), at=day(1))
    assert why_ended(recorded) == [("Is saving for a small sailboat", "retracted")]
    assert ledger.facts_by_id("ana", [boat.id])[0].end_reason == "retracted"
    again = say(ledger, "really not", gone(boat), at=day(2))
    assert (again.ended, len(again.unmatched)) == ((), 1)


def test_as_of_tells_what_was_known_and_true_then(ledger: Ledger) -> None:
    say(ledger, "x", lives_in("Leeds"), at=day(0))
    say(ledger, "y", lives_in("York"), at=day(10))
    seen = [
        [f.text for f in ledger.live_facts("ana", at=moment)]
        for moment in (day(0) - timedelta(days=1), day(5), day(10), day(400))
    ]
    assert seen == [[], ["Lives in Leeds"], ["Lives in York"], ["Lives in York"]]


def test_facts_expire_at_their_moment(ledger: Ledger) -> None:
    say(ledger, "x", fact("Runs a race in June", "goals", expires_at=day(180)), likes("tea"))
    assert len(ledger.live_facts("ana", at=day(179))) == 2
    assert [f.text for f in ledger.live_facts("ana", at=day(181))] == ["Likes tea"]


def test_why_and_history_tell_words_rule_and_what_was_replaced(ledger: Ledger) -> None:
    old = say(ledger, "i live in leeds", lives_in("Leeds", rule_id="home")).added[0]
    new = say(ledger, "i moved to york", lives_in("York", rule_id="home"), at=day(3)).added[0]
    why = ledger.why("ana", new.id)
    assert why is not None
    assert [(said.text, said.at) for said in why.said] == [("i moved to york", day(3))]
    assert [f.id for f in why.replaced] == [old.id]
    assert why.fact.rule_id == "home"
    assert [f.text for f in ledger.history("ana", old.id)] == ["Lives in Leeds", "Lives in York"]
    assert ledger.why("ana", "0" * 32) is None


def test_recording_a_turn_again_doubles_nothing(ledger: Ledger) -> None:
    said = turn("i live in leeds")
    ledger.record(said, allowed("i live in leeds", lives_in("Leeds")))
    ledger.record(said, allowed("i live in leeds", lives_in("Leeds")))
    assert [rows_of(ledger, table, "ana") for table in ("turns", "facts", "decisions")] == [1, 1, 2]


def test_search_words_ranks_rare_words_first(ledger: Ledger) -> None:
    say(ledger, "x", likes("jazz"), likes("jazz piano"), likes("piano bars in Lisbon"))
    found = ledger.search_words("ana", "which bars in lisbon", 5)
    assert found[0][0].text == "Likes piano bars in Lisbon"
    assert found[0][1] == pytest.approx(1.0)
    assert ledger.search_words("ana", "", 5) == []
    assert ledger.search_words("ben", "lisbon", 5) == []


def test_filters_of_live_facts(ledger: Ledger) -> None:
    say(
        ledger,
        "x",
        brother("Sam"),
        of_brother("Sam", "job", "nurse", "Brother Sam is a nurse"),
        likes("tea"),
    )

    def texts(**more: Any) -> set[str]:
        return {f.text for f in ledger.live_facts("ana", **more)}

    assert texts(subjects=["user.brother"]) == {"Has a brother named Sam", "Brother Sam is a nurse"}
    assert texts(slots=["job"]) == {"Brother Sam is a nurse"}
    assert texts(categories=["preferences"]) == {"Likes tea"}
    assert len(ledger.live_facts("ana", limit=1)) == 1


def test_wrong_user_ids_are_refused_in_a_sentence(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match=r"user id '\*' is not allowed"):
        ledger.live_facts("*")
    with pytest.raises(ValueError, match="is not allowed"):
        ledger.record(turn("x", user="a b"), decided("discard", "x"))


def test_turn_id_of_another_user_is_refused(ledger: Ledger) -> None:
    said = turn("x", user="ana")
    ledger.record(said, decided("discard", "x"))
    stolen = Turn(text="y", user_id="ben", id=said.id)
    with pytest.raises(ValueError, match="another user's"):
        ledger.record(stolen, decided("discard", "y"))


def test_discard_with_facts_stores_none(ledger: Ledger) -> None:
    decision = Decision("discard", ("other",), "r", 0.9, facts=(likes("tea"),), text="x")
    assert ledger.record(turn("x"), decision).added == ()
    stored: list[StoredFact] = ledger.live_facts("ana")
    assert stored == []


def test_words_are_kept_with_what_they_answer_and_found_by_both(ledger: Ledger) -> None:
    told = words("the red one, since march", "Which bicycle do you ride?")
    (stored,) = say(ledger, told.text, told).added
    assert (stored.id, stored.said, stored.asked) == (told.id, told.text, told.asked)
    assert [f.id for f, _ in ledger.search_words("ana", "bicycle", 3)] == [told.id]


def test_facts_of_a_visit(ledger: Ledger) -> None:
    say(ledger, "x", lives_in("Leeds"))
    say(ledger, "y", likes("tea"), lives_in("York"), at=day(1))
    ledger.record(turn("z", session="s2"), allowed("z", likes("rye")))
    ledger.record(turn("w", user="ben"), allowed("w", likes("gin")))
    assert [f.text for f in ledger.visit_facts("ana", "s1", 9)] == ["Likes tea", "Lives in York"]
    assert len(ledger.visit_facts("ana", "s1", 1)) == 1
    assert ledger.visit_facts("ben", "s2", 9) == []
