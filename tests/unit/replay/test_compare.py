"""Where a replay differs from what the scenario says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from bmo.replay.compare import (
    EndedMemory,
    ScenarioResult,
    Stored,
    TurnResult,
    end_mismatches,
    turn_mismatches,
)
from bmo.replay.recording import turn_row
from bmo.replay.scenario import Ends, ScenarioSession, ScenarioTurn
from bmo.turn import Decision, Recall, RecallPlan, Verdict
from tests.fakes.memory_session import recall_of, stored_fact

pytestmark = pytest.mark.unit


def expected(**fields: Any) -> ScenarioTurn:
    return ScenarioTurn.model_validate({"user": "x", "verdict": "discard", **fields})


def visit(turn: ScenarioTurn, **fields: Any) -> ScenarioSession:
    return ScenarioSession(at=datetime(2026, 3, 1, tzinfo=UTC), turns=(turn,), **fields)


def decided(verdict: Verdict) -> Decision:
    return Decision(verdict=verdict, signals=("other",), reason="because", confidence=1.0)


def result(verdict: Verdict = "discard", **fields: Any) -> TurnResult:
    return TurnResult(
        scenario="s", session=0, turn=0, user="x", decision=decided(verdict), **fields
    )


def mismatches(turn: ScenarioTurn, got: TurnResult, **session: Any) -> tuple[str, ...]:
    return turn_mismatches(turn, visit(turn, **session), got)


BROTHER = {"category": "relationships", "contains": ["brother", "sam"], "lacks": ["Tom"]}


def test_what_agrees_has_no_mismatch() -> None:
    turn = expected(verdict="allow", facts=[BROTHER])
    stored = (Stored(stored_fact("Has a brother named Sam", category="relationships")),)
    assert mismatches(turn, result("allow", stored=stored)) == ()
    said_again = (Stored(stored[0].fact, confirmed=True),)
    assert mismatches(turn, result("allow", stored=said_again)) == ()


@pytest.mark.parametrize(
    ("text", "category", "said"),
    [
        ("Has a brother", "relationships", "expected relationships with 'brother' + 'sam'"),
        ("Has a brother named Sam", "personal_facts", "as personal_facts, expected relationships"),
        ("Brother Sam, not Tom", "relationships", "must lack 'Tom'"),
    ],
)
def test_a_fact_that_differs(text: str, category: str, said: str) -> None:
    turn = expected(verdict="allow", facts=[BROTHER])
    stored = (Stored(stored_fact(text, category=category)),)
    (only,) = mismatches(turn, result("allow", stored=stored))
    assert said in only


def test_strings_of_one_fact_must_be_in_one_memory() -> None:
    turn = expected(verdict="allow", facts=[BROTHER])
    stored = tuple(
        Stored(stored_fact(text, category="relationships")) for text in ("Has a brother", "Sam")
    )
    assert len(mismatches(turn, result("allow", stored=stored))) == 1


def test_a_verdict_that_differs_and_a_turn_that_never_came() -> None:
    assert mismatches(expected(), result("hold")) == ("verdict hold (because), expected discard",)
    lost = TurnResult(scenario="s", session=0, turn=0, user="x")
    assert mismatches(expected(), lost) == ("the turn never reached the gate",)


def test_recall_that_differs() -> None:
    asks = expected(recall=True, injects=[["brother", "sam"]], omits=["nuts"])
    right = result(recall=recall_of("Has a brother named Sam"))
    assert mismatches(asks, right) == ()
    idle = Recall(plan=RecallPlan(recall=False, trigger="statement"))
    assert mismatches(asks, result(recall=idle)) == (
        "recall did not run (statement), expected recall",
        "given nothing, expected a memory with 'brother' + 'sam'",
    )
    wrong = result(recall=recall_of("Has a brother", "Is allergic to nuts"))
    assert mismatches(asks, wrong) == (
        "given 'Has a brother', 'Is allergic to nuts', expected a memory with 'brother' + 'sam'",
        "given 'Is allergic to nuts', which has 'nuts'",
    )
    assert mismatches(expected(), right) == ("recall ran (own_fact_question), expected none",)


def test_the_profile_is_looked_at_on_the_first_turn_only() -> None:
    wanted = (("Sam",),)
    first = result(profile=(stored_fact("Lives in Leeds"),))
    assert mismatches(expected(), first, profile=wanted) == ("profile lacks 'Sam'",)
    assert mismatches(expected(), result(), profile=wanted) == ()


def test_the_end() -> None:
    ends = Ends(keeps=(("brother", "sam"),), drops=("Tom",))
    assert end_mismatches(ends, [stored_fact("Has a brother named SAM")]) == ()
    assert end_mismatches(ends, [stored_fact("Has a brother"), stored_fact("Named Tom")]) == (
        "no live memory has 'brother' + 'sam'",
        "live memory 'Named Tom' has 'Tom'",
    )


def test_all_mismatches_say_where() -> None:
    turn = result()
    every = ScenarioResult("s", (turn,), (), ("gone",))
    assert every.all_mismatches == ("at the end: gone",)
    assert not every.holds
    assert ScenarioResult("s", (turn,), (), ()).holds


def test_the_json_of_a_turn_has_the_agreed_fields() -> None:
    stored = (Stored(stored_fact("Has a brother named Sam", slot="brother", rule_id="kin")),)
    row = turn_row(
        result(
            "allow",
            stored=stored,
            ended=(EndedMemory("Has a brother named Tom", "corrected", "Has a dog", "t7"),),
            recall=recall_of("Lives in Leeds"),
            profile=(),
            hook_ms=0.12345,
            turn_id="t8",
        ),
        {"t7": (0, 3)},
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
        {
            "text": "Has a brother named Tom",
            "why": "corrected",
            "replaced_by": "Has a dog",
            "said": [0, 3],
        }
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
    assert got["hook_ms"] == 0.123


def test_a_secret_is_masked_in_what_is_shown() -> None:
    spoken = "my card number is 4012 8888 8888 1881"
    masked = "my card number is [card]"
    decision = Decision("discard", ("sensitive",), "sensitive", 1.0, text=masked)
    gated = TurnResult(scenario="s", session=0, turn=0, user=spoken, decision=decision)
    assert turn_row(gated).words == masked
    never = turn_row(TurnResult(scenario="s", session=0, turn=0, user=spoken))
    assert "4012" not in never.words
    plain = turn_row(
        TurnResult(scenario="s", session=0, turn=0, user="hi", decision=decided("hold"))
    )
    assert (plain.words, plain.written) == ("hi", None)
