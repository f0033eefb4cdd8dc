"""A replay's result for people in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Console
from rich.text import Text

from bmo.replay.rows import RecordedScenario, TurnRow

VERDICT_STYLE = {"allow": "green", "hold": "yellow", "discard": "dim"}
"""Colours of the verdicts, here and in the terminal chat."""


def print_scenario(console: Console, result: RecordedScenario, *, verbose: bool = False) -> None:
    """Shows a scenario: one line when it holds, its differences when not.

    Args:
        console: Where to.
        result: The replayed scenario.
        verbose: Every turn with what was stored, held, recalled and injected.
    """
    mark = Text("holds ", "green") if result.holds else Text("differs ", "red")
    count = len(result.all_mismatches)
    seconds = "" if result.end.elapsed_s is None else f", {result.end.elapsed_s:.1f} s"
    tail = "" if result.holds else f", {count} difference{'s' if count != 1 else ''}"
    console.print(
        mark,
        Text(f"{result.id} ({len(result.turns)} turns{seconds}{tail})"),
        sep="",
    )
    for turn in result.turns:
        if verbose or turn.mismatches:
            _print_turn(console, turn)
    for mismatch in result.end.mismatches:
        console.print(Text(f"  at the end: {mismatch}", "red"))


def print_report(
    console: Console,
    results: Iterable[RecordedScenario],
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
    excused = [r for r in every if not r.holds and r.id in known]
    surprising = [r for r in held if r.id in known]
    clean = sum(not turn.mismatches for turn in turns)
    console.print(
        Text(
            f"{len(held)} of {len(every)} scenarios hold; "
            f"{clean} of {len(turns)} turns without a difference."
        )
    )
    for result in excused:
        console.print(Text(f"  expected to differ: {result.id}: {known[result.id]}"))
    for result in surprising:
        console.print(
            Text(f"  {result.id} holds now: take it out of expected_failures.yaml", "yellow")
        )


def _print_turn(console: Console, turn: TurnRow) -> None:
    console.print(Text(f"  [{turn.session}.{turn.turn}] {turn.words}", "bold"))
    if turn.verdict is not None:
        style = VERDICT_STYLE[turn.verdict]
        console.print(Text(f"    {turn.verdict}", style), Text(f" {turn.reason}"), sep="")
    for stored in turn.stored:
        known = " (known)" if stored.confirmed else ""
        console.print(Text(f"    + {stored.text} [{stored.category}]{known}"))
    for ended in turn.ended:
        console.print(Text(f"    - {ended.text} ({ended.why})"))
    if turn.recall.triggered:
        given = "; ".join(turn.recall.memories) or "nothing found"
        console.print(Text(f"    recall ({turn.recall.trigger}): {given}"))
    for mismatch in turn.mismatches:
        console.print(Text(f"    ! {mismatch}", "red"))
