"""``bmo doctor``, ``bmo stats`` and ``bmo health``: is everything as it should be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Column

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import row_of, write_line
from bmo.cli.opening import opened_ledger, opened_reader, settings_for
from bmo.cli.options import ObjectOption, user_option
from bmo.cli.tables import VERDICT_STYLE, WIDE, narrow_table, screen, show_rows, shown
from bmo.telemetry import quiet_logs
from bmo.turn import utc_now

if TYPE_CHECKING:
    from bmo.evaluation.checks import Check
    from bmo.ledger import Ledger
    from bmo.settings import Settings

STATUS_STYLE = {"ok": "green", "warn": "yellow", "fail": "red"}
SUSPECTS_SHOWN = 20
"""Skipped turns shown, the most suspect ones."""

EverybodysOption = Annotated[str | None, user_option("One user's; default everybody's.")]

app = typer.Typer()


@app.command("doctor")
def doctor_command(as_json: ObjectOption = False) -> None:
    """Check this machine: each line ok, warn or fail, with the fix; exit 1 when one fails."""
    from bmo.evaluation.doctor import examine

    with quiet_logs():
        _report(examine(), as_json)


@app.command("stats")
def stats_command(
    days: Annotated[int, typer.Option(min=1, max=3650, help="Days to look back.")] = 14,
    suspects: Annotated[
        bool,
        typer.Option("--false-negatives", help="Skipped turns that perhaps should have been kept."),
    ] = False,
    user: EverybodysOption = None,
    as_json: ObjectOption = False,
) -> None:
    """What memory did: verdicts by day, rules, recalls, feedback, growth."""
    from bmo.evaluation.health import statistics_of

    settings = settings_for(user)
    with opened_ledger(settings, look=True) as ledger:
        if suspects:
            _show_suspects(ledger, settings, utc_now() - timedelta(days=days), user, as_json)
            return
        found = statistics_of(ledger, now=utc_now(), days=days, user_id=user)
    if as_json:
        write_line(found)
    else:
        _show_stats(screen(), found)


@app.command("health")
def health_command(
    window: Annotated[int, typer.Option(min=1, max=3650, help="The latest days.")] = 7,
    baseline: Annotated[int, typer.Option(min=1, max=3650, help="The days before them.")] = 28,
    user: EverybodysOption = None,
    as_json: ObjectOption = False,
) -> None:
    """Compare the latest days with those before; exit 1 when something is out of order."""
    from bmo.evaluation.health import examine

    with opened_reader(settings_for(user), look=True) as reader:
        checks = examine(
            reader.ledger,
            reader.index,
            now=utc_now(),
            window_days=window,
            baseline_days=baseline,
            user_id=user,
            index_absent=" ".join(reader.notices),
        )
        _report(checks, as_json)


def _show_suspects(
    ledger: Ledger, settings: Settings, since: datetime, user_id: str | None, as_json: bool
) -> None:
    """Skipped turns, the most suspect first."""
    from bmo.evaluation.false_negatives import false_negatives
    from bmo.index import EmbedderUnavailable, open_embedder

    try:
        with closing(open_embedder(settings)) as embedder:
            found = false_negatives(
                ledger, embedder, since=since, user_id=user_id, limit=SUSPECTS_SHOWN
            )
    except EmbedderUnavailable as error:
        raise CommandError(str(error), 1) from error
    if as_json:
        rows = [
            {
                "turn_id": one.turn.id,
                **row_of(one.turn, "at text reason"),
                **row_of(one, "why near"),
                "similarity": round(one.similarity, 4),
            }
            for one in found
        ]
        write_line({"false_negatives": rows})
        return
    console = screen()
    if not found:
        console.print("No skipped turn is suspect.")
    for one in found:
        console.print(
            f"[dim]{one.turn.id[:8]} {one.turn.at:%Y-%m-%d}[/dim] {shown(one.turn.text)}\n"
            f"  [dim]{shown(one.turn.reason)}; {one.why} ({one.similarity:.2f}): "
            f"{shown(one.near)}[/dim]"
        )


def _report(checks: Iterable[Check], as_json: bool) -> None:
    """Prints checks as they come; exit 1 when one fails."""
    seen: list[Check] = []
    console = screen()
    for check in checks:
        seen.append(check)
        if not as_json:
            _show_check(console, check)
    ok = all(check.status != "fail" for check in seen)
    if as_json:
        write_line({"ok": ok, "checks": [asdict(check) for check in seen]})
    if not ok:
        raise typer.Exit(1)


def _show_check(console: Console, check: Check) -> None:
    name = Column(width=23 if console.width >= WIDE else 18, overflow="fold")
    row = narrow_table(Column(width=4), name, Column(overflow="fold", ratio=1), header=False)
    style = STATUS_STYLE[check.status]
    fix = f"\n[bold]fix:[/bold] {shown(check.fix)}" if check.fix else ""
    status = f"[{style}]{check.status}[/{style}]"
    row.add_row(status, shown(check.name), shown(check.found) + fix)
    console.print(row)


def _show_stats(console: Console, found: dict[str, Any]) -> None:
    """``found`` is the documented JSON object."""
    console.print(
        f"{found['live']} live memories of {found['users']} users; in {found['days']} days "
        f"{found['turns']} turns, {found['fallbacks']} fallbacks"
    )
    recalls, judged = found["recalls"], found["feedback"]
    _show_counts(
        ("day", *VERDICT_STYLE),
        [
            (day, *(verdicts.get(verdict, 0) for verdict in VERDICT_STYLE))
            for day, verdicts in found["by_day"].items()
        ],
    )
    for title, counted in (
        ("live memories", found["categories"]),
        ("held because", found["held_reasons"]),
        ("signals", found["signals"]),
        ("recall triggers", recalls["triggers"]),
    ):
        _show_counts((title, ""), list(counted.items())[:10])
    rules = [
        (rule["rule_id"] or "encoder", rule["memories"], rule["taken_back"], rule["unhelpful"])
        for rule in found["rules"][:15]
    ]
    _show_counts(("rules", "memories", "taken back", "unhelpful"), rules)
    if silent := len(found["silent_rules"]):
        console.print(f"[dim]{silent} rules did not fire; --json names them[/dim]")
    if judged["helpful_rate"] is not None:
        console.print(f"\n{judged['helpful_rate']:.0%} of the judgements on memories are good")
    if judged["rules_given"]:
        console.print(
            f"{judged['rules_broken']} of {judged['rules_given']} rules given were broken "
            f"({judged['rule_violation_rate']:.0%})"
        )
    if recalls["turns"]:
        console.print(
            f"\n{recalls['recalled']} of {recalls['turns']} turns asked memory, "
            f"{recalls['given']} memories given, {recalls['fallbacks']} fallbacks; median "
            f"{recalls['median_ms'] or 0:.1f} ms, p95 {recalls['p95_ms'] or 0:.1f} ms"
        )


def _show_counts(names: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table of what was counted, where anything was."""
    if rows:
        print()
        show_rows(names, [[shown(str(cell)) for cell in row] for row in rows])
