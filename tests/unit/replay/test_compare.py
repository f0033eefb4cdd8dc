"""Where a replay differs from what the scenario says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bmo.replay.compare import end_mismatches, turn_mismatches
from bmo.replay.played import recall_row, stored_row, with_decision, with_profile
from bmo.replay.rows import RecordedScenario, ScenarioRow, StoredRow, TurnRow
from bmo.replay.scenario import Ends, ScenarioSession, ScenarioTurn
from bmo.turn import Decision, Recall, RecallPlan, Verdict
from tests.fakes.memory_session import recall_of, stored_fact
from tests.unit.replay.rows import ended, not_recalled, said, scenario_of

pytestmark = pytest.mark.unit


def expected(**fields: Any) -> ScenarioTurn:
    return ScenarioTurn.model_validate({"user": "x", "verdict": "discard", **fields})


def visit(turn: ScenarioTurn, **fields: Any) -> ScenarioSession:
    return ScenarioSession(at=datetime(2026, 3, 1, tzinfo=UTC), turns=(turn,), **fields)


def result(verdict: Verdict | None = "discard", **fields: Any) -> TurnRow:
    return said("x", verdict, **fields)


def kept(text: str, **fields: Any) -> StoredRow:
    return stored_row(stored_fact(text, **fields))


def given(*texts: str) -> dict[str, Any]:
    return {"recall": recall_row(recall_of(*texts), {})}


def mismatches(turn: ScenarioTurn, got: TurnRow, **session: Any) -> tuple[str, ...]:
    return turn_mismatches(turn, visit(turn, **session), got)


BROTHER = {"category": "relationships", "contains": ["brother", "sam"], "lacks": ["Tom"]}


def test_what_agrees_has_no_mismatch() -> None:
    turn = expected(verdict="allow", facts=[BROTHER])
    stored = kept("Has a brother named Sam", category="relationships")
    assert mismatches(turn, result("allow", stored=(stored,))) == ()
    said_again = stored.model_copy(update={"confirmed": True})
    assert mismatches(turn, result("allow", stored=(said_again,))) == ()


@pytest.mark.parametrize(
    ("text", "category", "differs"),
    [
        ("Has a brother", "relationships", "expected relationships with 'brother' + 'sam'"),
        ("Has a brother named Sam", "personal_facts", "as personal_facts, expected relationships"),
        ("Brother Sam, not Tom", "relationships", "must lack 'Tom'"),
    ],
)
def test_a_fact_that_differs(text: str, category: str, differs: str) -> None:
    turn = expected(verdict="allow", facts=[BROTHER])
    (only,) = mismatches(turn, result("allow", stored=(kept(text, category=category),)))
    assert differs in only


def test_strings_of_one_fact_must_be_in_one_memory() -> None:
    turn = expected(verdict="allow", facts=[BROTHER])
    stored = tuple(kept(text, category="relationships") for text in ("Has a brother", "Sam"))
    assert len(mismatches(turn, result("allow", stored=stored))) == 1


def test_a_verdict_that_differs_and_a_turn_that_never_came() -> None:
    assert mismatches(expected(), result("hold")) == ("verdict hold (because), expected discard",)
    assert mismatches(expected(), result(None)) == ("the turn never reached the gate",)


def test_recall_that_differs() -> None:
    asks = expected(recall=True, injects=[["brother", "sam"]], omits=["nuts"])
    right = result(**given("Has a brother named Sam"))
    assert mismatches(asks, right) == ()
    idle = Recall(plan=RecallPlan(recall=False, trigger="statement"))
    assert mismatches(asks, result(recall=recall_row(idle, {}))) == (
        "recall did not run (statement), expected recall",
        "given nothing, expected a memory with 'brother' + 'sam'",
    )
    wrong = result(**given("Has a brother", "Is allergic to nuts"))
    assert mismatches(asks, wrong) == (
        "given 'Has a brother', 'Is allergic to nuts', expected a memory with 'brother' + 'sam'",
        "given 'Is allergic to nuts', which has 'nuts'",
    )
    assert mismatches(expected(), right) == ("recall ran (own_fact_question), expected none",)
    never = result(recall=not_recalled(""))
    assert mismatches(expected(recall=True), never) == (
        "recall did not run (no recall ran), expected recall",
    )


def test_the_profile_is_looked_at_on_the_first_turn_only() -> None:
    wanted = (("Sam",),)
    first = with_profile(result(), recall_of("Lives in Leeds"))
    assert mismatches(expected(), first, profile=wanted) == ("profile lacks 'Sam'",)
    assert mismatches(expected(), result(), profile=wanted) == ()


def end_of(*texts: str) -> ScenarioRow:
    return ScenarioRow(scenario="s", live=texts, told=texts, mismatches=())


def test_the_end() -> None:
    ends = Ends(keeps=(("brother", "sam"),), drops=("Tom",))
    assert end_mismatches(ends, end_of("Has a brother named SAM")) == ()
    assert end_mismatches(ends, end_of("Has a brother", "Named Tom")) == (
        "no live memory has 'brother' + 'sam'",
        "live memory 'Named Tom' has 'Tom'",
    )


def test_all_mismatches_say_where() -> None:
    turn = result(mismatches=("other",))
    every: RecordedScenario = scenario_of(turn, mismatches=("gone",))
    assert every.all_mismatches == ("session 0, turn 0 ('x'): other", "at the end: gone")
    assert not every.holds
    assert scenario_of(result()).holds


def test_the_json_of_a_turn_has_the_agreed_fields() -> None:
    row = with_profile(
        result(
            "allow",
            stored=(kept("Has a brother named Sam", slot="brother", rule_id="kin"),),
            ended=(ended("Has a dog", "corrected", said=(0, 3)),),
            **given("Lives in Leeds"),
        ),
        recall_of(),
    )
    got = row.model_dump(mode="json")
    assert {
        "scenario",
        "session",
        "turn",
        "user",
        "verdict",
        "signals",
        "reason",
        "stored",
        "ended",
        "recall",
        "profile",
        "mismatches",
        "hook_ms",
    } <= got.keys()
    assert "profile_told" not in got
    assert got["stored"] == [
        {
            "text": "Has a brother named Sam",
            "asked": "",
            "category": "personal_facts",
            "slot": "brother",
            "kind": "fact",
            "confirmed": False,
            "subject": "user",
            "rule": "kin",
            "extraction_method": "",
        }
    ]
    assert got["ended"] == [
        {"text": "Has a dog", "why": "corrected", "replaced_by": "", "said": [0, 3]}
    ]
    recall = got["recall"]
    assert recall["triggered"] is True
    assert recall["trigger"] == "own_fact_question"
    assert recall["memories"] == ["Lives in Leeds (2026-03-01)"]
    assert recall["context"].endswith("- Lives in Leeds")
    assert recall["selected"] == [
        {
            "text": "Lives in Leeds",
            "why": "slot",
            "score": 1.0,
            "parts": {"semantic": 1.0},
            "said": None,
        }
    ]
    assert got["profile"] == []


def test_a_secret_is_masked_in_what_is_shown() -> None:
    spoken = "my card number is 4012 8888 8888 1881"
    masked = "my card number is [card]"
    decision = Decision("discard", ("sensitive",), "sensitive", 1.0, text=masked)
    heard = said(spoken, None, written="my card number is [secret]")
    assert "4012" not in heard.words
    gated = with_decision(heard, decision)
    assert (gated.words, gated.verdict, gated.reason) == (masked, "discard", "sensitive")
    plain = with_decision(said("hi", None), Decision("hold", ("other",), "because", 1.0))
    assert (plain.words, plain.written) == ("hi", None)
