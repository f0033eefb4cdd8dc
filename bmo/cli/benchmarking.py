"""``bmo bench``: BMO's speed on this machine, beside its budgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.tables import narrow_table, shown

if TYPE_CHECKING:
    from bmo.evaluation.bench import Figure, Peer


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
    """Measure speed on this machine, budgets and peers beside it; some minutes."""
    from bmo.evaluation.bench import BUDGET_MEMORIES, machine, peer_figures, run

    console = Console()
    where = machine()
    if not as_json:
        load = "" if where["load"] is None else f", load {where['load']:.1f}"
        console.print(
            f"Python {where['python']} on {where['processor']}, {where['cores']} cores{load}",
            highlight=False,
        )
    figures: list[Figure] = []
    peers: list[Peer] = []
    try:
        for figure in run(memories):
            figures.append(figure)
            if not as_json:
                _show(console, figure)
        for peer in peer_figures(memories):
            peers.append(peer)
            if not as_json:
                _show_peer(console, peer, figures)
    except RuntimeError as error:
        raise CommandError(f"{str(error).rstrip('.')}.", 1) from None
    over = [figure for figure in figures if not figure.ok]
    if as_json:
        write_line(
            {
                "machine": where,
                "memories": memories,
                "figures": [figure_row(figure) for figure in figures],
                "peers": [peer_row(peer, figures) for peer in peers],
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


def peer_row(peer: Peer, figures: Sequence[Figure]) -> dict[str, Any]:
    """A peer's figure as the documented JSON object; ``times_ours`` is its ratio to ours."""
    return {
        "name": peer.name,
        "statistic": peer.statistic,
        "value": round(peer.value, 3),
        "unit": peer.unit,
        "beside": peer.beside,
        "times_ours": round(peer.value / _ours(peer, figures).value, 2),
        "note": peer.note,
    }


def _ours(peer: Peer, figures: Sequence[Figure]) -> Figure:
    """Our own figure that a peer stands beside; the statistic may differ and is shown."""
    return next(one for one in figures if one.name == peer.beside)


def _show(console: Console, figure: Figure) -> None:
    """One figure, as soon as it is there."""
    mark = "[green]ok[/green]" if figure.ok else "[red]over[/red]"
    budget = f"<= {figure.budget:g} {figure.unit}"
    _show_row(console, mark, f"{figure.name}, {figure.statistic}", figure.note, figure, budget)


def _show_peer(console: Console, peer: Peer, figures: Sequence[Figure]) -> None:
    """A peer's figure, with the ratio to ours."""
    ours = _ours(peer, figures)
    note = (
        f"{peer.value / ours.value:.2g} times ours ({peer.beside}, {ours.statistic}); {peer.note}"
    )
    _show_row(console, "peer", f"{peer.name}, {peer.statistic}", note, peer, peer.unit)


def _show_row(
    console: Console, mark: str, name: str, note: str, one: Figure | Peer, unit: str
) -> None:
    row = narrow_table()
    row.show_header = False
    row.expand = True
    row.add_column(width=4)
    row.add_column(overflow="fold", ratio=1)
    row.add_column(justify="right", width=8, no_wrap=True)
    row.add_column(width=10, no_wrap=True)
    text = shown(name) + (f"\n[dim]{shown(note)}[/dim]" if note else "")
    row.add_row(mark, text, _number(one.value), unit)
    console.print(row, highlight=False)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
