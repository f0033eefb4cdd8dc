"""What ``bmo replay`` does: play files, say what differs, compare with a baseline, draw a page."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from bmo.replay.changes import parse_fail_on
from bmo.replay.diff import ReplayDiff, compare_recordings, failures
from bmo.replay.diff_output import diff_object, markdown, print_diff
from bmo.replay.output import print_report, print_scenario
from bmo.replay.recording import SUFFIXES, json_lines, load_recording
from bmo.replay.report import report_page
from bmo.replay.rows import RecordedScenario
from bmo.replay.runner import replay
from bmo.replay.scenario import ScenarioError, find_scenarios
from bmo.settings import Settings, load_settings
from bmo.telemetry import quiet_logs


@dataclass(frozen=True, slots=True)
class ReplayOutput:
    """What is to come of a replay: the options of ``bmo replay``."""

    as_json: bool = False
    verbose: bool = False
    baseline: Path | None = None
    fail_on: str | None = None
    markdown: Path | None = None
    report: Path | None = None


def run_replay(
    paths: Sequence[Path],
    output: ReplayOutput | None = None,
    *,
    settings: Settings | None = None,
) -> int:
    """Plays scenario files, reads recordings (``.json``, ``.jsonl``) and prints the outcome.

    Returns:
        Without a baseline 0 when nothing differs from what the scenarios say and 1 when something
        does; with one 1 when something of ``fail_on`` changed. 2 when a file cannot be used.
    """
    try:
        return _replay(paths, output or ReplayOutput(), settings)
    except ScenarioError as error:
        for sentence in str(error).splitlines():
            print(f"bmo: {sentence}", file=sys.stderr)
        return 2


def _replay(paths: Sequence[Path], output: ReplayOutput, settings: Settings | None) -> int:
    # All that can be wrong with the request is said before the first conversation is played.
    fail_on = parse_fail_on(output.fail_on) if output.fail_on is not None else ()
    for option, value in (("--fail-on", output.fail_on), ("--markdown", output.markdown)):
        if value is not None and output.baseline is None:
            raise ScenarioError(f"{option} needs --baseline with a recording to compare with.")
    for file in (output.markdown, output.report):
        if file is not None:
            _check_writable(file)
    old = load_recording(output.baseline) if output.baseline else None
    recordings = [path for path in paths if path.suffix in SUFFIXES and not path.is_dir()]
    read = [scenario for path in recordings for scenario in load_recording(path)]
    files = find_scenarios(path for path in paths if path not in recordings)
    # Into a file or a pipe a difference stays on one line.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 240)
    results = asyncio.run(_play(read, files, console, output, settings))
    _check_ids(results)
    diff = compare_recordings(old, results) if old is not None else None
    if output.report is not None:
        _write(output.report, report_page(results, diff))
    if diff is not None:
        return _compare(diff, fail_on=failures(diff, fail_on), console=console, output=output)
    if not output.as_json:
        print_report(console, results)
    return 0 if all(result.holds for result in results) else 1


async def _play(
    read: Sequence[RecordedScenario],
    files: Sequence[Path],
    console: Console,
    output: ReplayOutput,
    settings: Settings | None,
) -> list[RecordedScenario]:
    """Reads and plays, printing each as it is done."""
    results: list[RecordedScenario] = []
    # A diff says what changed; the differences of old are not its subject.
    quiet = output.baseline is not None and not output.verbose
    with quiet_logs():
        async for result in _all(read, files, settings):
            results.append(result)
            if output.as_json:
                for line in json_lines(result):
                    print(line, flush=True)
            elif not quiet:
                print_scenario(console, result, verbose=output.verbose)
    return results


async def _all(
    read: Sequence[RecordedScenario], files: Sequence[Path], settings: Settings | None
) -> AsyncIterator[RecordedScenario]:
    for scenario in read:
        yield scenario
    if files:
        async for result in replay(files, settings or load_settings()):
            yield result


def _compare(
    diff: ReplayDiff, *, fail_on: Mapping[str, int], console: Console, output: ReplayOutput
) -> int:
    if output.markdown is not None:
        _write(output.markdown, markdown(diff, fail_on))
    if output.as_json:
        print(json.dumps(diff_object(diff, fail_on), ensure_ascii=False))
    else:
        print_diff(console, diff, fail_on)
    return 1 if fail_on else 0


def _check_ids(results: Sequence[RecordedScenario]) -> None:
    seen: set[str] = set()
    for result in results:
        if result.id in seen:
            raise ScenarioError(f"scenario {result.id!r} was given twice; give each once.")
        seen.add(result.id)


def _check_writable(file: Path) -> None:
    if file.is_dir():
        raise ScenarioError(f"{file}: is a folder; name a file in it.")
    if not file.parent.is_dir():
        raise ScenarioError(f"{file}: there is no folder {str(file.parent)!r}; make it first.")


def _write(file: Path, text: str) -> None:
    try:
        # A lone surrogate of a hostile turn has no UTF-8.
        file.write_text(text, encoding="utf-8", errors="replace")
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be written: {error.strerror}.") from None
