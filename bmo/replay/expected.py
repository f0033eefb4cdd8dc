"""Scenarios that do not hold yet: a file beside them names each with the reason."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bmo.replay.scenario import ScenarioError

FILE_NAME = "expected_failures.yaml"
"""Name of the file; it lies in the scenarios' directory."""


class ExpectedFailure(BaseModel):
    """One scenario that is known not to hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scenario: str
    """Its id."""
    reason: str
    """Why it does not hold yet."""


_FILE = TypeAdapter(tuple[ExpectedFailure, ...])


def load_expected_failures(directory: Path) -> dict[str, str]:
    """Scenario id -> reason, from the directory's file; empty when there is none.

    Raises:
        ScenarioError: The file is no list of scenario and reason, or names one twice.
    """
    path = directory / FILE_NAME
    if not path.is_file():
        return {}
    try:
        entries = _FILE.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")) or [])
    except (yaml.YAMLError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise ScenarioError(
            f"{path}: must be a list of 'scenario' and 'reason' entries ({first})."
        ) from None
    reasons: dict[str, str] = {}
    for entry in entries:
        if entry.scenario in reasons:
            raise ScenarioError(f"{path}: names {entry.scenario!r} twice.")
        reasons[entry.scenario] = entry.reason
    return reasons
