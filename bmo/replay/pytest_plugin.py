"""pytest collects ``*.turns.yaml`` files: each scenario is a test.

Installed with the package (entry point ``bmo``), so it is loaded in every pytest run of the
environment: it imports nothing of BMO until such a file is found. Scenarios named in an
``expected_failures.yaml`` beside them are expected to fail; one that passes is reported as a
failure (strict), so the list cannot go stale.

Switch it off with ``-p no:bmo``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bmo.replay.runner import ReplayMemory
    from bmo.replay.scenario import Scenario

_SUFFIX = ".turns.yaml"
_MEMORY: pytest.StashKey[ReplayMemory] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known where it is not."""
    config.addinivalue_line(
        "markers", "scenario: an annotated conversation through a real AgentSession"
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Takes scenario files."""
    if file_path.name.endswith(_SUFFIX):
        collector: pytest.Collector = ScenarioFile.from_parent(parent, path=file_path)
        return collector
    return None


class ScenarioFile(pytest.File):
    """One ``*.turns.yaml`` file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yields the file's one test."""
        from bmo.replay.expected import load_expected_failures
        from bmo.replay.scenario import ScenarioError, load_scenario

        try:
            scenario = load_scenario(self.path)
            reasons = load_expected_failures(self.path.parent)
        except ScenarioError as error:
            raise self.CollectError(str(error)) from None
        item: ScenarioItem = ScenarioItem.from_parent(self, name=scenario.id, scenario=scenario)
        item.add_marker("scenario")
        if scenario.id in reasons:
            item.add_marker(
                pytest.mark.xfail(reason=reasons[scenario.id], raises=ScenarioDiffers, strict=True)
            )
        yield item


class ScenarioDiffers(AssertionError):
    """A replayed scenario differs from what is written in it."""


class ScenarioItem(pytest.Item):
    """Replays one scenario."""

    def __init__(self, *, scenario: Scenario, **rest: Any) -> None:
        """Made by ``ScenarioFile``."""
        super().__init__(**rest)
        self.scenario = scenario

    def runtest(self) -> None:
        """Replays it with the settings' defaults and compares.

        Raises:
            ScenarioDiffers: It differs.
        """
        import asyncio

        from bmo.replay.runner import run_scenario

        result = asyncio.run(run_scenario(self.scenario, memory=_memory(self.config)))
        if not result.holds:
            raise ScenarioDiffers("\n".join(result.all_mismatches))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The differences, without a traceback of the runner."""
        if isinstance(excinfo.value, ScenarioDiffers):
            return f"{self.scenario.id} differs:\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it is."""
        return self.path, 0, f"scenario: {self.name}"


def _memory(config: pytest.Config) -> ReplayMemory:
    """The memory that all scenarios of a run share."""
    from bmo.replay.runner import ReplayMemory
    from bmo.settings import Settings

    if _MEMORY not in config.stash:
        # Neither the environment nor a .env file may change what a scenario means.
        config.stash[_MEMORY] = ReplayMemory(Settings.model_construct())
    return config.stash[_MEMORY]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Closes the memory of the run."""
    memory = config.stash.get(_MEMORY, None)
    if memory is not None:
        memory.close()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints how many scenarios hold and how many are expected to fail."""
    counts = {
        outcome: sum(
            str(getattr(report, "nodeid", "")).partition("::")[0].endswith(_SUFFIX)
            for report in terminalreporter.stats.get(outcome, [])
            if getattr(report, "when", "call") == "call"
        )
        for outcome in ("passed", "failed", "xfailed")
    }
    total = sum(counts.values())
    if total:
        terminalreporter.write_line(
            f"scenarios: {counts['passed']} of {total} hold, "
            f"{counts['xfailed']} expected to differ, {counts['failed']} differ unexpectedly"
        )
