"""``bmo doctor``, ``bmo stats`` and ``bmo health``: is everything as it should be."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bmo.cli.jsonl import write_line
from bmo.cli.opening import opened_ledger, opened_reader, settings_for
from bmo.cli.tables import WIDE, narrow_table, shown
from bmo.telemetry import quiet_logs
from bmo.turn import utc_now

if TYPE_CHECKING:
    from bmo.evaluation.checks import Check
    from bmo.evaluation.health import Stats

STATUS_STYLE = {"ok": "green", "warn": "yellow", "fail": "red"}
VERDICT_STYLE = (("allow", "green"), ("hold", "yellow"), ("discard", "dim"))
BARS, PLAIN_BARS = "█▒░", "#=."
"""What verdicts are drawn with, and where the terminal's encoding has no such letters."""

ObjectOption = Annotated[bool, typer.Option("--json", help="One JSON object.")]
EverybodysOption = Annotated[
    str | None, typer.Option("--user", help="One user's; default everybody's.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("doctor")(doctor_command)
    app.command("stats")(stats_command)
    app.command("health")(health_command)


def doctor_command(as_json: ObjectOption = False) -> None:
    """Check this machine: each line ok, warn or fail, with the fix; exit 1 when one fails."""
    from bmo.evaluation.doctor import examine

    with quiet_logs():
        _report(examine(), as_json)


def stats_command(
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="Days to look back.")] = 14,
    user: EverybodysOption = None,
    as_json: ObjectOption = False,
) -> None:
    """What memory did: verdicts by day, rules, recalls, growth."""
    from bmo.evaluation.health import gather, known_rules

    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        found = gather(ledger, now=utc_now(), days=days, user_id=user, rules_known=known_rules())
    if as_json:
        write_line(stats_row(found))
    else:
        _show_stats(Console(), found)


def health_command(
    window: Annotated[int, typer.Option("--window", min=1, max=3650, help="The latest days.")] = 7,
    baseline: Annotated[
        int, typer.Option("--baseline", min=1, max=3650, help="The days before them.")
    ] = 28,
    user: EverybodysOption = None,
    as_json: ObjectOption = False,
) -> None:
    """Compare the latest days with those before; exit 1 when something is out of order."""
    from bmo.evaluation.health import examine

    settings = settings_for(user)
    with opened_reader(settings) as reader:
        _report(
            examine(
                reader.ledger,
                reader.index,
                now=utc_now(),
                window_days=window,
                baseline_days=baseline,
                user_id=user,
                index_absent=" ".join(reader.notices),
            ),
            as_json,
        )


def stats_row(found: Stats) -> dict[str, Any]:
    """Statistics as the documented JSON object."""
    from bmo.evaluation.metrics import percentile

    times = found.recalls.elapsed_ms
    return {
        "days": found.days,
        "users": found.users,
        "live": found.live,
        "categories": dict(found.categories),
        "turns": found.decisions.turns,
        "verdicts": dict(found.decisions.verdicts),
        "fallbacks": found.decisions.fallbacks,
        "held_reasons": dict(found.decisions.held_reasons),
        "signals": dict(found.decisions.signals),
        "by_day": {day: dict(verdicts) for day, verdicts in found.by_day.items()},
        "memories_by_day": dict(found.facts_by_day),
        "rules": [
            {
                "rule_id": rule.rule_id,
                "memories": rule.facts,
                "taken_back": rule.taken_back,
                "unhelpful": rule.unhelpful,
            }
            for rule in found.rules
        ],
        "silent_rules": list(found.silent_rules),
        "recalls": {
            "turns": found.recalls.turns,
            "recalled": found.recalls.recalled,
            "fallbacks": found.recalls.fallbacks,
            "given": found.recalls.given,
            "tokens": found.recalls.tokens,
            "triggers": dict(found.recalls.triggers),
            "median_ms": round(statistics.median(times), 2) if times else None,
            "p95_ms": round(percentile(times, 0.95), 2) if times else None,
        },
    }


