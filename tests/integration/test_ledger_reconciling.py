"""What a new memory does to what is known: it confirms, ends by id, supersedes or stands beside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bmo.ledger import Ledger
from tests.fakes.speaker import (
    allowed,
    day,
    fact,
    gone,
    likes,
    live,
    lives_in,
    of_brother,
    say,
    turn,
    why_ended,
    words,
)

pytestmark = pytest.mark.integration


def test_same_value_is_confirmed_not_doubled(ledger: Ledger) -> None:
    first = say(ledger, "x", likes("the Postgres"))
    again = say(ledger, "y", likes("postgres"), at=day(1))
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
    homes = (("Arjun", "Toronto"), ("Kavi", "Pune"), ("Arjun", "Halifax"))
    for number, (name, place) in enumerate(homes):
        text = f"Brother {name} lives in {place}"
        told = of_brother(name, "lives_in", place, text, cardinality="one")
        say(ledger, "x", told, at=day(number))
    assert live(ledger) == {"Brother Kavi lives in Pune", "Brother Arjun lives in Halifax"}


def test_opposite_ends_the_same_value_only(ledger: Ledger) -> None:
    say(ledger, "x", likes("jazz"), likes("tea"), likes("cilantro"))
    recorded = say(ledger, "y", likes("jazz", polarity="negative"), at=day(1))
    assert why_ended(recorded) == [("Likes jazz", "contradicted")]
    dislike = fact("Dislikes cilantro", "preferences", slot="dislikes", value="cilantro")
    say(ledger, "z", dislike, at=day(1))
    assert live(ledger) == {"Likes tea", "Does not like jazz", "Dislikes cilantro"}
    say(ledger, "z", likes("the cilantro"), at=day(2))
    assert live(ledger) == {"Likes tea", "Does not like jazz", "Likes the cilantro"}


def test_words_end_what_they_name_by_id(ledger: Ledger) -> None:
    old = say(ledger, "x", words("i play the cello in a quartet"), likes("tea")).added[0]
    theirs = ledger.record(turn("x", user="ben"), allowed("x", likes("tea"))).added[0]
    new = words("sold the cello, it is drums now", ends=(old.id, theirs.id, "0" * 32))
    recorded = say(ledger, new.text, new, at=day(3))
    assert why_ended(recorded) == [(old.text, "superseded")]
    assert ledger.facts_by_id("ana", [old.id])[0].superseded_by == new.id
    assert live(ledger) == {"Likes tea", new.text}
    assert live(ledger, "ben") == {"Likes tea"}


def test_what_is_still_true_of_ended_words_stays_with_its_date_and_turn(ledger: Ledger) -> None:
    told = words("food bank on tuesdays, aerobics on thursdays", "What do you do all week?")
    old = say(ledger, "x", told).added[0]
    rest = "food bank on tuesdays"
    new = words("aerobics is wednesdays now", ends=(old.id,), rests=((old.id, rest),))
    recorded = say(ledger, new.text, new, at=day(3))
    assert why_ended(recorded) == [(old.text, "superseded")]
    assert live(ledger) == {new.text, rest}
    kept = next(row for row in recorded.added if row.text == rest)
    same = ("said", "asked", "category", "turn_id", "valid_from", "source_type")
    assert [getattr(kept, name) for name in same] == [getattr(old, name) for name in same]
    assert [row.id for row, _ in ledger.search_words("ana", "food bank", 5)] == [kept.id]

    first = replace(turn(told.text), id=old.turn_id or "", assistant_before=told.asked)
    assert not ledger.compare_passes([(first, allowed(told.text, told))])[0]
    ledger.erase("ana", [kept.id])
    past = ledger.live_facts("ana", include_past=True)
    assert not any("food" in f"{row.text} {row.said}" for row in past)


def test_older_turn_does_not_end_a_newer_memory(ledger: Ledger) -> None:
    newer = say(ledger, "y", lives_in("York"), at=day(30)).added[0]
    late = say(ledger, "x", lives_in("Leeds", ends=(newer.id,)), at=day(0)).added[0]
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
    here, there = say(ledger, "x", lives_in("Oslo"), lives_in("Graz"), at=day(2)).added
    say(ledger, "not oslo", gone(here), at=day(3))
    assert ledger.facts_by_id("ana", [there.id])[0].conflict is False


def test_the_same_words_are_one_memory_unless_they_answer_another_question(ledger: Ledger) -> None:
    flat = words("the second one", "Which flat did you take?")
    say(ledger, "x", flat)
    assert say(ledger, "y", words("The second one!", flat.asked), at=day(1)).added == ()
    assert say(ledger, "y", words("the second one"), at=day(1)).added == ()
    car = words("the second one", "Which car was it?")
    assert len(say(ledger, "z", car, at=day(2)).added) == 1


def test_near_duplicates_merge_only_with_the_same_names_and_denials(ledger: Ledger) -> None:
    known = say(ledger, "x", fact("Plays the cello in a quartet", "preferences")).added[0]

    def added(text: str, number: int) -> int:
        said, told = turn(text, at=day(number)), fact(text, "preferences")
        near = [(known.id, 0.97)]
        return len(ledger.record(said, allowed(text, told), near=lambda *_: near).added)

    assert added("Is playing cello in a quartet", 1) == 0
    assert added("Plays cello in a quartet of 5", 2) == 1
    assert added("Does not play cello in a quartet", 3) == 1


def test_a_turn_recorded_again_changes_nothing(ledger: Ledger) -> None:
    say(ledger, "x", likes("tea"))
    first = turn("i live in leeds and like tea", at=day(1))
    told = (lives_in("Leeds"), likes("tea"))
    ledger.record(first, allowed(first.text, *told))
    say(ledger, "y", lives_in("York"), at=day(2))
    before = ledger.live_facts("ana", include_past=True)
    again = [replace(one, id="") for one in told]
    recorded = ledger.record(first, allowed(first.text, *again))
    assert (recorded.added, recorded.ended) == ((), ())
    assert ledger.live_facts("ana", include_past=True) == before


def test_an_id_that_is_taken_is_not_taken_again(ledger: Ledger) -> None:
    mine = say(ledger, "x", likes("tea")).added[0]
    stolen = likes("jazz", id=mine.id)
    added = ledger.record(turn("y", user="ben"), allowed("y", stolen)).added[0]
    assert added.id != mine.id
    assert live(ledger) == {"Likes tea"}
