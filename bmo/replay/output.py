"""A replay's result for programs (JSON lines, a stable format) and for people (a report)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from bmo.replay.compare import ScenarioResult, TurnResult

VERDICT_STYLE = {"allow": "green", "hold": "yellow", "discard": "dim"}
"""Colours of the verdicts, here and in the terminal chat."""


def json_lines(result: ScenarioResult) -> Iterator[str]:
    """One JSON object a turn, then one for the scenario.

    A turn: scenario, session, turn, user, verdict, signals, reason, rule, confidence,
    stored[text, category, slot, kind, confirmed], ended[text, why], recall{triggered, trigger,
    memories}, profile (texts on a visit's first turn, else null), mismatches, hook_ms. The
    scenario: scenario, live, mismatches.
    """
    for turn in result.turns:
        yield json.dumps(turn_object(turn), ensure_ascii=False)
    yield json.dumps(
        {
            "scenario": result.scenario,
            "live": list(result.live),
            "mismatches": list(result.mismatches),
        },
        ensure_ascii=False,
    )


def turn_object(turn: TurnResult) -> dict[str, Any]:
    """A turn as a JSON object; see ``json_lines``."""
    decision, recall = turn.decision, turn.recall
    return {
        "scenario": turn.scenario,
        "session": turn.session,
        "turn": turn.turn,
        "user": turn.user,
        "verdict": decision.verdict if decision else None,
        "signals": list(decision.signals) if decision else [],
        "reason": decision.reason if decision else "",
        "rule": decision.rule_id if decision else "",
        "confidence": round(decision.confidence, 4) if decision else None,
        "stored": [
            {
                "text": s.fact.text,
                "category": s.fact.category,
                "slot": s.fact.slot,
                "kind": s.fact.kind,
                "confirmed": s.confirmed,
            }
            for s in turn.stored
        ],
        "ended": [{"text": e.text, "why": e.why} for e in turn.ended],
        "recall": {
            "triggered": recall is not None and recall.plan.recall,
            "trigger": recall.plan.trigger if recall else "",
            "memories": [m.fact.text for m in recall.memories] if recall else [],
        },
        "profile": None if turn.profile is None else list(turn.profile),
        "mismatches": list(turn.mismatches),
        "hook_ms": round(turn.hook_ms, 3),
    }


def print_scenario(console: Console, result: ScenarioResult, *, verbose: bool = False) -> None:
    """Shows a scenario: one line when it holds, its differences when not.

    Args:
        console: Where to.
        result: The replayed scenario.
        verbose: Every turn with what was stored, held, recalled and injected.
    """
    mark = Text("holds ", "green") if result.holds else Text("differs ", "red")
    count = len(result.all_mismatches)
    tail = "" if result.holds else f", {count} difference{'s' if count != 1 else ''}"
    console.print(
        mark,
        Text(f"{result.scenario} ({len(result.turns)} turns, {result.elapsed_s:.1f} s{tail})"),
        sep="",
    )
    for turn in result.turns:
        if verbose or turn.mismatches:
            _print_turn(console, turn)
    for mismatch in result.mismatches:
        console.print(Text(f"  at the end: {mismatch}", "red"))


def print_report(
    console: Console,
    results: Iterable[ScenarioResult],
    expected_failures: Mapping[str, str] | None = None,
) -> None:
    """The closing lines: how many hold, and which differ as expected.

    Args:
        console: Where to.
        results: All replayed scenarios.
        expected_failures: Scenario id -> reason.
    """
    known = expected_failures or {}
    every = list(results)
    turns = [turn for result in every for turn in result.turns]
    held = [result for result in every if result.holds]
    excused = [r for r in every if not r.holds and r.scenario in known]
    surprising = [r for r in held if r.scenario in known]
    clean = sum(not turn.mismatches for turn in turns)
    console.print(
        Text(
            f"{len(held)} of {len(every)} scenarios hold; "
            f"{clean} of {len(turns)} turns without a difference."
        )
    )
    for result in excused:
        console.print(Text(f"  expected to differ: {result.scenario}: {known[result.scenario]}"))
    for result in surprising:
        console.print(
            Text(f"  {result.scenario} holds now: take it out of expected_failures.yaml", "yellow")
        )


def _print_turn(console: Console, turn: TurnResult) -> None:
    console.print(Text(f"  [{turn.session}.{turn.turn}] {turn.user}", "bold"))
    if turn.decision is not None:
        verdict = turn.decision.verdict
        console.print(
            Text(f"    {verdict}", VERDICT_STYLE[verdict]), Text(f" {turn.decision.reason}"), sep=""
        )
    for stored in turn.stored:
        known = " (known)" if stored.confirmed else ""
        console.print(Text(f"    + {stored.fact.text} [{stored.fact.category}]{known}"))
    for ended in turn.ended:
        console.print(Text(f"    - {ended.text} ({ended.why})"))
    if turn.recall is not None and turn.recall.plan.recall:
        given = "; ".join(m.fact.text for m in turn.recall.memories) or "nothing found"
        console.print(Text(f"    recall ({turn.recall.plan.trigger}): {given}"))
    for mismatch in turn.mismatches:
        console.print(Text(f"    ! {mismatch}", "red"))
