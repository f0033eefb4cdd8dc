"""``bmo bench``: BMO's speed on this machine, beside its budgets."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.opening import ObjectOption
from bmo.cli.tables import narrow_table, screen, shown

if TYPE_CHECKING:
    from bmo.evaluation.bench import Figure


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("bench")(bench_command)


def bench_command(
    memories: Annotated[
        int,
        typer.Option("--memories", min=100, max=100_000, help="Memories that recall searches."),
    ] = 2_000,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 when a figure is over its budget.")
    ] = False,
    as_json: ObjectOption = False,
) -> None:
    """Measure speed on this machine, budgets beside it; some minutes."""
    from bmo.evaluation.bench import BUDGET_MEMORIES, machine, run

    console, where = screen(), machine()
    if not as_json:
        load = "" if where["load"] is None else f", load {where['load']:.1f}"
        cores = f"{where['processor']}, {where['cores']} cores{load}"
        console.print(f"Python {where['python']} on {cores}")
    figures: list[Figure] = []
    try:
        for figure in run(memories):
            figures.append(figure)
            if not as_json:
                _show(console, figure)
    except RuntimeError as error:
        raise CommandError(f"{str(error).rstrip('.')}.", 1) from None
    over = [figure for figure in figures if not figure.ok]
    if as_json:
        rows = [figure_row(figure) for figure in figures]
        write_line({"machine": where, "memories": memories, "figures": rows, "ok": not over})
    else:
        less = (
            ""
            if memories == BUDGET_MEMORIES
            else f" (--memories {BUDGET_MEMORIES} is the budget's)"
        )
        within = f"{len(figures) - len(over)} of {len(figures)} within budget"
        console.print(f"{within}; recall searched {memories:,} memories{less}")
    if strict and over:
        raise typer.Exit(1)


def figure_row(figure: Figure) -> dict[str, Any]:
    """A figure as the documented JSON object."""
    return {**asdict(figure), "value": round(figure.value, 3), "ok": figure.ok}


def _show(console: Console, figure: Figure) -> None:
    """One figure, as soon as it is there."""
    row = narrow_table(header=False)
    row.expand = True
    row.add_column(width=4)
    row.add_column(overflow="fold", ratio=1)
    row.add_column(justify="right", width=8, no_wrap=True)
    row.add_column(width=10, no_wrap=True)
    mark = "[green]ok[/green]" if figure.ok else "[red]over[/red]"
    note = f"\n[dim]{shown(figure.note)}[/dim]" if figure.note else ""
    digits = 0 if figure.value >= 100 else 1 if figure.value >= 10 else 2
    text = f"{shown(figure.name)}, {figure.statistic}{note}"
    row.add_row(mark, text, f"{figure.value:.{digits}f}", f"<= {figure.budget:g} {figure.unit}")
    console.print(row)
