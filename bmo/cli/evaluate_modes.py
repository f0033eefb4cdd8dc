"""``bmo eval modes``: every mode of the write gate, with or without a model behind it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.options import ObjectOption
from bmo.cli.tables import screen, show_rows, shown
from bmo.settings import GatekeeperMode, load_settings

if TYPE_CHECKING:
    from bmo.evaluation.metrics import Share
    from bmo.evaluation.mode_figures import ModeFigures

MODES: tuple[GatekeeperMode, ...] = get_args(GatekeeperMode)
WITH_MODEL = ("hybrid", "llm")


def modes_command(
    mode: Annotated[
        list[str] | None, typer.Option(help="A mode; may be repeated. Default: all that can run.")
    ] = None,
    conversations: Annotated[Path, typer.Option(help="Folder of *.turns.yaml, or a file.")] = Path(
        "tests/scenarios"
    ),
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="hybrid, llm: ask GATEKEEPER_LLM_MODEL. May cost.")
    ] = False,
    as_json: ObjectOption = False,
) -> None:
    """Precision, recall, skips, latency and cost of the write gate's modes."""
    from bmo.evaluation.mode_figures import figures_of
    from bmo.evaluation.mode_runs import run_mode
    from bmo.gate import WriteGate
    from bmo.replay.scenario import ScenarioError, find_scenarios, load_scenario

    modes = _modes(mode, ask_model)
    try:
        scenarios = [load_scenario(path) for path in find_scenarios([conversations])]
    except ScenarioError as error:
        raise CommandError.of(error) from None
    found = []
    for one in modes:
        settings = load_settings(gatekeeper_mode=one)
        gate = WriteGate.from_settings(settings)
        found.append(figures_of(run_mode(gate, scenarios, ask_model=one in WITH_MODEL)))
    if as_json:
        about = {"conversations": str(conversations)}
        write_line({"format": 2, "about": about, "modes": [asdict(one) for one in found]})
    else:
        _show(found)


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


def _show(found: list[ModeFigures]) -> None:
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
