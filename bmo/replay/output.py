"""A replay's result for people in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from bmo.replay.rows import RecordedScenario, TurnRow

VERDICT_STYLE = {"allow": "green", "hold": "yellow", "discard": "dim"}
"""Colours of the verdicts."""


def print_scenario(console: Console, result: RecordedScenario, *, verbose: bool = False) -> None:
    """Shows a scenario: one line when it holds, its differences when not."""
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


def print_report(console: Console, results: Sequence[RecordedScenario]) -> None:
    """The closing line: how many scenarios hold, and how many turns."""
    turns = [turn for result in results for turn in result.turns]
    console.print(
        f"{sum(result.holds for result in results)} of {len(results)} scenarios hold; "
        f"{sum(not turn.mismatches for turn in turns)} of {len(turns)} turns without a difference."
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
