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
from bmo.cli.evaluate_modes import modes_command
from bmo.cli.jsonl import write_line
from bmo.cli.options import ModeOption, ObjectOption
from bmo.cli.tables import show_rows, shown
from bmo.settings import SettingsError, load_settings
from bmo.telemetry import quiet_logs

if TYPE_CHECKING:
    from bmo.evaluation.scenario_figures import ScenarioFigures
    from bmo.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Figures of the gates, with 95% intervals.")
app.command("modes")(modes_command)

BMO, WORDS = "BMO", "words alone"


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
        sets = sets_of(folders or [Path("tests/scenarios")], by_folder=by_folder)
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


@contextmanager
def _sentences() -> Iterator[None]:
    """Turns what is wrong with settings, files or models into a sentence."""
    from bmo.encoder import EncoderUnavailable
    from bmo.evaluation.corpora import CorpusError
    from bmo.index import EmbedderUnavailable
    from bmo.replay.scenario import ScenarioError

    try:
        yield
    except (CorpusError, ScenarioError, SettingsError) as error:
        raise CommandError.of(error) from None
    except (EmbedderUnavailable, EncoderUnavailable) as error:
        raise CommandError.of(error, 1) from None
