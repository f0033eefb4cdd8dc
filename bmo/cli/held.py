"""``bmo held``: the turns the gate neither kept nor dropped, for a person to decide on."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import write_line
from bmo.cli.opening import JsonOption, UserOption, opened_ledger, opened_stores, settings_for
from bmo.cli.tables import fact_row, narrow_table, show_facts, shown
from bmo.ledger import Ledger, LoggedTurn
from bmo.settings import Settings
from bmo.turn import CATEGORIES, Category

FLUSH_S = 60.0
"""Longest wait for the index after a turn was allowed, in seconds."""


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("held")(held_command)


def held_command(
    allow: Annotated[str | None, typer.Option("--allow", help="Store this turn.")] = None,
    discard: Annotated[str | None, typer.Option("--discard", help="Drop this turn.")] = None,
    text: Annotated[
        str | None, typer.Option("--as", help="With --allow: what the memory should say.")
    ] = None,
    category: Annotated[
        str | None, typer.Option("--category", help="With --allow: where it belongs.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Turns shown at most.")] = 50,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turns that are held: never recalled, until somebody allows them."""
    settings = settings_for(user)
    if allow is not None and discard is not None:
        raise CommandError("--allow and --discard are one at a time.")
    if allow is None and (text is not None or category is not None):
        raise CommandError("--as and --category belong to --allow.")
    if category is not None and category not in CATEGORIES:
        raise CommandError(
            f"--category {category[:40]!r} is unknown: use one of {', '.join(CATEGORIES)}."
        )
    if text is not None and not text.strip():
        raise CommandError("--as is empty; say what the memory should say.")
    if allow is not None:
        _allow(settings, allow, text, category, as_json)
    elif discard is not None:
        _discard(settings, discard)
    else:
        _list(settings, limit, as_json)


def held_row(turn: LoggedTurn) -> dict[str, Any]:
    """A held turn as the documented JSON object."""
    return {
        "id": turn.id,
        "user_id": turn.user_id,
        "at": turn.at.isoformat(),
        "text": turn.text,
        "assistant_before": turn.assistant_before,
        "reason": turn.reason,
        "signals": list(turn.signals),
        "confidence": turn.decision_confidence,
        "gate_version": turn.gate_version,
        "fallback": turn.fallback,
    }


def show_held(console: Console, turns: list[LoggedTurn]) -> None:
    """Held turns as a table that fits the terminal."""
    table = narrow_table()
    table.add_column("id", no_wrap=True, style="dim")
    table.add_column("said", overflow="fold", ratio=1)
    table.add_column("why held", overflow="fold", style="dim", max_width=18)
    table.add_column("on", no_wrap=True, style="dim")
    for turn in turns:
        said = shown(turn.text) or "(the words were dropped)"
        table.add_row(turn.id[:8], said, shown(turn.reason), f"{turn.at:%Y-%m-%d}")
    console.print(table, highlight=False)


def _list(settings: Settings, limit: int, as_json: bool) -> None:
    with opened_ledger(settings) as ledger:
        turns = ledger.held(settings.bmo_user_id, limit=None if as_json else limit + 1)
    if as_json:
        for turn in turns:
            write_line(held_row(turn))
        return
    console = Console()
    if not turns:
        console.print("Nothing is held.")
        return
    show_held(console, turns[:limit])
    if len(turns) > limit:
        console.print(f"[dim]... and more: --limit {limit * 2}[/dim]", highlight=False)


def _allow(
    settings: Settings, prefix: str, text: str | None, category: Category | None, as_json: bool
) -> None:
    from bmo.memory.by_hand import fact_of_held

    user_id = settings.bmo_user_id
    with opened_stores(settings) as stores:
        ledger = stores.ledger
        turn = _the_held(ledger, user_id, prefix)
        if not turn.text and text is None:
            raise CommandError(f"the words of {turn.id[:8]} were dropped: say them with --as.")
        fact = fact_of_held(
            turn,
            ledger.known_subjects(user_id),
            text=text,
            category=category,
        )
        recorded = stores.recorder.call(ledger.allow_held, user_id, turn.id, [fact]).result()
        stores.recorder.flush(FLUSH_S)
    for notice in stores.notices:
        typer.echo(f"bmo: {notice}", err=True)
    stored = [*recorded.added, *recorded.confirmed]
    if as_json:
        for one in stored:
            write_line(fact_row(one))
    elif stored:
        show_facts(Console(), stored)
    else:
        Console().print("Nothing was stored: it was forgotten once and stays so.")


def _discard(settings: Settings, prefix: str) -> None:
    with opened_ledger(settings) as ledger:
        turn = _the_held(ledger, settings.bmo_user_id, prefix)
        ledger.discard_held(settings.bmo_user_id, turn.id)
    Console().print(f"discarded {turn.id[:8]}  {shown(turn.text)}", highlight=False)


def _the_held(ledger: Ledger, user_id: str, prefix: str) -> LoggedTurn:
    wanted = prefix.strip().lower()
    found = [t for t in ledger.held(user_id) if wanted and t.id.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise CommandError(
            f"no held turn of {user_id!r} has an id that starts with {prefix[:40]!r}; "
            "bmo held shows them."
        )
    raise CommandError(
        f"{len(found)} held turns have an id that starts with {prefix!r}: add to it."
    )
