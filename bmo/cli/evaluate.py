"""``bmo eval``: figures of the gates and of whole conversations, with 95% intervals."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import typer

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.options import ModeOption, ObjectOption
from bmo.cli.tables import screen, show_rows, shown
from bmo.settings import GatekeeperMode, SettingsError, load_settings
from bmo.telemetry import quiet_logs

if TYPE_CHECKING:
    from bmo.evaluation.metrics import Share
    from bmo.evaluation.mode_figures import ModeFigures
    from bmo.evaluation.scenario_figures import ScenarioFigures
    from bmo.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Figures of the gates, with 95% intervals.")

BMO, WORDS = "BMO", "words alone"
SCENARIOS = Path("tests/scenarios")

MODES: tuple[GatekeeperMode, ...] = get_args(GatekeeperMode)
WITH_MODEL = ("hybrid", "llm")


@app.command("scenarios")
def scenarios_command(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of *.turns.yaml, or files.", show_default="tests/scenarios"),
    ] = None,
    only: Annotated[
        Literal["bmo", "words"] | None, typer.Option("--set", help="Only BMO, or the words alone.")
    ] = None,
    by_folder: Annotated[
        bool, typer.Option("--by-folder", help="A row for each folder below, too.")
    ] = False,
    as_json: ObjectOption = False,
) -> None:
    """Play annotated conversations through a real session: found, ended, given; no network.

    Beside BMO stand the words alone: the encoder's likeliest verdict, the turn in the user's
    words, the five nearest.
    """
    from bmo.evaluation.scenario_figures import Figure, sets_of

    found: dict[str, dict[str, ScenarioFigures]] = {}
    with _sentences():
        settings = load_settings()
        sets = sets_of(folders or [_there(SCENARIOS)], by_folder=by_folder)
        with quiet_logs():
            for folder, paths in sets.items():
                found[folder] = _scored(paths, settings, only)
    if as_json:
        for folder, figures in found.items():
            row = {name: one.as_row() for name, one in figures.items()}
            write_line({"folder": folder, "conversations": len(sets[folder]), **row})
        return
    sides = list(next(iter(found.values())))
    rows: list[tuple[str, ...]] = []
    for folder, figures in found.items():
        rows.append((f"[bold]{shown(folder)}[/bold], {len(sets[folder])} conversations",))
        shares = {side: one.shares() for side, one in figures.items()}
        for name in get_args(Figure):
            rows.append((f"  {name}", *(str(shares[side].get(name, "")) for side in sides)))
        lines = (f"{figures[side].lines_a_recall:g} (median)" for side in sides)
        rows.append(("  lines a recall", *lines))
    show_rows(("figure", *sides), rows)


def _there(conversations: Path) -> Path:
    """The folder, if it is there; BMO's own conversations are in its repository alone."""
    if conversations == SCENARIOS and not conversations.exists():
        raise CommandError(
            f"{conversations} is not here: run this in a clone of BMO's repository, or name "
            "conversations of your own (bmo export-turns NAME.turns.yaml writes one)."
        )
    return conversations


def _scored(
    paths: Sequence[Path], settings: Settings, only: str | None
) -> dict[str, ScenarioFigures]:
    from bmo.encoder import Encoder
    from bmo.evaluation.scenario_figures import scenario_figures, words_alone
    from bmo.index import open_embedder

    found = {}
    if only != "words":
        found[BMO] = asyncio.run(scenario_figures(paths, settings))
    if only != "bmo":
        with closing(Encoder.open()) as encoder, closing(open_embedder(settings)) as embedder:
            found[WORDS] = words_alone(paths, encoder, embedder)
    return found


@app.command("lines")
def lines_command(
    corpora: Annotated[Path, typer.Option(help="Folder with lines written by others.")],
    mode: ModeOption = None,
    as_json: ObjectOption = False,
) -> None:
    """Lines by others, each on its own: noise and attacks stored, facts kept, memory searched."""
    from bmo.evaluation.line_figures import line_figures
    from bmo.gate import WriteGate
    from bmo.recall import ReadGate

    with _sentences():
        settings = load_settings(**({"gatekeeper_mode": mode} if mode else {}))
        write = WriteGate.from_settings(settings)
        read = ReadGate.from_settings(settings, encoder=write.encoder, load_encoder=False)
        found = line_figures(write, read, corpora)
    if as_json:
        shares = {name: asdict(value) for name, value in found.items()}
        write_line({"gate_version": write.version, "figures": shares})
    else:
        show_rows(("figure", write.version), [(name, str(one)) for name, one in found.items()])


