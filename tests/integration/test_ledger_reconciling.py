"""What a new fact does to what is known: it confirms, supersedes, corrects, renames or ends it."""

from __future__ import annotations

import pytest

from bmo.ledger import Ledger
from tests.fakes.speaker import (
    allowed,
    brother,
    day,
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
