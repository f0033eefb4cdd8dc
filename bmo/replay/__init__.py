"""Conversations that can be played again: scenario files, replay, differences, pytest plugin.

The pytest plugin is loaded in every test run of a machine where BMO is installed, so this module
imports nothing: names are fetched when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bmo.replay.changes import Change
    from bmo.replay.command import ReplayOutput, run_replay
    from bmo.replay.compare import ScenarioResult, TurnResult
    from bmo.replay.diff import ReplayDiff, compare_recordings
    from bmo.replay.expected import ExpectedFailure, load_expected_failures
    from bmo.replay.from_ledger import ExportedTurns, NothingToExport, export_turns
    from bmo.replay.output import print_report, print_scenario
    from bmo.replay.recording import json_lines, load_recording, recorded
    from bmo.replay.report import report_page
    from bmo.replay.rows import RecordedScenario
    from bmo.replay.runner import replay, run_scenario
    from bmo.replay.scenario import SUFFIX, Scenario, ScenarioError, find_scenarios, load_scenario

__all__ = [
    "SUFFIX",
    "Change",
    "ExpectedFailure",
    "ExportedTurns",
    "NothingToExport",
    "RecordedScenario",
    "ReplayDiff",
    "ReplayOutput",
    "Scenario",
    "ScenarioError",
    "ScenarioResult",
    "TurnResult",
    "compare_recordings",
    "export_turns",
    "find_scenarios",
    "json_lines",
    "load_expected_failures",
    "load_recording",
    "load_scenario",
    "print_report",
    "print_scenario",
    "recorded",
    "replay",
    "report_page",
    "run_replay",
    "run_scenario",
]

_HOMES = {
    "SUFFIX": "scenario",
    "Change": "changes",
    "ExpectedFailure": "expected",
    "ExportedTurns": "from_ledger",
    "NothingToExport": "from_ledger",
    "RecordedScenario": "rows",
    "ReplayDiff": "diff",
    "ReplayOutput": "command",
    "Scenario": "scenario",
    "ScenarioError": "scenario",
    "ScenarioResult": "compare",
    "TurnResult": "compare",
    "compare_recordings": "diff",
    "export_turns": "from_ledger",
    "find_scenarios": "scenario",
    "json_lines": "recording",
    "load_expected_failures": "expected",
    "load_recording": "recording",
    "load_scenario": "scenario",
    "report_page": "report",
    "print_report": "output",
    "print_scenario": "output",
    "recorded": "recording",
    "replay": "runner",
    "run_replay": "command",
    "run_scenario": "runner",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
