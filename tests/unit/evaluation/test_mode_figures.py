"""Figures of a mode, on turns whose figures can be counted by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.scripted_model import label_of, read_answers, scripted_answers
from bmo.evaluation.mode_figures import Target, figures_of, score_of
from bmo.evaluation.mode_runs import ModeRun, RanTurn
from bmo.replay.scenario import ExpectedFact, ScenarioTurn
from bmo.turn import Category, Decision, StoredFact, Verdict

pytestmark = pytest.mark.unit


def row(text: str, verdict: Verdict, *facts: tuple[Category, str]) -> ScenarioTurn:
    wanted = tuple(ExpectedFact(category=category, contains=(word,)) for category, word in facts)
    return ScenarioTurn(user=text, verdict=verdict, facts=wanted)


def ran(
    right: ScenarioTurn,
    first: Verdict,
    end: Verdict,
    before: tuple[StoredFact, ...] = (),
    after: tuple[StoredFact, ...] = (),
    asked: bool = False,
) -> RanTurn:
    decision = Decision(first, ("other",), "because", 0.9, elapsed_us=100.0)
    return RanTurn(right, decision, end, before, after, "held" if asked else None)


TEA = StoredFact(
    "a", "local", "user", None, "", "likes tea", "preferences", "preference", "many", "positive",
    0.9, datetime(2026, 3, 1, tzinfo=UTC),
)  # fmt: skip
LEEDS = replace(TEA, text="lives in Leeds", category="personal_facts")
WRONG = replace(TEA, text="likes Leeds", category="goals")


@pytest.fixture
def run() -> ModeRun:
    found = ModeRun("hybrid", "rules-test", "a script")
    tea: tuple[Category, str] = ("preferences", "tea")
    leeds: tuple[Category, str] = ("personal_facts", "Leeds")
    found.turns = [
        ran(row("tea for me", "allow", tea), "allow", "allow", (TEA,), (TEA,)),
        ran(row("leeds is home", "allow", leeds), "hold", "allow", (), (LEEDS,), True),
        ran(row("leeds again", "allow", leeds), "hold", "allow", (), (WRONG,), True),
        ran(row("tea again", "allow", tea), "hold", "discard", (), (), True),
        ran(row("thanks", "discard"), "discard", "discard"),
        ran(row("maybe", "hold"), "hold", "hold", (), (), True),
    ]
    found.settled.seconds = [0.1, 0.3]
    found.settled.calls = 2
    found.settled.cost = 0.06
    found.settled.tokens = 1800
    return found


def test_precision_recall_and_f1_by_category(run: ModeRun) -> None:
    preferences = score_of(run.turns, "preferences")
    assert (preferences.precision.value, preferences.recall.value) == (1.0, 0.5)
    assert preferences.f1 == pytest.approx(2 / 3)
    everything = score_of(run.turns)
    assert (everything.precision.hits, everything.precision.total) == (2, 3)
    assert (everything.recall.hits, everything.recall.total) == (2, 4)
    any_category = score_of(run.turns, with_category=False)
    assert (any_category.precision.hits, any_category.recall.hits) == (3, 3)


def test_shares_of_skips_holds_and_what_the_model_recovered(run: ModeRun) -> None:
    shares = figures_of(run).shares
    counted = {name: (value.hits, value.total) for name, value in shares.items()}
    assert counted["held at once"] == (4, 6)
    assert counted["held in the end"] == (1, 6)
    assert counted["recovered by the model"] == (1, 3)
    assert counted["durable turns skipped"] == (1, 4)
    assert counted["skips that were durable"] == (1, 2)
    assert counted["discards that stored"] == (0, 1)


def test_targets_say_whether_they_are_met(run: ModeRun) -> None:
    targets = figures_of(run).targets
    assert targets["precision"] == Target(2 / 3, 0.85, False)
    assert targets["recall, any category"] == Target(0.75, 0.60, True)
    assert targets["durable turns skipped"] == Target(0.25, 0.05, False)


def test_cost_and_latency(run: ModeRun) -> None:
    numbers = figures_of(run).numbers
    assert numbers["US dollars"] == 0.06
    assert numbers["tokens per 100 turns"] == pytest.approx(30_000)
    assert numbers["model calls per 100 turns"] == pytest.approx(100 / 3)
    assert numbers["US dollars per 1000 turns"] == pytest.approx(10.0)
    assert numbers["model ms a call p50"] == pytest.approx(200.0)


def test_the_scripted_model_is_right_at_rate_0_and_says_what_it_is() -> None:
    turns = [
        row("oh by the way, tea is what i drink. anyway", "allow", ("preferences", "tea")),
        row("thanks", "discard"),
        row("it is the same as yours", "allow", ("preferences", "coffee")),
    ]
    answers = scripted_answers(turns, 0.0)
    (tea,) = answers[turns[0].user]
    assert (tea["quote"], tea["category"]) == ("tea is what i drink", "preferences")
    assert answers["thanks"] == []
    assert answers[turns[2].user] == [], "what is not in the words cannot be quoted"
    assert "not a real model" in label_of(0.1)


def test_errors_come_at_the_stated_rate_and_repeat() -> None:
    turns = [row(f"tea number {n}", "allow", ("preferences", "tea")) for n in range(400)]
    turns += [row(f"thanks {n}", "discard") for n in range(400)]
    one, two = scripted_answers(turns, 0.25), scripted_answers(turns, 0.25)
    assert one == two
    right = {"category": "preferences"}
    wrong = sum(
        not (
            told
            and told[0]["category"] == right["category"]
            and told[0]["quote"] == told[0]["statement"] == text
        )
        if text.startswith("tea")
        else bool(told)
        for text, told in one.items()
    )
    assert 140 <= wrong <= 260, "200 of 800 are expected"
    assert scripted_answers(turns, 0.25, seed=1) != one


def test_recorded_answers_are_given(tmp_path: Path) -> None:
    said = row("tea for me", "allow", ("preferences", "tea"))
    path = tmp_path / "answers.jsonl"
    fact = {"quote": "tea", "statement": "I like tea", "category": "preferences", "confidence": 1}
    path.write_text(json.dumps({"text": "tea for me", "facts": [fact]}) + "\n")
    assert scripted_answers([said], 0.0, recorded=read_answers(path)) == {"tea for me": [fact]}
    assert "1 answers by hand" in label_of(0.1, 1)
