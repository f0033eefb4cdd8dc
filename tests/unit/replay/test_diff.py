"""Two recordings side by side: what changed, why, and what a run is failed for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmo.replay.changes import ANY, Change, FailOn, parse_fail_on
from bmo.replay.diff import ReplayDiff, compare_recordings, failures
from bmo.replay.rows import RecordedScenario, ScoredRow, TurnRow
from bmo.replay.scenario import ScenarioError
from tests.unit.replay.rows import ended, not_recalled, recalled, said, scenario_of, stored

pytestmark = pytest.mark.unit

LEEDS = stored("Lives in Leeds", slot="lives_in")


def diff_of(old: TurnRow, new: TurnRow) -> ReplayDiff:
    return compare_recordings([scenario_of(old)], [scenario_of(new)])


def only(diff: ReplayDiff) -> Change:
    (change,) = diff.changes
    return change


def test_the_same_recording_has_no_difference() -> None:
    same = scenario_of(
        said("i live in leeds", "allow", stored=(LEEDS,), profile=(), profile_context=""),
        said("where do i live", recall=recalled("Lives in Leeds")),
        live=("Lives in Leeds",),
    )
    diff = compare_recordings([same], [same])
    assert diff.changes == ()
    assert (diff.scenarios, diff.turns, diff.notes) == (1, 2, ())


def test_a_memory_that_is_newly_stored_or_no_longer() -> None:
    without, with_it = said("x", "allow"), said("x", "allow", stored=(LEEDS,))
    gained = only(diff_of(without, with_it))
    assert (gained.kind, gained.sign, gained.cause) == ("stored", "+", "lives")
    assert gained.text == "Lives in Leeds [personal_facts]"
    assert (gained.scenario, gained.session, gained.turn, gained.words) == ("s", 0, 0, "x")
    assert only(diff_of(with_it, without)).sign == "-"


def test_the_cause_of_a_memory_without_a_rule_is_the_method() -> None:
    judged = stored("Has a boat", rule="", extraction_method="judge:2")
    assert only(diff_of(said("x"), said("x", stored=(judged,)))).cause == "judge:2"
    nameless = stored("Has a boat", rule="")
    assert only(diff_of(said("x"), said("x", rule="r", stored=(nameless,)))).cause == "r"


def test_a_memory_that_changed_is_one_change() -> None:
    old = said("x", "allow", stored=(LEEDS,))
    moved = stored("Lives in Leeds", slot="lives_in", category="goals", rule="plans")
    change = only(diff_of(old, said("x", "allow", stored=(moved,))))
    assert (change.sign, change.cause) == ("~", "lives -> plans")
    assert change.note == "category personal_facts -> goals"
    reworded = stored("Lives in Leeds, England", slot="lives_in")
    change = only(diff_of(old, said("x", "allow", stored=(reworded,))))
    assert (change.sign, change.text) == ("~", "Lives in Leeds -> Lives in Leeds, England")


def test_the_same_memory_by_another_rule_is_no_change_in_behaviour() -> None:
    other = stored("Lives in Leeds", slot="lives_in", rule="lives_2")
    assert diff_of(said("x", stored=(LEEDS,)), said("x", stored=(other,))).changes == ()


def test_a_verdict_names_old_and_new_rule() -> None:
    old = said("x", "allow", rule="likes", reason="stated preference")
    new = said("x", "hold", extraction_method="judge:2", reason="judged uncertain")
    change = only(diff_of(old, new))
    assert (change.kind, change.text, change.cause) == (
        "verdict",
        "allow -> hold",
        "likes -> judge:2",
    )
    assert change.note == "stated preference -> judged uncertain"
    never = said("x", None, reason="", extraction_method="")
    assert only(diff_of(old, never)).text == "allow -> undecided"


def test_a_signal_is_told_where_the_verdict_is_the_same() -> None:
    old, new = said("x", signals=("goal",)), said("x", signals=("goal", "temporal"))
    change = only(diff_of(old, new))
    assert (change.kind, change.text) == ("signal", "goal -> goal, temporal")


def test_what_a_turn_ends() -> None:
    old, new = said("x", ended=(ended("Lives in Leeds"),)), said("x", rule="moves")
    change = only(diff_of(old, new))
    assert (change.kind, change.sign, change.text) == ("ended", "-", "Lives in Leeds (superseded)")
    assert only(diff_of(new, old)).sign == "+"


def kinds(diff: ReplayDiff) -> list[tuple[str, str, str]]:
    return [(c.kind, c.sign, c.cause) for c in diff.changes]


def test_a_recall_that_no_longer_runs() -> None:
    old, new = said("x", recall=recalled("A")), said("x", recall=not_recalled("command"))
    assert kinds(diff_of(old, new)) == [
        ("recall", "~", "own_fact_question -> command"),
        ("recall", "-", "not asked: command"),
        ("context", "~", "other memories"),
    ]
    assert kinds(diff_of(new, old))[:2] == [
        ("recall", "~", "command -> own_fact_question"),
        ("recall", "+", "asked: own_fact_question"),
    ]


def test_why_a_memory_is_no_longer_given() -> None:
    old = said("x", recall=recalled("A", "B"))
    left = ScoredRow(text="B", why="score 0.20 under 0.30", score=0.2)
    new = said("x", recall=recalled("A", left_out=(left,)))
    assert kinds(diff_of(old, new))[0] == ("recall", "-", "left out: score 0.20 under 0.30")
    assert kinds(diff_of(old, said("x", recall=recalled("A"))))[0] == ("recall", "-", "not found")
    assert kinds(diff_of(new, old))[0] == ("recall", "+", "found by slot")


def test_a_memory_that_is_not_stored_cannot_be_given() -> None:
    asked, unasked = recalled("Lives in Leeds"), recalled()
    old = scenario_of(said("a", "allow", stored=(LEEDS,)), said("b", recall=asked))
    new = scenario_of(said("a", "allow"), said("b", recall=unasked))
    assert ("recall", "-", "no longer stored: lives") in kinds(compare_recordings([old], [new]))
    assert ("recall", "+", "newly stored: lives") in kinds(compare_recordings([new], [old]))


def test_the_block_is_compared_byte_by_byte() -> None:
    old = said("x", recall=recalled("A", "B"))
    new = said("x", recall=recalled("B", "A"))
    change = only(diff_of(old, new))
    assert (change.kind, change.cause) == ("context", "order, dates or wording of the block")
    old, new = said("x", profile_context="- A\n- B"), said("x", profile_context="- A\n- C")
    assert only(diff_of(old, new)).text == "- B; + C"


def test_version_0_has_no_blocks_to_compare() -> None:
    bare = recalled("B", "A", context=None, elapsed_ms=None)
    old = scenario_of(said("x", recall=bare, gate_ms=None), format="bmo-replay/0")
    diff = compare_recordings([old], [scenario_of(said("x", recall=recalled("A", "B")))])
    assert diff.changes == ()
    assert "bmo-replay/0" in diff.notes[0]
    assert [(time.name, time.before is None) for time in diff.latency][1] == ("gate", True)
    texts = compare_recordings(
        [scenario_of(said("x", profile=("A", "B")))], [scenario_of(said("x", profile=("B", "A")))]
    )
    assert only(texts).cause == "profile"


def test_what_is_remembered_at_the_end() -> None:
    old = scenario_of(said("x", "allow", stored=(LEEDS,)), live=("Lives in Leeds",))
    new = scenario_of(said("x", "allow", stored=(LEEDS,)), live=("Lives in York",))
    assert kinds(compare_recordings([old], [new])) == [
        ("live", "-", "lives"),
        ("live", "+", "unknown"),
    ]


def test_differences_from_the_scenario_come_and_go() -> None:
    old = scenario_of(said("x", mismatches=("verdict hold",)), mismatches=("no live memory",))
    new = scenario_of(said("x", mismatches=("verdict allow",)))
    assert [(c.sign, c.text) for c in compare_recordings([old], [new]).changes] == [
        ("-", "verdict hold"),
        ("+", "verdict allow"),
        ("-", "no live memory"),
    ]


def test_scenarios_on_one_side_only_are_named_and_the_rest_is_compared() -> None:
    both = scenario_of(said("x"), name="both")
    old, new = scenario_of(said("y"), name="old"), scenario_of(said("z"), name="new")
    diff = compare_recordings([both, old], [new, both])
    assert [(c.sign, c.text) for c in diff.changes] == [("+", "new"), ("-", "old")]
    assert (diff.scenarios, diff.turns) == (1, 1)


def test_turns_are_paired_by_their_words() -> None:
    old = scenario_of(said("a"), said("b", "allow"), said("c"))
    new = scenario_of(said("a"), said("new"), said("b", "hold"), said("c", session=0))
    diff = compare_recordings([old], [new])
    assert [(c.kind, c.sign, c.turn) for c in diff.changes] == [
        ("verdict", "~", 2),
        ("scenario", "+", 1),
    ]
    assert diff.turns == 3
    gone = compare_recordings([new], [old])
    assert [c.text for c in gone.changes if c.kind == "scenario"] == ["new"]


def test_secrets_are_shown_masked() -> None:
    old = said("my pin is 4711", written="my pin is [pin]")
    new = said("my pin is 4711", "hold", written="my pin is [pin]")
    assert only(diff_of(old, new)).words == "my pin is [pin]"


def test_modes_that_differ_are_said() -> None:
    old, new = scenario_of(said("x"), mode="pattern"), scenario_of(said("x"))
    (note,) = compare_recordings([old], [new]).notes
    assert note == "1 scenarios were played in mode pattern before and in mode local now."


@pytest.mark.parametrize(
    ("before", "after", "slower"), [(2.0, 2.9, 0), (2.0, 8.0, 1), (20.0, 24.0, 0), (8.0, 2.0, 0)]
)
def test_slower_is_beyond_a_factor_and_a_time(before: float, after: float, slower: int) -> None:
    old = scenario_of(*(said(str(n), hook_ms=before) for n in range(20)))
    new = scenario_of(*(said(str(n), hook_ms=after) for n in range(20)))
    diff = compare_recordings([old], [new])
    assert diff.count("latency") == slower
    assert failures(diff, parse_fail_on("latency")) == ({"latency": 1} if slower else {})


def test_a_few_turns_say_nothing_about_time() -> None:
    assert diff_of(said("x", hook_ms=1.0), said("x", hook_ms=900.0)).changes == ()


def test_groups_are_the_largest_cause_first() -> None:
    old = scenario_of(*(said(str(n)) for n in range(3)))
    new = scenario_of(
        said("0", stored=(stored("A", rule="a"),)),
        said("1", stored=(stored("B", rule="b"),)),
        said("2", stored=(stored("C", rule="b"),)),
    )
    diff = compare_recordings([old], [new])
    assert [(cause, len(group)) for cause, group in diff.by_cause("stored")] == [("b", 2), ("a", 1)]


verdicts = st.sampled_from(["allow", "hold", "discard", None])
texts = st.sampled_from(["A", "B", "C"])
turns = st.builds(
    lambda verdict, kept, given_, asked: said(
        "same words",
        verdict,
        stored=tuple(stored(text, slot=text.lower()) for text in kept),
        recall=recalled(*given_) if asked else not_recalled(),
    ),
    verdicts,
    st.lists(texts, max_size=3),
    st.lists(texts, max_size=3, unique=True),
    st.booleans(),
)
scenarios: st.SearchStrategy[RecordedScenario] = st.lists(turns, min_size=1, max_size=4).map(
    lambda rows: scenario_of(*rows)
)


@given(scenarios, scenarios)
def test_the_way_back_has_the_signs_turned(old: RecordedScenario, new: RecordedScenario) -> None:
    there, back = compare_recordings([old], [new]), compare_recordings([new], [old])
    turned = {"+": "-", "-": "+", "~": "~"}
    for kind in ("stored", "recall", "verdict", "scenario"):
        assert sorted(turned[c.sign] for c in there.changes if c.kind == kind) == sorted(
            c.sign for c in back.changes if c.kind == kind
        )


@given(scenarios)
def test_nothing_differs_from_itself(scenario: RecordedScenario) -> None:
    assert compare_recordings([scenario], [scenario]).changes == ()


def test_fail_on_is_read() -> None:
    assert parse_fail_on("stored, recall-") == (FailOn("stored"), FailOn("recall", "-"))
    assert parse_fail_on("mismatch") == (FailOn("mismatch", "+"),)
    assert {rule.kind for rule in parse_fail_on("any")} == set(ANY)
    assert parse_fail_on("stored,stored") == (FailOn("stored"),)


@pytest.mark.parametrize("text", ["store", "stored,verdikt", "", " , ", "stored*", "+"])
def test_fail_on_that_says_nothing_is_one_sentence(text: str) -> None:
    with pytest.raises(ScenarioError, match=r"^--fail-on: .*stored, ended.*\.$"):
        parse_fail_on(text)


def test_failures_count_the_named_sign() -> None:
    lost = diff_of(said("x", stored=(LEEDS,)), said("x"))
    assert failures(lost, parse_fail_on("stored+")) == {}
    assert failures(lost, parse_fail_on("stored-,verdict")) == {"stored-": 1}
    gone = replace(lost, changes=(Change("mismatch", "-", "r", "gone", "s"),))
    assert failures(gone, parse_fail_on("any")) == {}
