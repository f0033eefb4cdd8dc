"""``bmo eval``: figures of the gates, by source, with bootstrap intervals."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bmo.cli.errors import CommandError, check_writable
from bmo.cli.evaluate_modes import modes_command
from bmo.cli.evaluate_retrieval import show_retrieval
from bmo.evaluation.annotated import ConversationsMissing
from bmo.evaluation.corpora import CorpusMissing
from bmo.evaluation.write_figures import Figures
from bmo.settings import SettingsError, load_settings

app = typer.Typer(no_args_is_help=True, help="Figures of the gates, by source.")
app.command("modes")(modes_command)

ConversationsOption = Annotated[
    Path, typer.Option("--conversations", help="Folder with annotated conversations.")
]
CorporaOption = Annotated[
    Path | None, typer.Option("--corpora", help="Folder with lines written by others.")
]
ModeOption = Annotated[str | None, typer.Option("--mode", help="local or pattern.")]
MissesOption = Annotated[
    int, typer.Option("--misses", min=0, help="Show so many misses of each kind.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")]

_WRONG_INPUT = (SettingsError, CorpusMissing, ConversationsMissing)


def _sentence(error: Exception) -> str:
    return str(error).rstrip(".") + "."


@app.command("gate")
def gate_command(
    conversations: ConversationsOption = Path("tests/scenarios"),
    corpora: CorporaOption = None,
    mode: ModeOption = None,
    misses: MissesOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Figures of the write gate."""
    from bmo.evaluation.write_figures import conversation_figures, corpus_figures
    from bmo.gate import WriteGate

    try:
        settings = load_settings(**({"gatekeeper_mode": mode} if mode else {}))
        gate = WriteGate.from_settings(settings)
        parts = {"conversations": conversation_figures(gate, conversations)}
        if corpora is not None:
            parts["corpora"] = corpus_figures(gate, corpora)
    except _WRONG_INPUT as error:
        raise CommandError(_sentence(error)) from None
    _show(parts, misses, as_json, f"write gate {gate.version}")


@app.command("read")
def read_command(
    conversations: ConversationsOption = Path("tests/scenarios"),
    corpora: CorporaOption = None,
    mode: ModeOption = None,
    cases: Annotated[
        Path | None, typer.Option("--cases", help="File of recall cases: is what is live given?")
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Also play the conversations: recall given live.")
    ] = False,
    only: Annotated[
        str, typer.Option("--only", help='With --live: pattern of the files\' names ("c-*").')
    ] = "*",
    retrieval: Annotated[
        bool,
        typer.Option("--retrieval", help="With --corpora: precisionMemBench and LoCoMo, no plans."),
    ] = False,
    misses: MissesOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Figures of the read gate: its plans, and what is given of what is in memory."""
    from bmo.evaluation.read_figures import plan_figures
    from bmo.evaluation.recall_cases import case_figures, live_figures, read_cases
    from bmo.index import open_embedder
    from bmo.recall import ReadGate

    try:
        settings = load_settings(**({"gatekeeper_mode": mode} if mode else {}))
        if retrieval:
            if corpora is None:
                raise CommandError("--retrieval needs --corpora: the folder with the lines.")
            with closing(open_embedder(settings)) as embedder:
                show_retrieval(corpora, embedder, as_json=as_json)
            return
        gate = ReadGate.from_settings(settings, load_judge=settings.effective_mode == "local")
        parts = {"plans": plan_figures(gate, conversations, corpora)}
        if cases is not None:
            people = read_cases(cases)
            with closing(open_embedder(settings)) as embedder:
                parts[cases.stem] = case_figures(people, gate, embedder, settings)
        if live:
            parts["given live"] = live_figures(conversations, settings, only)
    except _WRONG_INPUT as error:
        raise CommandError(_sentence(error)) from None
    _show(parts, misses, as_json, "read gate")


@app.command("judge")
def judge_command(
    conversations: ConversationsOption = Path("tests/scenarios"),
    corpora: CorporaOption = None,
    world: Annotated[
        Path, typer.Option("--world", help="Folder with world.jsonl, statements about nobody.")
    ] = Path("tests/world"),
    model: Annotated[
        Path | None, typer.Option("--judge", help="Folder of another judge than the package's.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Reference outcomes; exit code 1 when the judge is worse."),
    ] = None,
    accept: Annotated[
        Path | None, typer.Option("--accept", help="Write this judge's outcomes as reference.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Figures of the local judge, with rules and alone; whether it is worse than another."""
    from bmo.cli.evaluate_judge import Asked, compare_judge, report_judge
    from bmo.evaluation.judge_figures import ReferenceMissing
    from bmo.judge import Judge, JudgeUnavailable

    check_writable("--accept", accept)
    try:
        judge = Judge.open(model)
        asked = Asked(judge, conversations, corpora, world, as_json)
        if against is None and accept is None:
            report_judge(asked)
            return
        worse = compare_judge(asked, against, accept)
    except (*_WRONG_INPUT, JudgeUnavailable, ReferenceMissing) as error:
        raise CommandError(_sentence(error)) from None
    if worse:
        raise typer.Exit(1)


def _show(parts: dict[str, Figures], misses: int, as_json: bool, title: str) -> None:
    console = Console()
    if as_json:
        console.print_json(
            json.dumps(
                {
                    name: {
                        "shares": {
                            key: {"hits": s.hits, "total": s.total, "low": s.low, "high": s.high}
                            for key, s in figures.shares.items()
                        },
                        "us": figures.timings(),
                    }
                    for name, figures in parts.items()
                }
            )
        )
        return
    for name, figures in parts.items():
        table = Table(title=f"{title}: {name}", title_justify="left")
        table.add_column("figure")
        table.add_column("share (cases; 95% interval)", no_wrap=True)
        for key, value in figures.shares.items():
            table.add_row(key, str(value))
        for key, (mean, p99) in figures.timings().items():
            table.add_row(f"us a turn: {key}", f"mean {mean:.0f}, p99 {p99:.0f}")
        console.print(table)
        for kind, lines in figures.misses.items():
            if misses:
                console.print(f"[bold]{kind}[/bold] ({len(lines)})")
                for line in lines[:misses]:
                    console.print("  " + line, markup=False, highlight=False, soft_wrap=True)
