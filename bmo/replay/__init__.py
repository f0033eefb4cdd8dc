"""Conversations that can be played again: scenario files, replay, differences, pytest plugin.

The pytest plugin is loaded in every test run of a machine where BMO is installed, so this module
imports nothing: names are fetched when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bmo.replay.command import ReplayOutput, run_replay
    from bmo.replay.diff import compare_recordings
    from bmo.replay.from_ledger import NothingToExport, export_turns
    from bmo.replay.recording import load_recording
    from bmo.replay.report import report_page
    from bmo.replay.rows import RecordedScenario
    from bmo.replay.runner import replay, run_scenario
    from bmo.replay.scenario import SUFFIX, Scenario, ScenarioError, find_scenarios, load_scenario

__all__ = [
    "SUFFIX",
    "NothingToExport",
    "RecordedScenario",
    "ReplayOutput",
    "Scenario",
    "ScenarioError",
    "compare_recordings",
    "export_turns",
    "find_scenarios",
    "load_recording",
    "load_scenario",
    "replay",
    "report_page",
    "run_replay",
    "run_scenario",
]

_HOMES = {
    "command": ("ReplayOutput", "run_replay"),
    "diff": ("compare_recordings",),
    "from_ledger": ("NothingToExport", "export_turns"),
    "recording": ("load_recording",),
    "report": ("report_page",),
    "rows": ("RecordedScenario",),
    "runner": ("replay", "run_scenario"),
    "scenario": ("SUFFIX", "Scenario", "ScenarioError", "find_scenarios", "load_scenario"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
