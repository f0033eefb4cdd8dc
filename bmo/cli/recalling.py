"""``bmo recall`` and ``bmo feedback``: what memory has for a question, why, and if it helped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.gates import plan_row, show_plan
from bmo.cli.held import held_row, show_held
from bmo.cli.jsonl import write_line
from bmo.cli.opening import (
    IdArgument,
    UserOption,
    opened_ledger,
    opened_reader,
    settings_for,
    the_fact,
)
from bmo.cli.tables import fact_row, narrow_table, shown
from bmo.turn import Recall, RecalledMemory, Turn, utc_now

if TYPE_CHECKING:
    from bmo.ledger import LoggedTurn

HELD_SHOWN = 10
"""Held turns shown beside a recall, at most."""

EXPLAINED_BUDGET = 500
"""Tokens of the search that is shown for a question the read gate asks no memory for."""


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("recall")(recall_command)
    app.command("feedback")(feedback_command)


def recall_command(
    question: Annotated[str, typer.Argument(help="What the user says.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Every candidate, its score in parts, in or out.")
    ] = False,
    include_held: Annotated[
        bool, typer.Option("--include-held", help="Held turns that share words, too.")
    ] = False,
    before: Annotated[
        str, typer.Option("--before", help="The assistant's words before the question.")
    ] = "",
    user: UserOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """What memory has for a question, and why."""
    from bmo.recall import ReadGate, Recaller

    if not question.strip():
        raise CommandError("the question is empty: say what to recall for.")
    settings = settings_for(user)
    user_id = settings.bmo_user_id
    gate = ReadGate.from_settings(settings, load_judge=settings.effective_mode != "pattern")
    turn = Turn(text=question, user_id=user_id, assistant_before=before)
    held: list[LoggedTurn] = []
    with opened_reader(settings) as reader:
        recaller = Recaller(reader.ledger, reader.index, settings)
        plan = gate.plan(
            turn,
            subjects=reader.ledger.known_subjects(user_id),
            familiar=lambda words: recaller.familiarity(words, user_id, utc_now()),
        )
        asked = plan
        if not plan.recall and explain:
            asked = replace(
                plan, recall=True, budget_tokens=EXPLAINED_BUDGET, query=plan.query or question
            )
        found = recaller.recall(asked, user_id, utc_now(), weights=recaller.weights_of(user_id))
        if include_held:
            held = [one for one, _ in reader.ledger.search_held(user_id, question, HELD_SHOWN)]
    found = replace(found, plan=plan)
    for notice in reader.notices:
        typer.echo(f"bmo: {notice}", err=True)
    if as_json:
        write_line({"question": question, **recall_row(found), "held": [*map(held_row, held)]})
        return
    console = Console()
    _show(console, found, explain)
    if held:
        console.print("[dim]held, never recalled:[/dim]")
        show_held(console, held)


def feedback_command(
    memory_id: IdArgument,
    verdict: Annotated[str, typer.Argument(help="good or bad.", metavar="good|bad")],
    user: UserOption = None,
) -> None:
    """Say whether a memory helped; it moves the weights of later recalls, within bounds."""
    settings = settings_for(user)
    if verdict not in ("good", "bad"):
        raise CommandError(f"{verdict[:40]!r} is neither good nor bad: say one of them.")
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
        ledger.feedback(
            settings.bmo_user_id,
            fact_id=fact.id,
            turn_id=None,
            helpful=verdict == "good",
            at=utc_now(),
        )
    Console().print(f"noted: {verdict}  {shown(fact.text)}", highlight=False)


def recall_row(found: Recall) -> dict[str, Any]:
    """A recall as the documented JSON object."""
    return {
        "plan": plan_row(found.plan),
        "memories": [_memory_row(memory, "in") for memory in found.memories],
        "left_out": [_memory_row(memory, "out") for memory in found.left_out],
        "context": found.context,
        "tokens": found.tokens,
        "elapsed_ms": round(found.elapsed_ms, 3),
        "fallback": found.fallback,
        "reason": found.reason,
    }


def _memory_row(memory: RecalledMemory, place: Literal["in", "out"]) -> dict[str, Any]:
    return {
        **fact_row(memory.fact),
        "place": place,
        "why": memory.why,
        "score": round(memory.score, 4),
        "parts": {
            name: round(getattr(memory.parts, name), 4)
            for name in ("semantic", "recency", "domain", "usage", "kind")
        },
    }


def _show(console: Console, found: Recall, explain: bool) -> None:
    show_plan(console, found.plan)
    if found.fallback:
        console.print(f"[yellow]fallback[/yellow] {shown(found.reason)}", highlight=False)
    if not found.plan.recall:
        if explain and (found.memories or found.left_out):
            console.print("If it asked for memory, these would be looked at:", style="dim")
        elif not explain:
            return
    if not found.memories and not found.left_out:
        console.print("Nothing fits.")
        return
    if explain:
        _show_scores(console, found)
    elif not found.memories:
        console.print("Nothing fits.")
    for memory in found.memories if not explain else ():
        console.print(
            f"[dim]{memory.score:.2f}[/dim] {shown(memory.fact.text)} "
            f"[dim]{shown(memory.why)} · {memory.fact.id[:8]}[/dim]",
            highlight=False,
        )
    if explain and found.context and found.plan.recall:
        console.print(f"[dim]given to the model ({found.tokens} tokens):[/dim]")
        console.print(shown_lines(found.context), highlight=False)


def shown_lines(block: str) -> str:
    """A block of lines for a rich console."""
    return "\n".join(shown(line) for line in block.splitlines())


def _show_scores(console: Console, found: Recall) -> None:
    """Two lines a candidate, so that the parts fit a narrow terminal."""
    table = narrow_table()
    table.add_column("", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("memory, its parts, why", overflow="fold", ratio=1)
    ranked = [(memory, True) for memory in found.memories]
    ranked += [(memory, False) for memory in found.left_out]
    for memory, given in ranked:
        parts = memory.parts
        named = (
            ("semantic", parts.semantic),
            ("recency", parts.recency),
            ("domain", parts.domain),
            ("usage", parts.usage),
            ("kind", parts.kind),
        )
        sums = " + ".join(f"{name} {value:.2f}" for name, value in named if value)
        table.add_row(
            "[green]in[/green]" if given else "[dim]out[/dim]",
            f"{memory.score:.2f}",
            f"{shown(memory.fact.text)} [dim]{memory.fact.id[:8]}[/dim]\n"
            f"[dim]{sums or 'no score'}: {shown(memory.why)}[/dim]",
        )
    console.print(table, highlight=False)
