"""Conversations that can be played again: scenario files, replay, differences, pytest plugin.

The pytest plugin is loaded in every test run of a machine where BMO is installed, so this module
imports nothing: names are fetched when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bmo.replay.command import run_replay
    from bmo.replay.compare import ScenarioResult, TurnResult
    from bmo.replay.expected import ExpectedFailure, load_expected_failures
    from bmo.replay.output import json_lines, print_report, print_scenario
    from bmo.replay.runner import replay, run_scenario
    from bmo.replay.scenario import Scenario, ScenarioError, find_scenarios, load_scenario

__all__ = [
    "ExpectedFailure",
    "Scenario",
    "ScenarioError",
    "ScenarioResult",
    "TurnResult",
    "find_scenarios",
    "json_lines",
    "load_expected_failures",
    "load_scenario",
    "print_report",
    "print_scenario",
    "replay",
    "run_replay",
    "run_scenario",
]

_HOMES = {
    "ExpectedFailure": "expected",
    "Scenario": "scenario",
    "ScenarioError": "scenario",
    "ScenarioResult": "compare",
    "TurnResult": "compare",
    "find_scenarios": "scenario",
    "json_lines": "output",
    "load_expected_failures": "expected",
    "load_scenario": "scenario",
    "print_report": "output",
    "print_scenario": "output",
    "replay": "runner",
    "run_replay": "command",
    "run_scenario": "runner",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
