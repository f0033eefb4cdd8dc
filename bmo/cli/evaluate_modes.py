"""``bmo eval modes``: every mode of the write gate, with or without a model behind it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.console import Console
from rich.table import Table

from bmo.cli.errors import CommandError, check_writable
from bmo.evaluation.annotated import ConversationsMissing
from bmo.evaluation.corpora import CorpusMissing
from bmo.evaluation.metrics import Share
from bmo.evaluation.mode_compare import Change, RunFileError, changes, read_run, run_file
from bmo.evaluation.mode_figures import ModeFigures, figures_of
from bmo.evaluation.mode_runs import MakeOrchestrator, run_mode
from bmo.evaluation.scripted_answers import (
    AnswersError,
    label_of,
    read_answers,
    scripted_answers,
)
from bmo.settings import GatekeeperMode, Settings, SettingsError, load_settings

MODES: tuple[GatekeeperMode, ...] = get_args(GatekeeperMode)
WITH_MODEL = ("hybrid", "llm")


def modes_command(
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", help="A mode; may be repeated. Default: all that can run."),
    ] = None,
    conversations: Annotated[
        Path, typer.Option("--conversations", help="Folder with annotated conversations.")
    ] = Path("tests/scenarios"),
    only: Annotated[
        str, typer.Option("--only", help='Conversations whose file names fit, such as "c-*".')
    ] = "*",
    corpora: Annotated[
        Path | None, typer.Option("--corpora", help="Folder with lines written by others.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Lines of each corpus, evenly taken.")
    ] = None,
    scripted: Annotated[
        float | None,
        typer.Option(
            "--scripted",
            min=0.0,
            max=1.0,
            help="hybrid, llm: a scripted model from the annotations, this share of it wrong.",
        ),
    ] = None,
    recorded: Annotated[
        Path | None,
        typer.Option("--recorded", help="With --scripted: answers written down, JSONL."),
    ] = None,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="hybrid, llm: ask GATEKEEPER_LLM_MODEL. May cost.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="Write the figures as JSON to this file.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option("--compare", help="Show what differs from this earlier output.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Precision, recall, skips, latency and cost of the write gate's modes."""
    asked = _Asked(conversations, only, corpora, limit, scripted, recorded, ask_model)
    if scripted is not None and ask_model:
        raise CommandError("--scripted and --ask-model are one at a time.")
    if recorded is not None and scripted is None:
        raise CommandError("--recorded belongs to --scripted.")
    check_writable("--output", output)
    figures, old = _measured(_modes(mode, scripted is not None or ask_model), asked, compare)
    new = run_file([one.as_json() for one in figures], asked.about())
    if output is not None:
        output.write_text(json.dumps(new, indent=1) + "\n", "utf-8")
    differs = changes(old, new) if old is not None else []
    if as_json:
        extra = {"changes": [_change_row(one) for one in differs]} if old is not None else {}
        print(json.dumps({**new, **extra}))
        return
    console = Console()
    _show(console, figures)
    if old is not None:
        _show_changes(console, differs)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Which lines are decided, and what stands behind the gate; attributes are the options."""

    conversations: Path
    only: str
    corpora: Path | None
    limit: int | None
    scripted: float | None
    recorded: Path | None
    ask_model: bool

    def about(self) -> dict[str, Any]:
        """The lines, as the output names them."""
        return {
            "conversations": str(self.conversations),
            "only": self.only,
            "corpora": str(self.corpora) if self.corpora is not None else None,
            "limit": self.limit,
        }


def _measured(
    modes: list[GatekeeperMode], asked: _Asked, compare: Path | None
) -> tuple[list[ModeFigures], dict[str, Any] | None]:
    """The figures of each mode, and the earlier run they are compared with."""
    try:
        old = read_run(compare) if compare is not None else None
        figures = [_figures(mode, asked) for mode in modes]
    except (
        SettingsError,
        CorpusMissing,
        ConversationsMissing,
        RunFileError,
        AnswersError,
    ) as error:
        raise CommandError(str(error).rstrip(".") + ".") from None
    if not any(one.scores["all"].recall.total for one in figures):
        raise CommandError(
            f"no annotated conversation is in {str(asked.conversations)!r}: point --conversations "
            "to a folder with *.turns.yaml files."
        )
    return figures, old


def _modes(chosen: list[str] | None, with_model: bool) -> list[GatekeeperMode]:
    if chosen is None:
        return [one for one in MODES if with_model or one not in WITH_MODEL]
    found: list[GatekeeperMode] = []
    for name in chosen:
        known = next((one for one in MODES if one == name), None)
        if known is None:
            raise CommandError(f"--mode {name[:40]!r} is unknown: use one of {', '.join(MODES)}.")
        if known in WITH_MODEL and not with_model:
            raise CommandError(
                f"--mode {known} needs a model: add --scripted 0.1 (made from the annotations) or "
                "--ask-model (GATEKEEPER_LLM_MODEL)."
            )
        found.append(known)
    return found


def _figures(mode: GatekeeperMode, asked: _Asked) -> ModeFigures:
    from bmo.gate import WriteGate

    settings = load_settings(gatekeeper_mode=mode)
    gate = WriteGate.from_settings(settings)
    make: MakeOrchestrator | None = None
    model = ""
    if mode in WITH_MODEL:
        model, make = _behind(settings, asked)
    run = run_mode(
        gate,
        asked.conversations,
        only=asked.only,
        corpora=asked.corpora,
        limit=asked.limit,
        model=model,
        orchestrator=make,
        ask_about_lines=asked.ask_model,
    )
    return figures_of(run)


def _behind(settings: Settings, asked: _Asked) -> tuple[str, MakeOrchestrator]:
    """What stands behind the gate: its name for people, and what makes it."""
    from bmo.evaluation.annotated import read_conversations
    from bmo.extract import ModelExtractor, Orchestrator, ScriptedClient

    if asked.scripted is None:
        return settings.gatekeeper_llm_model, Orchestrator.from_settings
    conversations = read_conversations(asked.conversations, asked.only)
    turns = [row for _, rows in conversations for row in rows]
    written = read_answers(asked.recorded) if asked.recorded is not None else {}
    by_hand = {row.turn.text for row in turns} & set(written)
    answers = scripted_answers(turns, asked.scripted, recorded=written)
    client = ScriptedClient("annotations", answers)
    return label_of(asked.scripted, len(by_hand)), lambda _, gate: Orchestrator(
        [ModelExtractor(client, gate)], gate
    )


def _show(console: Console, figures: list[ModeFigures]) -> None:
    for one in figures:
        if one.model:
            console.print(f"* {one.mode}: behind the gate: {one.model}", highlight=False)
    names = [f"{one.mode}*" if one.model else one.mode for one in figures]
    scores = _table("precision / recall in %, F1", names)
    rates = _table("shares", names)
    costs = _table("latency and cost", names)
    targets = _table("targets", names)
    for name in figures[0].scores:
        cells = [one.scores[name] for one in figures]
        scores.add_row(
            name,
            *(
                f"{100 * c.precision.value:.0f}/{100 * c.recall.value:.0f} {c.f1:.2f}"
                for c in cells
            ),
        )
    for name in figures[0].shares:
        rates.add_row(name, *(_of(one.shares.get(name)) for one in figures))
    for name in dict.fromkeys(name for one in figures for name in one.numbers):
        numbers = [one.numbers.get(name) for one in figures]
        costs.add_row(name, *("" if n is None else f"{n:.4g}" for n in numbers))
    for name, (_, bound, _) in figures[0].targets.items():
        sign = ">" if bound > 0.5 else "<"
        met = [one.targets[name] for one in figures]
        cells_ = [f"{'yes' if ok else 'NO'} {value:.1%}" for value, _, ok in met]
        targets.add_row(f"{name} {sign} {bound:.0%}", *cells_)
    for table in (scores, rates, costs, targets):
        console.print(table)
    for one in figures:
        if one.curve:
            _show_curve(console, one)
            refused = ", ".join(f"{why} {count}" for why, count in one.refused.items())
            console.print(f"{one.mode}: facts of the model refused: {refused or 'none'}")


def _show_curve(console: Console, figures: ModeFigures) -> None:
    table = Table(
        title=f"{figures.mode}: calls saved by asking about the most promising turns only\n"
        f"({figures.model})",
        title_justify="left",
    )
    for name in ("calls saved", "turns asked", "recovered facts kept", "recall of all"):
        table.add_column(name)
    for row in figures.curve:
        table.add_row(f"{row.saved:.0%}", str(row.asked), f"{row.kept:.1%}", f"{row.recall:.1%}")
    console.print(table)


def _show_changes(console: Console, differs: list[Change]) -> None:
    if not differs:
        console.print("Nothing differs from the earlier run.")
        return
    table = Table(title="against the earlier run", title_justify="left")
    for name in ("mode", "figure", "before", "now", "change"):
        table.add_column(name)
    for one in differs:
        moved = one.new - one.old if one.old is not None and one.new is not None else None
        table.add_row(
            one.mode,
            one.name,
            "" if one.old is None else f"{one.old:.4g}",
            "" if one.new is None else f"{one.new:.4g}",
            "" if moved is None else f"{moved:+.4g}",
        )
    console.print(table)


def _change_row(change: Change) -> dict[str, Any]:
    return {"mode": change.mode, "figure": change.name, "old": change.old, "new": change.new}


def _of(share: Share | None) -> str:
    if share is None:
        return ""
    return f"{share.value:.1%} of {share.total}" if share.total else "no cases"


def _table(title: str, columns: list[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1))
    table.add_column("", no_wrap=True)
    for name in columns:
        table.add_column(name, no_wrap=True)
    return table
