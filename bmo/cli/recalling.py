"""``bmo recall`` and ``bmo feedback``: what memory has for a question, why, and if it helped."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Column

from bmo.cli.errors import CommandError
from bmo.cli.gates import plan_row, show_plan
from bmo.cli.held import held_row, show_held
from bmo.cli.jsonl import row_of, write_line
from bmo.cli.opening import Reader, opened_ledger, opened_reader, settings_for, the_fact
from bmo.cli.options import AskedOption, IdArgument, ObjectOption, UserOption
from bmo.cli.tables import fact_row, narrow_table, quoted, screen, shown
from bmo.quotation import dated_quotation
from bmo.settings import Settings
from bmo.turn import Recall, RecalledMemory, Turn, utc_now

HELD_SHOWN, HELD_COUNTED = 10, 1000
"""Held turns that share words with a question: shown beside a recall, and counted, at most."""

EXPLAINED_BUDGET = 500
"""Tokens of the search that is shown for a question the read gate asks no memory for."""


app = typer.Typer()


@app.command("recall")
def recall_command(
    question: Annotated[str, typer.Argument(help="What the user says.")],
    explain: Annotated[
        bool, typer.Option("--explain", help="Every candidate, its score in parts, in or out.")
    ] = False,
    include_held: Annotated[
        bool, typer.Option("--include-held", help="Held turns that share words, too.")
    ] = False,
    asked: AskedOption = "",
    user: UserOption = None,
    as_json: ObjectOption = False,
) -> None:
    """What memory has for a question, and why."""
    if not question.strip():
        raise CommandError("the question is empty: say what to recall for.")
    settings = settings_for(user)
    from bmo.gate import mask

    words, _ = mask(question, settings.bmo_sensitive, asked)
    turn = Turn(text=words, user_id=settings.bmo_user_id, assistant_before=asked)
    with opened_reader(settings) as reader:
        if settings.mem0_setting == "NORMAL":
            from bmo.memory.normal import raw_recall  # loads the service: only here

            found = raw_recall(reader.index, turn, settings.bmo_recall_top_k, utc_now())
        else:
            found = _recalled(reader, settings, turn, explain)
        held = [one for one, _ in reader.ledger.search_held(turn.user_id, question, HELD_COUNTED)]
    reader.show_notices()
    if as_json:
        rows = [held_row(one) for one in held[:HELD_SHOWN]] if include_held else []
        counted = {"held_by_write_gate": len(held), "held": rows}
        write_line({"question": question, **recall_row(found), **counted})
        return
    console = screen()
    _show(console, found, explain)
    if held:
        hint = "" if include_held else "; --include-held shows them"
        console.print(f"[dim]{len(held)} left out because the write gate holds them{hint}[/dim]")
    if held and include_held:
        show_held(console, held[:HELD_SHOWN], waiting={})


def _recalled(reader: Reader, settings: Settings, turn: Turn, explain: bool) -> Recall:
    """What the read gate asks for and memory gives; to explain, also what it would give."""
    from bmo.recall import ReadGate, Recaller

    gate = ReadGate.from_settings(settings, load_encoder=settings.effective_mode != "pattern")
    recaller, now = Recaller(reader.ledger, reader.index, settings, gate.encoder), utc_now()
    plan = gate.plan(
        turn,
        subjects=reader.ledger.known_subjects(turn.user_id),
        chances=lambda wanted: recaller.look(wanted, turn.user_id, now).chances,
    )
    searched = plan
    if explain and not plan.recall:
        query = plan.query or turn.text
        searched = replace(plan, recall=True, budget_tokens=EXPLAINED_BUDGET, query=query)
    weights = recaller.weights_of(turn.user_id)
    return replace(recaller.recall(searched, turn.user_id, now, weights=weights), plan=plan)


@app.command("feedback")
def feedback_command(
    memory_id: IdArgument,
    verdict: Annotated[Literal["good", "bad"], typer.Argument(help="Whether it helped.")],
    user: UserOption = None,
) -> None:
    """Say whether a memory helped; it moves the weights of later recalls, within bounds."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
        ledger.feedback(
            settings.bmo_user_id,
            fact_id=fact.id,
            turn_id=None,
            helpful=verdict == "good",
            at=utc_now(),
        )
    screen().print(f"noted: {verdict}  {quoted(fact)}")


def recall_row(found: Recall) -> dict[str, Any]:
    """A recall as the documented JSON object."""
    return {
        "plan": plan_row(found.plan),
        "memories": [_memory_row(memory, "in") for memory in found.memories],
        "left_out": [_memory_row(memory, "out") for memory in found.left_out],
        **row_of(found, "context tokens fallback reason"),
        "elapsed_ms": round(found.elapsed_ms, 3),
    }


def _memory_row(memory: RecalledMemory, place: Literal["in", "out"]) -> dict[str, Any]:
    return {
        **fact_row(memory.fact),
        "place": place,
        "why": memory.why,
        "score": round(memory.score, 4),
        "parts": {name: round(value, 4) for name, value in asdict(memory.parts).items()},
    }


def _show(console: Console, found: Recall, explain: bool) -> None:
    show_plan(console, found.plan)
    if found.fallback:
        console.print(f"[yellow]fallback[/yellow] {shown(found.reason)}")
    if not found.plan.recall and not explain:
        return
    if not found.memories and not (explain and found.left_out):
        console.print("Nothing fits.")
        return
    if explain:
        _show_scores(console, found)
        return
    for memory in found.memories:
        console.print(
            f"[dim]{memory.score:.2f}[/dim] {_dated(memory)} "
            f"[dim]{shown(memory.why)} · {memory.fact.id[:8]}[/dim]"
        )


def _dated(memory: RecalledMemory) -> str:
    return shown(dated_quotation(memory.fact))


def _show_scores(console: Console, found: Recall) -> None:
    """Two lines a candidate, so that the parts fit a narrow terminal; then the model's block."""
    if not found.plan.recall:
        console.print("If it asked for memory, these would be looked at:", style="dim")
    table = narrow_table(
        Column("", no_wrap=True),
        Column("score", justify="right", no_wrap=True),
        Column("memory, its parts, why", overflow="fold", ratio=1),
    )
    ranked = [(memory, True) for memory in found.memories]
    ranked += [(memory, False) for memory in found.left_out]
    for memory, given in ranked:
        parts = asdict(memory.parts)
        sums = " + ".join(f"{name} {value:.2f}" for name, value in parts.items() if value)
        table.add_row(
            "[green]in[/green]" if given else "[dim]out[/dim]",
            f"{memory.score:.2f}",
            f"{_dated(memory)} [dim]{memory.fact.id[:8]}[/dim]\n"
            f"[dim]{sums or 'no score'}: {shown(memory.why)}[/dim]",
        )
    console.print(table)
    if found.context and found.plan.recall:
        console.print(f"[dim]given to the model ({found.tokens} tokens):[/dim]")
        for line in found.context.splitlines():
            console.print(shown(line))
