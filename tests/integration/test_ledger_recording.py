"""Turns into the ledger: what is written of them, read back, retracted and taken back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bmo.ledger import Backlog, Ledger, OutboxOp
from bmo.turn import TAKEN_BACK, Decision, Fact, StoredFact, Turn
from tests.fakes.speaker import (
    allowed,
    brother,
    day,
    decided,
    fact,
    likes,
    live,
    lives_in,
    of_brother,
    say,
    turn,
    why_ended,
)

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
    words = "a\x00b \ud83d c"
    recorded = say(ledger, words, fact(f"Says {words}", value=words, slot="says"))
    assert recorded.added[0].text == "Says ab \ufffd c"
    assert ledger.turns("ana")[0].text == "ab \ufffd c"


@pytest.mark.parametrize(
    "told",
    [
        lives_in("Leeds", expires_at=datetime.fromisoformat("2026-04-01T12:00:00.25+01:00")),
        fact("Says a\x00b \ud83d c", value="\ud83d", slot="says", entities=("Ana\x00", "Bo")),
        of_brother("Sam", "lives_in", "Oslo", "Brother Sam lives in Oslo", confidence=1),
        fact("Used to row", "preferences", tense="past", when="2020-05-01", sensitive=True),
    ],
    ids=lambda told: told.value or "past",
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
    gone = fact("boat", "goals", op="retract", scope="value", value="sailboat")
    recorded = say(ledger, "not saving for that sailboat any more", gone, at=day(1))
    assert why_ended(recorded) == [("Is saving for a small sailboat", "retracted")]
    assert ledger.facts_by_id("ana", [boat.id])[0].end_reason == "retracted"


def test_retracted_pet_takes_its_facts_along(ledger: Ledger) -> None:
    cat = fact(
        "Has a cat named Pepper",
        "relationships",
        slot="cat",
        value="Pepper",
        subject="user.cat:pepper",
    )
    deaf = fact("Cat Pepper is deaf", "relationships", subject="user.cat:pepper")
    say(ledger, "x", cat, deaf, likes("cats"))
    gone = fact(
        "Has a cat named Pepper",
        "relationships",
        slot="cat",
        value="Pepper",
        subject="user.cat:pepper",
        op="retract",
        scope="value",
    )
    say(ledger, "we dont have pepper any more", gone, at=day(1))
    assert live(ledger) == {"Likes cats"}


def test_as_of_tells_what_was_known_and_true_then(ledger: Ledger) -> None:
    say(ledger, "x", lives_in("Leeds"), at=day(0))
    say(ledger, "y", lives_in("York"), at=day(10))
    seen = [
        [f.text for f in ledger.live_facts("ana", at=moment)]
        for moment in (day(0) - timedelta(days=1), day(5), day(10), day(400))
    ]
    assert seen == [[], ["Lives in Leeds"], ["Lives in York"], ["Lives in York"]]


def test_dated_end_is_not_known_before_it_was_said(ledger: Ledger) -> None:
    say(ledger, "x", lives_in("Oslo"), at=day(0))
    left = fact(
        "Used to live in Oslo",
        slot="lives_in",
        value="Oslo",
        tense="past",
        when=day(5).date().isoformat(),
    )
    say(ledger, "i left oslo on the fifth day", left, at=day(20))
    assert [f.text for f in ledger.live_facts("ana", at=day(10))] == ["Lives in Oslo"]
    assert ledger.live_facts("ana", at=day(21)) == []


def test_goals_expire_after_their_date(ledger: Ledger) -> None:
    goal = fact("Is training for a marathon in June 2026", "goals", when="2026-06")
    say(ledger, "x", goal, fact("Birthday is June 9", when="--06-09"))
    june = {f.text for f in ledger.live_facts("ana", at=datetime(2026, 6, 30, tzinfo=UTC))}
    later = {f.text for f in ledger.live_facts("ana", at=datetime(2026, 7, 9, tzinfo=UTC))}
    assert june - later == {"Is training for a marathon in June 2026"}


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
    counts = ledger.counts("ana")
    assert (counts.turns, counts.live_facts, counts.decisions) == (1, 1, {"allow": 2})


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


def taken_back(text: str) -> Fact:
    return fact(text, op="retract", scope="last", rule_id=TAKEN_BACK)


def test_what_is_taken_back_was_never_so_and_what_it_ended_lives_on(ledger: Ledger) -> None:
    say(ledger, "i live in leeds", lives_in("Leeds"))
    say(ledger, "i live in york", lives_in("York"), at=day(1))
    undone = say(ledger, "just kidding", taken_back("Lives in York"), at=day(2))
    assert why_ended(undone) == [("Lives in York", "corrected")]
    assert [found.text for found in undone.changed] == ["Lives in Leeds"]
    assert live(ledger) == {"Lives in Leeds"}
    (leeds,) = ledger.live_facts("ana")
    assert (leeds.valid_until, leeds.end_reason, leeds.superseded_by) == (None, "", None)
    asked: list[str] = []
    while entries := ledger.claim_outbox("me", 20):
        asked += [entry.op for entry in entries if entry.fact_id == leeds.id]
        for entry in entries:
            ledger.applied(entry)
    assert asked == ["add", "delete", "add"]


def test_only_the_turn_just_before_is_taken_back(ledger: Ledger) -> None:
    say(ledger, "i live in york", lives_in("York"))
    ledger.record(turn("hm", at=day(1)), decided("discard", "hm"))
    undone = say(ledger, "just kidding", taken_back("Lives in York"), at=day(2))
    assert undone.ended == ()
    assert [found.text for found in undone.unmatched] == ["Lives in York"]
    assert live(ledger) == {"Lives in York"}
