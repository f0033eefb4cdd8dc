"""``bmo replay --report``: size, time to draw; ``python -m benchmarks.replay_report``.

Plays the repository's scenarios (or reads the recording named as first argument), takes turns of
them and opens the page in a headless Chromium.
"""

from __future__ import annotations

import asyncio
import gzip
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from bmo.replay.recording import load_recording
from bmo.replay.report import report_page
from bmo.replay.rows import RecordedScenario
from bmo.replay.runner import replay
from bmo.replay.scenario import find_scenarios
from tests.browser import Browser, find_chromium, running_chromium

SIZES = (500, 5000)
OPENED = 5
PAGE_MB = 1.0
DRAWN_MS = 1000.0
FILTER_MS = 100.0
"""Budgets for 500 turns on 2 cores."""


async def played() -> list[RecordedScenario]:
    """The repository's scenarios as they go now."""
    return [result async for result in replay(find_scenarios([Path("tests/scenarios")]))]


def cut(scenarios: Sequence[RecordedScenario], turns: int) -> list[RecordedScenario]:
    """Exactly so many turns, repeating the conversations where there are too few."""
    taken: list[RecordedScenario] = []
    left = turns
    while left:
        for scenario in scenarios:
            part = scenario.turns[:left]
            left -= len(part)
            if part:
                taken.append(replace(scenario, turns=part))
    return taken


def milliseconds(browser: Browser, file: Path, width: int) -> tuple[float, float]:
    """Median time from navigation to the last turn drawn, and of one filter."""
    drawn, filtered = [], []
    for _ in range(OPENED):
        page = browser.page(width=width, height=900)
        page.open(file)
        drawn.append(float(page.evaluate("document.documentElement.dataset.ready")))
        filtered.append(
            float(
                page.evaluate(
                    "(() => { const began = performance.now();"
                    " document.querySelector('input[value=hold]').click();"
                    " document.body.getBoundingClientRect();"
                    " return performance.now() - began; })()"
                )
            )
        )
        page.close()
    return statistics.median(drawn), statistics.median(filtered)


def lines(scenarios: Sequence[RecordedScenario], browser: Browser, folder: Path) -> Iterable[str]:
    """A line a figure, with its budget where it has one."""
    for turns in SIZES:
        part = cut(scenarios, turns)
        began = time.process_time()
        page = report_page(part).encode("utf-8")
        made = (time.process_time() - began) * 1000
        file = folder / f"{turns}.html"
        file.write_bytes(page)
        budget = f" (budget {PAGE_MB} MB)" if turns == SIZES[0] else ""
        yield (
            f"{turns} turns: {len(page) / 1e6:.2f} MB{budget}, "
            f"{len(gzip.compress(page)) / 1e6:.2f} MB packed, made in {made:.0f} ms of CPU time"
        )
        for width in (1440, 390):
            drawn, filtered = milliseconds(browser, file, width)
            shown = f"  {width} px: drawn {drawn:.0f} ms, one filter {filtered:.0f} ms"
            if turns == SIZES[0]:
                shown += f" (budgets {DRAWN_MS:.0f} and {FILTER_MS:.0f} ms)"
            yield shown


def main() -> None:
    """Prints the figures."""
    if find_chromium() is None:
        sys.exit("There is no Chromium here; on Debian: apt install chromium")
    named = sys.argv[1:]
    scenarios = load_recording(Path(named[0])) if named else asyncio.run(played())
    with tempfile.TemporaryDirectory() as folder, running_chromium() as browser:
        for line in lines(scenarios, browser, Path(folder)):
            print(line)


if __name__ == "__main__":
    main()
