"""Turns into the ledger: what is stored, confirmed, superseded, corrected and retracted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bmo.ledger import Backlog, Ledger, OutboxOp, Recorded
from bmo.turn import TAKEN_BACK, Decision, Fact, StoredFact, Turn
from tests.fakes.speaker import (
    START,
    allowed,
    brother,
    day,
    decided,
    fact,
    likes,
    lives_in,
    of_brother,
    turn,
)

pytestmark = pytest.mark.integration

ADD: OutboxOp = "add"
PURGE: OutboxOp = "purge"


def say(
    ledger: Ledger, words: str, *facts: object, at: datetime = START, **more: object
) -> Recorded:
    return ledger.record(turn(words, at=at), allowed(words, *facts, **more))  # type: ignore[arg-type]


def live(ledger: Ledger, user: str = "ana") -> set[str]:
    return {found.text for found in ledger.live_facts(user)}


def why_ended(recorded: Recorded) -> list[tuple[str, str]]:
    return [(ended.fact.text, ended.why) for ended in recorded.ended]


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


def test_same_value_is_confirmed_not_doubled(ledger: Ledger) -> None:
    first = say(ledger, "x", likes("the Postgres"))
    again = say(ledger, "y", likes("PostgreSQL"), at=day(1))
    assert again.added == ()
    assert [f.id for f in again.confirmed] == [first.added[0].id]
    assert again.confirmed[0].confidence > first.added[0].confidence
    assert len(ledger.why("ana", first.added[0].id).said) == 2  # type: ignore[union-attr]


def test_functional_slot_is_superseded_and_the_old_row_stays(ledger: Ledger) -> None:
    old = say(ledger, "x", lives_in("Leeds")).added[0]
    new = say(ledger, "y", lives_in("York"), at=day(30))
    assert why_ended(new) == [("Lives in Leeds", "superseded")]
    assert live(ledger) == {"Lives in York"}
    kept = ledger.facts_by_id("ana", [old.id])[0]
    assert kept.valid_until == day(30)
    assert kept.superseded_by == new.added[0].id
    assert kept.end_reason == "superseded"


def test_two_brothers_do_not_overwrite_each_other(ledger: Ledger) -> None:
    say(
        ledger,
        "x",
        of_brother(
            "Arjun", "lives_in", "Toronto", "Brother Arjun lives in Toronto", cardinality="one"
        ),
    )
    say(
        ledger,
        "y",
        of_brother("Kavi", "lives_in", "Pune", "Brother Kavi lives in Pune", cardinality="one"),
        at=day(1),
    )
    say(
        ledger,
        "z",
        of_brother(
            "Arjun", "lives_in", "Halifax", "Brother Arjun lives in Halifax", cardinality="one"
        ),
        at=day(2),
    )
    assert live(ledger) == {"Brother Kavi lives in Pune", "Brother Arjun lives in Halifax"}


def test_opposite_polarity_ends_the_same_value_only(ledger: Ledger) -> None:
    say(ledger, "x", likes("jazz"), likes("tea"))
    recorded = say(ledger, "y", likes("jazz", polarity="negative"), at=day(1))
    assert why_ended(recorded) == [("Likes jazz", "contradicted")]
    assert live(ledger) == {"Likes tea", "Does not like jazz"}


def test_dislikes_takes_a_value_out_of_likes(ledger: Ledger) -> None:
    say(ledger, "x", likes("cilantro"))
    dislike = fact("Dislikes cilantro", "preferences", slot="dislikes", value="cilantro")
    say(ledger, "y", dislike, at=day(1))
    assert live(ledger) == {"Dislikes cilantro"}


def test_past_tense_closes_what_is_known(ledger: Ledger) -> None:
    say(ledger, "x", lives_in("Oslo"))
    past = fact("Used to live in Oslo", slot="lives_in", value="Oslo", tense="past")
    recorded = say(ledger, "y", past, at=day(10))
    assert why_ended(recorded) == [("Lives in Oslo", "past")]
    assert recorded.added == ()
    assert live(ledger) == set()


def test_past_tense_of_the_unknown_is_stored_as_ended(ledger: Ledger) -> None:
    say(ledger, "x", lives_in("Leeds"))
    past = fact(
        "Used to live in Oslo", slot="lives_in", value="Oslo", cardinality="one", tense="past"
    )
    recorded = say(ledger, "y", past, at=day(1))
    assert recorded.added[0].valid_until == day(1)
    assert live(ledger) == {"Lives in Leeds"}
    everything = {f.text for f in ledger.live_facts("ana", include_past=True)}
    assert everything == {"Lives in Leeds", "Used to live in Oslo"}


def test_older_turn_does_not_supersede_a_newer_one(ledger: Ledger) -> None:
    newer = say(ledger, "y", lives_in("York"), at=day(30)).added[0]
    late = say(ledger, "x", lives_in("Leeds"), at=day(0)).added[0]
    assert late.valid_until == day(30)
    assert late.superseded_by == newer.id
    assert live(ledger) == {"Lives in York"}


def test_two_values_in_one_breath_are_a_conflict_until_one_is_said_again(ledger: Ledger) -> None:
    recorded = say(ledger, "x", lives_in("Leeds"), lives_in("York"))
    assert {f.text for f in recorded.conflicts} == {"Lives in Leeds", "Lives in York"}
    assert [{f.text for f in group} for group in ledger.conflicts("ana")] == [
        {"Lives in Leeds", "Lives in York"}
    ]
    say(ledger, "y", lives_in("York"), at=day(1))
    assert live(ledger) == {"Lives in York"}
    assert ledger.conflicts("ana") == []
    assert not ledger.live_facts("ana")[0].conflict


def test_correction_ends_the_wrong_value_and_it_never_was(ledger: Ledger) -> None:
    say(ledger, "x", fact("Is a dentist", slot="job", value="dentist", cardinality="one"))
    right = fact(
        "Is a dental hygienist",
        slot="job",
        value="dental hygienist",
        cardinality="one",
        op="correct",
        replaces="dentist",
    )
    recorded = say(ledger, "y", right)
    assert why_ended(recorded) == [("Is a dentist", "corrected")]
    past = ledger.live_facts("ana", include_past=True)
    assert [f.text for f in past] == ["Is a dental hygienist"]


@pytest.mark.parametrize("replaces", ["Tim", None])
def test_correcting_a_name_renames_the_person_everywhere(
    ledger: Ledger, replaces: str | None
) -> None:
    say(
        ledger,
        "x",
        brother("Tim"),
        of_brother("Tim", "lives_in", "Oslo", "Brother Tim lives in Oslo", cardinality="one"),
    )
    recorded = say(ledger, "y", brother("Tom", op="correct", replaces=replaces), at=day(0, 10))
    assert live(ledger) == {"Has a brother named Tom", "Brother Tom lives in Oslo"}
    assert {why for _, why in why_ended(recorded)} == {"corrected"}
    assert ledger.known_subjects("ana") == {"tom": "user.brother:tom"}
    assert not [f for f in ledger.live_facts("ana", include_past=True) if "Tim" in f.text]


def test_unnamed_person_gets_a_name(ledger: Ledger) -> None:
    say(
        ledger,
        "x",
        fact(
            "Has a brother",
            "relationships",
            slot="brother",
            value="brother",
            subject="user.brother",
        ),
        of_brother("", "studies", "marine biology", "Brother studies marine biology"),
    )
    recorded = say(ledger, "y", brother("Abe"), at=day(9))
    assert live(ledger) == {"Has a brother named Abe", "Brother Abe studies marine biology"}
    assert [f.text for f in recorded.changed] == ["Brother Abe studies marine biology"]


def test_second_brother_does_not_take_the_first_ones_facts(ledger: Ledger) -> None:
    say(ledger, "x", brother("Sam"), of_brother("", "job", "nurse", "Brother is a nurse"))
    say(ledger, "y", brother("Tom"), at=day(1))
    assert "Brother is a nurse" in live(ledger)


def test_same_pet_of_somebody_else_is_moved(ledger: Ledger) -> None:
    mine = fact(
        "Has a corgi named Tofu", "relationships", slot="pet", value="Tofu", subject="user.dog:tofu"
    )
    say(ledger, "x", mine)
    theirs = fact(
        "Flatmate has a dog named Tofu",
        "relationships",
        slot="pet",
        value="Tofu",
        subject="user.flatmate.dog:tofu",
        op="correct",
    )
    say(ledger, "y", theirs)
    assert live(ledger) == {"Flatmate has a dog named Tofu"}


def test_slotless_memories_are_deduplicated_and_contradicted(ledger: Ledger) -> None:
    sugar = fact("Takes three sugars in tea", "preferences")
    known = say(ledger, "x", sugar).added[0]
    assert say(ledger, "y", sugar, at=day(1)).added == ()
    no_sugar = fact("Takes no sugar in tea", "preferences")
    recorded = ledger.record(
        turn("z", at=day(2)), allowed("z", no_sugar), near=lambda user, text: [(known.id, 0.8)]
    )
    assert why_ended(recorded) == [("Takes three sugars in tea", "contradicted")]
    assert live(ledger) == {"Takes no sugar in tea"}


def test_near_duplicates_merge_only_with_the_same_entities(ledger: Ledger) -> None:
    known = say(ledger, "x", fact("Plays the cello in a quartet", "preferences")).added[0]

    def near(user: str, text: str) -> list[tuple[str, float]]:
        return [(known.id, 0.97)]

    merged = ledger.record(
        turn("y", at=day(1)),
        allowed("y", fact("Is playing cello in a quartet", "preferences")),
        near=near,
    )
    assert merged.added == ()
    other = ledger.record(
        turn("z", at=day(2)),
        allowed("z", fact("Plays cello in a quartet of 5", "preferences")),
        near=near,
    )
    assert len(other.added) == 1


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


def test_new_employer_ends_where_the_old_one_was(ledger: Ledger) -> None:
    say(
        ledger,
        "x",
        fact("Works at a clinic", slot="employer", value="clinic", cardinality="one"),
        fact("Works in Penang", slot="works_in", value="Penang", cardinality="one"),
    )
    say(
        ledger,
        "y",
        fact("Works at a school", slot="employer", value="school", cardinality="one"),
        at=day(1),
    )
    assert live(ledger) == {"Works at a school"}


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


def test_name_in_a_correction_renames_who_was_just_named(ledger: Ledger) -> None:
    say(ledger, "x", brother("Dumbo"))
    say(ledger, "no his name is gumbo", brother("Gumbo"), signals=("correction",))
    assert live(ledger) == {"Has a brother named Gumbo"}
    say(ledger, "no my brother is sam", brother("Sam"), signals=("correction",), at=day(40))
    assert live(ledger) == {"Has a brother named Gumbo", "Has a brother named Sam"}


def test_goal_that_is_given_up_leaves_nothing_behind(ledger: Ledger) -> None:
    boat = fact(
        "Is saving for a little sailboat", "goals", slot="saving_for", value="a little sailboat"
    )
    known = say(ledger, "x", boat).added[0]
    given_up = fact(
        "Is not saving for boat", "goals", slot="saving_for", value="boat", polarity="negative"
    )
    recorded = ledger.record(
        turn("y", at=day(1)), allowed("y", given_up), near=lambda user, text: [(known.id, 0.8)]
    )
    assert why_ended(recorded) == [("Is saving for a little sailboat", "contradicted")]
    assert recorded.added == ()
    assert live(ledger) == set()


def test_teams_decision_ends_with_its_use(ledger: Ledger) -> None:
    chose = fact(
        "The team chose MariaDB", "decisions", subject="team", slot="decision", value="MariaDB"
    )
    say(ledger, "x", chose)
    used = fact(
        "The team used to use MariaDB",
        "decisions",
        subject="team",
        slot="technology",
        value="MariaDB",
        tense="past",
    )
    assert why_ended(say(ledger, "y", used, at=day(1))) == [("The team chose MariaDB", "past")]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("change of target, i'm aiming for 1:50 now", {"Is aiming for 1:50"}),
        ("and i'm aiming for 1:50", {"Wants to finish in two hours", "Is aiming for 1:50"}),
    ],
)
def test_goal_is_replaced_when_the_turn_tells_of_a_change(
    ledger: Ledger, words: str, left: set[str]
) -> None:
    old = say(
        ledger,
        "x",
        fact("Wants to finish in two hours", "goals", slot="wants", value="finish in two hours"),
    ).added[0]
    new = fact("Is aiming for 1:50", "goals", slot="wants", value="1:50")
    ledger.record(
        turn(words, at=day(3)), allowed(words, new), near=lambda user, text: [(old.id, 0.7)]
    )
    assert live(ledger) == left


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