@app.command("modes")
def modes_command(
    mode: Annotated[
        list[str] | None, typer.Option(help="A mode; may be repeated. Default: all that can run.")
    ] = None,
    conversations: Annotated[
        Path, typer.Option(help="Folder of *.turns.yaml, or a file.")
    ] = SCENARIOS,
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="hybrid, llm: ask GATEKEEPER_LLM_MODEL. May cost.")
    ] = False,
    as_json: ObjectOption = False,
) -> None:
    """Precision, recall, skips, latency and cost of the write gate's modes."""
    from bmo.evaluation.mode_figures import figures_of
    from bmo.evaluation.mode_runs import run_mode
    from bmo.gate import WriteGate
    from bmo.replay.scenario import find_scenarios, load_scenario

    modes = _modes(mode, ask_model)
    with _sentences():
        scenarios = [load_scenario(path) for path in find_scenarios([_there(conversations)])]
    found = []
    for one in modes:
        gate = WriteGate.from_settings(load_settings(gatekeeper_mode=one))
        found.append(figures_of(run_mode(gate, scenarios, ask_model=one in WITH_MODEL)))
    if as_json:
        about = {"conversations": str(conversations)}
        write_line({"format": 2, "about": about, "modes": [asdict(one) for one in found]})
    else:
        _show_modes(found)


def _modes(chosen: list[str] | None, with_model: bool) -> list[GatekeeperMode]:
    if chosen is None:
        return [one for one in MODES if with_model or one not in WITH_MODEL]
    for name in chosen:
        if name not in MODES:
            raise CommandError(f"--mode {name[:40]!r} is not one of {', '.join(MODES)}.")
    alone = next((one for one in chosen if one in WITH_MODEL and not with_model), None)
    if alone is not None:
        raise CommandError(
            f"--mode {alone} asks a model: add --ask-model to ask that of GATEKEEPER_LLM_MODEL."
        )
    return [one for one in MODES if one in chosen]


def _show_modes(found: list[ModeFigures]) -> None:
    for one in found:
        if one.model:
            screen().print(f"* {one.mode}: behind the gate: {shown(one.model)}")
    names = [f"{one.mode}*" if one.model else one.mode for one in found]
    tables: dict[str, list[dict[str, str]]] = {
        "precision / recall in %, F1": [
            {name: f"{_percent(score.precision)}/{_percent(score.recall)} {score.f1:.2f}"
             for name, score in one.scores.items()}
            for one in found
        ],
        "shares": [{name: str(share) for name, share in one.shares.items()} for one in found],
        "latency and cost": [
            {name: f"{number:.4g}" for name, number in one.numbers.items()} for one in found
        ],
        "targets": [
            {f"{name} {'>' if target.bound > 0.5 else '<'} {target.bound:.0%}":
             f"{'yes' if target.met else 'NO'} {target.value:.1%}"
             for name, target in one.targets.items()}
            for one in found
        ],
    }  # fmt: skip
    for title, columns in tables.items():
        rows = dict.fromkeys(name for column in columns for name in column)
        cells = [(name, *(column.get(name, "") for column in columns)) for name in rows]
        show_rows((title, *names), cells)
    for one in found:
        if one.model:
            refused = ", ".join(f"{why} {count}" for why, count in one.refused.items())
            screen().print(f"{one.mode}: facts of the model refused: {refused or 'none'}")


def _percent(share: Share) -> str:
    return f"{100 * share.value:.0f}"


@contextmanager
def _sentences() -> Iterator[None]:
    """Turns what is wrong with settings, files or models into a sentence."""
    from bmo.encoder import EncoderUnavailable
    from bmo.evaluation.line_figures import CorpusError
    from bmo.index import EmbedderUnavailable
    from bmo.replay.scenario import ScenarioError

    try:
        yield
    except (CorpusError, ScenarioError, SettingsError) as error:
        raise CommandError.of(error) from None
    except (EmbedderUnavailable, EncoderUnavailable) as error:
        raise CommandError.of(error, 1) from None
