"""Extractors: the gate's own facts, and cheapest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from bmo.extract import Extraction, Known, Orchestrator, PatternExtractor
from bmo.extract.extractor import ExtractionFailed
from bmo.gate import WriteGate
from bmo.settings import load_settings
from bmo.turn import Fact, Turn

pytestmark = pytest.mark.unit


@dataclass
class Scripted:
    """An extractor that answers what it is told to."""

    name: str
    cost: float
    facts: tuple[Fact, ...] = ()
    available: bool = True
    fails: bool = False
    estimated_latency_ms: float = 1.0
    calls: list[int] = field(default_factory=list)

    def is_available(self) -> bool:
        return self.available

    def extract(self, turns: Sequence[Turn], known: Known) -> Extraction:
        self.calls.append(len(turns))
        if self.fails:
            raise ExtractionFailed(f"{self.name} is down")
        return Extraction({turn.id: self.facts for turn in turns}, self.name, self.cost)


FACT = Fact(text="Has a dog", category="relationships")
TURN = Turn(text="i have a dog")


def test_patterns_find_the_gates_facts_with_the_turns_before_as_context() -> None:
    gate = WriteGate.from_settings(load_settings(gatekeeper_mode="pattern"), load_judge=False)
    turns = [Turn(text="my brother is sam"), Turn(text="what time is it")]
    extraction = PatternExtractor(gate).extract(turns, Known())
    assert [fact.text for fact in extraction.facts[turns[0].id]] == ["Has a brother named Sam"]
    assert extraction.facts[turns[1].id] == ()
    assert (extraction.method, extraction.cost) == ("pattern", 0.0)


def test_the_cheapest_that_finds_something_is_the_last_one_asked() -> None:
    free, cheap, dear = Scripted("free", 0), Scripted("cheap", 1, (FACT,)), Scripted("dear", 2)
    extraction = Orchestrator([dear, cheap, free]).extract([TURN], Known())
    assert extraction is not None
    assert extraction.method == "cheap"
    assert (free.calls, cheap.calls, dear.calls) == ([1], [1], [])


def test_one_that_fails_or_is_away_is_passed_over() -> None:
    away, down = Scripted("away", 0, available=False), Scripted("down", 1, fails=True)
    up = Scripted("up", 2, (FACT,))
    extraction = Orchestrator([up, down, away]).extract([TURN], Known())
    assert extraction is not None
    assert extraction.method == "up"
    assert away.calls == []


def test_nothing_found_is_an_answer_and_nobody_there_is_none() -> None:
    answered = Orchestrator([Scripted("free", 0)]).extract([TURN], Known())
    assert answered is not None
    assert answered.facts == {TURN.id: ()}
    assert Orchestrator([Scripted("down", 0, fails=True)]).extract([TURN], Known()) is None
