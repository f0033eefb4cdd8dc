"""``bmo bench``: the budgets of the design, measured on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.tables import narrow_table, shown

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
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Measure the budgets of the design here; about a minute."""
    from bmo.evaluation.bench import BUDGET_MEMORIES, machine, run

    console = Console()
    where = machine()
    if not as_json:
        load = "" if where["load"] is None else f", load {where['load']:.1f}"
        console.print(
            f"Python {where['python']} on {where['processor']}, {where['cores']} cores{load}",
            highlight=False,
        )
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
        write_line(
            {
                "machine": where,
                "memories": memories,
                "figures": [figure_row(figure) for figure in figures],
                "ok": not over,
            }
        )
    else:
        console.print(
            f"{len(figures) - len(over)} of {len(figures)} within budget; recall searched "
            f"{memories:,} memories"
            + (
                ""
                if memories == BUDGET_MEMORIES
                else f" (--memories {BUDGET_MEMORIES} is the budget's)"
            ),
            highlight=False,
        )
    if strict and over:
        raise typer.Exit(1)


def figure_row(figure: Figure) -> dict[str, Any]:
    """A figure as the documented JSON object."""
    return {
        "name": figure.name,
        "statistic": figure.statistic,
        "value": round(figure.value, 3),
        "budget": figure.budget,
        "unit": figure.unit,
        "ok": figure.ok,
        "note": figure.note,
    }


def _show(console: Console, figure: Figure) -> None:
    """One figure, as soon as it is there."""
    row = narrow_table()
    row.show_header = False
    row.expand = True
    row.add_column(width=4)
    row.add_column(overflow="fold", ratio=1)
    row.add_column(justify="right", width=8, no_wrap=True)
    row.add_column(width=10, no_wrap=True)
    mark = "[green]ok[/green]" if figure.ok else "[red]over[/red]"
    name = f"{shown(figure.name)}, {figure.statistic}"
    if figure.note:
        name += f"\n[dim]{shown(figure.note)}[/dim]"
    row.add_row(mark, name, _number(figure.value), f"<= {figure.budget:g} {figure.unit}")
    console.print(row, highlight=False)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
