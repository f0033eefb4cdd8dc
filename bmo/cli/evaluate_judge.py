"""``bmo eval judge``: the report on the local judge, and its comparison with a reference."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bmo.evaluation.judge_figures import (
    compared,
    outcomes_of,
    read_outcomes,
    write_outcomes,
)
from bmo.evaluation.judge_report import Row, judge_report
from bmo.settings import load_settings

if TYPE_CHECKING:
    from bmo.judge import Judge


@dataclass(frozen=True, slots=True)
class Asked:
    """A judge and what to measure it on.

    Attributes:
        judge: An open judge.
        conversations: Folder with annotated conversations.
        corpora: Folder with lines written by others, or None.
        world: Folder with statements about the world and nobody, or None.
        as_json: One JSON object instead of a table.
    """

    judge: Judge
    conversations: Path
    corpora: Path | None
    world: Path | None
    as_json: bool


def report_judge(asked: Asked) -> None:
    """Prints every figure with its interval, and its bar where it has one."""
    from bmo.gate import WriteGate
    from bmo.recall import ReadGate

    settings = load_settings(gatekeeper_mode="local")
    rows = judge_report(
        asked.judge,
        WriteGate.from_settings(settings, judge=asked.judge),
        ReadGate.from_settings(settings, judge=asked.judge),
        asked.conversations,
        asked.corpora,
        asked.world,
    )
    if asked.as_json:
        print(json.dumps({"version": asked.judge.version, "figures": [_row(r) for r in rows]}))
        return
    table = Table(title=f"judge {asked.judge.version}", title_justify="left")
    for name in ("", "figure", "share (cases; 95% interval)", "bar", ""):
        table.add_column(name, no_wrap=True)
    for row in rows:
        word = {None: "", True: "[green]met[/green]", False: "[red]missed[/red]"}[row.met]
        bar = "" if row.bar is None else str(row.bar)
        table.add_row(row.part, row.name, str(row.value), bar, word)
    Console(width=max(110, Console().width)).print(table)


def compare_judge(asked: Asked, against: Path | None, accept: Path | None) -> bool:
    """Compares a judge with reference outcomes, or makes it the reference.

    Returns:
        Whether it is worse than the reference by more than noise.

    Raises:
        ReferenceMissing: The reference is missing or of other conversations.
    """
    outcomes = outcomes_of(asked.judge, asked.conversations)
    worse = False
    if against is not None:
        reference = read_outcomes(against)
        found = compared(outcomes, reference)
        worse = any(difference.worse for difference in found)
        if asked.as_json:
            rows = [{**asdict(d), "worse": d.worse} for d in found]
            print(
                json.dumps(
                    {
                        "version": outcomes.version,
                        "reference": reference.version,
                        "differences": rows,
                        "worse": worse,
                    }
                )
            )
        else:
            print(f"judge {outcomes.version} against {reference.version}")
            for difference in found:
                print(f"  {difference}")
    if accept is not None and not worse:
        write_outcomes(outcomes, accept)
        print(f"{accept}: outcomes of judge {outcomes.version}")
    return worse


def _row(row: Row) -> dict[str, object]:
    value = row.value
    return {
        "part": row.part,
        "name": row.name,
        "hits": value.hits,
        "total": value.total,
        "low": value.low,
        "high": value.high,
        "bar": None if row.bar is None else str(row.bar),
        "met": row.met,
    }
