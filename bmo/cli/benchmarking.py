"""``bmo bench``: BMO's speed on this machine, beside its budgets."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.options import ObjectOption
from bmo.cli.tables import screen, shown

if TYPE_CHECKING:
    from bmo.evaluation.bench import Figure

app = typer.Typer()


@app.command("bench")
def bench_command(
    memories: Annotated[
        int, typer.Option(min=100, max=100_000, help="Memories that recall searches.")
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
        raise CommandError.of(error, 1) from None
    over = [figure for figure in figures if not figure.ok]
    if as_json:
        rows = [
            {**asdict(figure), "value": round(figure.value, 3), "ok": figure.ok}
            for figure in figures
        ]
        write_line({"machine": where, "memories": memories, "figures": rows, "ok": not over})
    else:
        own = f" (--memories {BUDGET_MEMORIES} is the budget's)"
        less = "" if memories == BUDGET_MEMORIES else own
        within = f"{len(figures) - len(over)} of {len(figures)} within budget"
        console.print(f"{within}; recall searched {memories:,} memories{less}")
    if strict and over:
        raise typer.Exit(1)


def _show(console: Console, figure: Figure) -> None:
    """One figure, as soon as it is there."""
    mark = "[green]ok  [/green]" if figure.ok else "[red]over[/red]"
    digits = 0 if figure.value >= 100 else 1 if figure.value >= 10 else 2
    value = f"{figure.value:.{digits}f} of {figure.budget:g} {figure.unit}"
    console.print(f"{mark} {shown(figure.name)}, {figure.statistic}: {value}")
    if figure.note:
        console.print(f"     [dim]{shown(figure.note)}[/dim]")