def _report(checks: Iterable[Check], as_json: bool) -> None:
    """Prints checks as they come; exit 1 when one fails."""
    seen: list[Check] = []
    console = Console()
    for check in checks:
        seen.append(check)
        if not as_json:
            _show_check(console, check)
    ok = all(check.status != "fail" for check in seen)
    if as_json:
        rows = [{"name": c.name, "status": c.status, "found": c.found, "fix": c.fix} for c in seen]
        write_line({"ok": ok, "checks": rows})
    if not ok:
        raise typer.Exit(1)


def _show_check(console: Console, check: Check) -> None:
    row = narrow_table()
    row.show_header = False
    row.add_column(width=4)
    row.add_column(width=23 if console.width >= WIDE else 18, overflow="fold")
    row.add_column(overflow="fold", ratio=1)
    style = STATUS_STYLE[check.status]
    said = shown(check.found)
    if check.fix:
        said += f"\n[bold]fix:[/bold] {shown(check.fix)}"
    row.add_row(f"[{style}]{check.status}[/{style}]", shown(check.name), said)
    console.print(row, highlight=False)


def _show_stats(console: Console, found: Stats) -> None:
    console.print(
        f"{found.live} live memories of {found.users} users; in {found.days} days "
        f"{found.decisions.turns} turns, {found.decisions.fallbacks} fallbacks",
        highlight=False,
    )
    if found.by_day:
        legend = "  ".join(
            f"[{style}]{bar}[/{style}] {verdict} {found.decisions.verdicts.get(verdict, 0)}"
            for (verdict, style), bar in zip(VERDICT_STYLE, _bars(console), strict=True)
        )
        console.print(f"\n{legend}", highlight=False)
        _show_days(console, found.by_day)
    for title, counted in (
        ("live memories", found.categories),
        ("held because", found.decisions.held_reasons),
        ("signals", found.decisions.signals),
        ("recall triggers", found.recalls.triggers),
    ):
        _show_counts(console, title, counted)
    _show_rules(console, found)
    row = stats_row(found)["recalls"]
    if row["turns"]:
        console.print(
            f"\n{row['recalled']} of {row['turns']} turns asked memory, {row['given']} memories "
            f"given, {row['fallbacks']} fallbacks; median {row['median_ms'] or 0:.1f} ms, "
            f"p95 {row['p95_ms'] or 0:.1f} ms",
            highlight=False,
        )


def _show_days(console: Console, by_day: Mapping[str, Mapping[str, int]]) -> None:
    """One bar a day, all to the scale of the busiest."""
    most = max(sum(verdicts.values()) for verdicts in by_day.values())
    room = max(10, min(console.width, 100) - 20)
    for day, verdicts in by_day.items():
        total = sum(verdicts.values())
        bar = "".join(
            f"[{style}]{mark * _length(verdicts.get(verdict, 0), most, room)}[/{style}]"
            for (verdict, style), mark in zip(VERDICT_STYLE, _bars(console), strict=True)
        )
        console.print(f"[dim]{day}[/dim] {bar} {total}", highlight=False)


def _show_counts(console: Console, title: str, counted: Mapping[str, int]) -> None:
    if not counted:
        return
    console.print(f"\n[bold]{title}[/bold]")
    most = max(counted.values())
    table = narrow_table()
    table.show_header = False
    table.add_column(overflow="fold", max_width=30)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    for name, count in list(counted.items())[:10]:
        table.add_row(shown(name), str(count), _bars(console)[0] * _length(count, most, 20))
    console.print(table, highlight=False)


def _show_rules(console: Console, found: Stats) -> None:
    if found.rules:
        console.print("\n[bold]rules[/bold]")
        table = narrow_table()
        table.add_column("rule", overflow="fold")
        for title in ("memories", "taken back", "unhelpful"):
            table.add_column(title, justify="right")
        for rule in found.rules[:15]:
            counts = (rule.facts, rule.taken_back, rule.unhelpful)
            table.add_row(shown(rule.rule_id), *(str(count) for count in counts))
        console.print(table, highlight=False)
    if found.silent_rules:
        console.print(
            f"[dim]{len(found.silent_rules)} rules did not fire; --json names them[/dim]",
            highlight=False,
        )


def _bars(console: Console) -> str:
    return BARS if console.encoding.lower().startswith("utf") else PLAIN_BARS


def _length(count: int, most: int, room: int) -> int:
    """Characters of a bar; what is not nothing gets one at least."""
    return max(1, round(room * count / most)) if count else 0
