"""What ``bmo replay`` does: play files, print what differs, say how it went."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from rich.console import Console

from bmo.replay.compare import ScenarioResult
from bmo.replay.expected import load_expected_failures
from bmo.replay.output import json_lines, print_report, print_scenario
from bmo.replay.runner import replay
from bmo.replay.scenario import ScenarioError, find_scenarios
from bmo.settings import Settings, load_settings
from bmo.telemetry import quiet_logs


def run_replay(
    paths: Iterable[Path],
    *,
    as_json: bool = False,
    verbose: bool = False,
    settings: Settings | None = None,
) -> int:
    """Plays scenario files and prints the outcome.

    Args:
        paths: Scenario files or directories.
        as_json: Print one JSON object a turn and one a scenario instead of a report.
        verbose: Show every turn, not only those that differ.
        settings: Settings of gates and recall; None reads the environment.

    Returns:
        0 when nothing differs, 1 when something does, 2 when a file cannot be used.
    """
    try:
        files = find_scenarios(paths)
        known: dict[str, str] = {}
        for directory in {file.parent for file in files}:
            known |= load_expected_failures(directory)
        return asyncio.run(_play(files, known, as_json, verbose, settings or load_settings()))
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return 2


async def _play(
    files: list[Path],
    known: Mapping[str, str],
    as_json: bool,
    verbose: bool,
    settings: Settings,
) -> int:
    # Into a file or a pipe a difference stays on one line.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 240)
    results: list[ScenarioResult] = []
    with quiet_logs():
        async for result in replay(files, settings):
            results.append(result)
            if as_json:
                for line in json_lines(result):
                    print(line, flush=True)
            else:
                print_scenario(console, result, verbose=verbose)
    if not as_json:
        print_report(console, results, known)
    return 0 if all(result.holds for result in results) else 1
