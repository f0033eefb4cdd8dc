"""``bmo memories``: look at what is remembered and why. These work beside a running BMO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.opening import (
    IdArgument,
    JsonOption,
    UserOption,
    moment_option,
    opened_ledger,
    settings_for,
    the_fact,
)
from bmo.cli.tables import fact_row, show_facts, show_pairs, shown
from bmo.turn import CATEGORIES, StoredFact

if TYPE_CHECKING:
    from bmo.ledger import LoggedTurn, Why

memories = typer.Typer(no_args_is_help=True, help="Look at, explain, edit and erase memories.")


def register(app: typer.Typer) -> None:
    """Adds the command group."""
    app.add_typer(memories, name="memories")


@memories.command("list")
def list_command(
    user: UserOption = None,
    category: Annotated[str | None, typer.Option("--category", help="One category.")] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="What was known and true then (ISO 8601).")
    ] = None,
    past: Annotated[bool, typer.Option("--past", help="Ended memories too.")] = False,
    extraction_version: Annotated[
        str | None, typer.Option("--extraction-version", help="Written by this gate version.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """What is remembered."""
    settings = settings_for(user)
    if category is not None and category not in CATEGORIES:
        raise CommandError(
            f"--category {category[:40]!r} is unknown: use one of {', '.join(CATEGORIES)}."
        )
    moment = moment_option("--as-of", as_of)
    with opened_ledger(settings) as ledger:
        facts = ledger.live_facts(
            settings.bmo_user_id,
            categories=None if category is None else [category],
            at=moment,
            include_past=past,
            extraction_version=extraction_version,
        )
    if as_json:
        for fact in facts:
            write_line(fact_row(fact))
    else:
        show_facts(Console(), facts)


@memories.command("show")
def show_command(
    memory_id: IdArgument, user: UserOption = None, as_json: JsonOption = False
) -> None:
    """One memory, with everything that is written about it."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
    if as_json:
        write_line(fact_row(fact))
        return
    console = Console()
    console.print(f"[bold]{shown(fact.text)}[/bold]", highlight=False)
    show_pairs(console, _everything(fact))


@memories.command("why")
def why_command(
    memory_id: IdArgument, user: UserOption = None, as_json: JsonOption = False
) -> None:
    """Why something is known: the date, the words, the rule, what it replaced."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
        why = ledger.why(settings.bmo_user_id, fact.id)
    if why is None:
        raise CommandError(f"the memory {fact.id[:8]} was erased meanwhile.", 1)
    if as_json:
        write_line(why_row(why))
    else:
        show_why(Console(), why)


@memories.command("history")
def history_command(
    memory_id: IdArgument, user: UserOption = None, as_json: JsonOption = False
) -> None:
    """A memory and everything it replaced or was replaced by, oldest first."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        fact = the_fact(ledger, settings.bmo_user_id, memory_id)
        facts = ledger.history(settings.bmo_user_id, fact.id)
    if as_json:
        for row in facts:
            write_line(fact_row(row))
    else:
        show_facts(Console(), facts)


@memories.command("conflicts")
def conflicts_command(user: UserOption = None, as_json: JsonOption = False) -> None:
    """Memories that contradict each other and cannot be ordered."""
    settings = settings_for(user)
    with opened_ledger(settings) as ledger:
        groups = ledger.conflicts(settings.bmo_user_id)
    if as_json:
        for group in groups:
            write_line(
                {
                    "subject": group[0].subject,
                    "slot": group[0].slot,
                    "memories": [fact_row(fact) for fact in group],
                }
            )
        return
    console = Console()
    if not groups:
        console.print("No conflicts.")
    for number, group in enumerate(groups):
        if number:
            console.print()
        about = " ".join(filter(None, (group[0].subject, group[0].slot)))
        console.print(f"[dim]{shown(about)}[/dim]", highlight=False)
        show_facts(console, group)


def why_row(why: Why) -> dict[str, Any]:
    """Where a memory comes from, as the documented JSON object."""
    return {
        **fact_row(why.fact),
        "rule_id": why.fact.rule_id,
        "extraction_method": why.fact.extraction_method,
        "extraction_version": why.fact.extraction_version,
        "confidence": why.fact.confidence,
        "said": [
            {"turn_id": turn.id, "at": turn.at.isoformat(), "text": turn.text} for turn in why.said
        ],
        "replaced": [fact_row(older) for older in why.replaced],
        "replaced_by": None if why.replaced_by is None else fact_row(why.replaced_by),
    }


def show_why(console: Console, why: Why) -> None:
    """Where a memory comes from, for people."""
    fact = why.fact
    console.print(f"[bold]{shown(fact.text)}[/bold]", highlight=False)
    rows = [_said(turn) for turn in why.said]
    if not rows:
        rows.append((f"{fact.valid_from:%Y-%m-%d %H:%M}", f"from: {fact.source_type}"))
    rule = fact.extraction_method or fact.rule_id or fact.source_type
    version = f"{fact.extraction_version}, " if fact.extraction_version else ""
    rows.append(("kept by", f"{rule} ({version}confidence {fact.confidence:.2f})"))
    rows += [
        ("replaced", f"{older.text} (since {older.valid_from:%Y-%m-%d})") for older in why.replaced
    ]
    if why.replaced_by is not None:
        rows.append(("replaced by", why.replaced_by.text))
    elif fact.valid_until is not None:
        rows.append(("ended", f"{fact.valid_until:%Y-%m-%d} ({fact.end_reason})"))
    show_pairs(console, rows)


def _said(turn: LoggedTurn) -> tuple[str, str]:
    words = f'"{turn.text}"' if turn.text else "(the words were dropped)"
    return f"{turn.at:%Y-%m-%d %H:%M}", f"you said: {words}"


def _everything(fact: StoredFact) -> list[tuple[str, str]]:
    until = "-"
    if fact.valid_until is not None:
        until = f"{fact.valid_until:%Y-%m-%d %H:%M} ({fact.end_reason or 'ended'})"
    return [
        ("id", fact.id),
        ("subject", fact.subject),
        ("slot", fact.slot or "-"),
        ("value", fact.value or "-"),
        ("category", f"{fact.category}, {fact.kind}"),
        ("since", f"{fact.valid_from:%Y-%m-%d %H:%M}"),
        ("until", until),
        ("replaced by", fact.superseded_by or "-"),
        ("source", ", ".join(filter(None, (fact.source_type, fact.extraction_method)))),
        ("confidence", f"{fact.confidence:.2f}"),
        ("conflict", "yes: see bmo memories conflicts" if fact.conflict else "no"),
        ("used", f"{fact.use_count} times"),
        ("indexed", "yes" if fact.index_id else "not yet"),
    ]
