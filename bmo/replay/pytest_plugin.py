"""pytest collects ``*.turns.yaml`` files: each scenario is a test.

Installed with the package (entry point ``bmo``), so it is loaded in every pytest run of the
environment: it imports nothing of BMO until such a file is found.

Switch it off with ``-p no:bmo``.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bmo.memory import MemoryService
    from bmo.replay.scenario import Scenario

_SUFFIX = ".turns.yaml"
_MEMORY: pytest.StashKey[MemoryService] = pytest.StashKey()


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
        from bmo.replay.scenario import ScenarioError, load_scenario

        try:
            scenario = load_scenario(self.path)
        except ScenarioError as error:
            raise self.CollectError(str(error)) from None
        item: ScenarioItem = ScenarioItem.from_parent(self, name=scenario.id, scenario=scenario)
        item.add_marker("scenario")
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
        """Replays it with the settings' defaults and compares."""
        import asyncio

        from bmo.replay.runner import run_scenario

        result = asyncio.run(run_scenario(self.scenario, service=_memory(self.config)))
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


def _memory(config: pytest.Config) -> MemoryService:
    """The memory that all scenarios of a run share, closed at its end."""
    from bmo.replay.runner import replay_memory
    from bmo.settings import Settings

    if _MEMORY not in config.stash:
        opened = ExitStack()
        config.add_cleanup(opened.close)
        # Neither the environment nor a .env file may change what a scenario means.
        memory = opened.enter_context(replay_memory(Settings.model_construct()))
        config.stash[_MEMORY] = memory
    return config.stash[_MEMORY]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints how many scenarios hold."""
    passed, failed = (
        sum(
            str(getattr(report, "nodeid", "")).partition("::")[0].endswith(_SUFFIX)
            for report in terminalreporter.stats.get(outcome, [])
            if getattr(report, "when", "call") == "call"
        )
        for outcome in ("passed", "failed")
    )
    if passed or failed:
        terminalreporter.write_line(f"scenarios: {passed} of {passed + failed} hold")
