"""``bmo reindex`` and ``bmo reprocess``: make the index anew; run the present gate again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from bmo.cli.errors import CommandError
from bmo.cli.jsonl import row_of, write_line
from bmo.cli.opening import opened_ledger, opened_reader, opened_stores, settings_for
from bmo.cli.options import JsonOption, UserOption, moment
from bmo.cli.tables import fact_row, quoted, screen, shown
from bmo.quotation import quotation

if TYPE_CHECKING:
    from collections.abc import Callable

    from bmo.ledger import Ledger, Restated
    from bmo.memory.reprocess import Reprocessing
    from bmo.turn import Fact


LONGEST_RAW_S = 3600.0
"""Longest wait until the index has the turns of MEM0_SETTING=NORMAL again, in seconds."""

app = typer.Typer()


@app.command("reindex")
def reindex_command(
    missing: Annotated[
        bool, typer.Option("--missing", help="Keep what is right; only repair.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Also of an index that belongs to another ledger.")
    ] = False,
) -> None:
    """Make the search index anew from the ledger; interrupted, the next run goes on."""
    from bmo.index import IndexUnavailable, MemoryIndex
    from bmo.memory import MemoryUnavailable
    from bmo.recorder import Recorder, rebuild

    stored = ""
    settings = settings_for(None)
    if MemoryIndex.discard_damaged(settings):
        print("the index could not be read: it is made anew", file=sys.stderr)
    with opened_reader(settings, owner=True, take_over=take_over) as reader:
        if reader.index is None:
            raise CommandError(" ".join(reader.notices), 1)
        if reader.index.unavailable:
            raise CommandError(reader.index.unavailable, 1)
        try:
            with _bar("memories") as advance:
                written = rebuild(reader.index, reader.ledger, advance, fresh=not missing)
            if settings.mem0_setting == "NORMAL":
                with closing(Recorder(reader.ledger, reader.index, settings)) as recorder:
                    stored = f"; {reader.ledger.queue_raw_turns()} stored turns looked for"
                    if not recorder.flush(LONGEST_RAW_S):
                        stored += ", the rest is written by the next start"
        except IndexUnavailable as error:
            raise MemoryUnavailable(f"{error} Run bmo reindex again to go on.") from error
        except KeyboardInterrupt:
            raise CommandError("stopped; run bmo reindex again to go on.", 130) from None
        total, name = reader.index.count(), reader.index.collection
    print(f"{written} memories written{stored}; {name} holds {total}")


@app.command("reprocess")
def reprocess_command(
    since: Annotated[
        datetime | None, typer.Option(parser=moment, help="Turns said from then on (ISO 8601).")
    ] = None,
    version: Annotated[str | None, typer.Option(help="Turns decided by this gate version.")] = None,
    held: Annotated[bool, typer.Option("--held", help="Held turns only.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Write the difference.")] = False,
    every: Annotated[bool, typer.Option("--all-users", help="Of everybody in the ledger.")] = False,
    user: UserOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the present gate over logged turns: the difference first, written with --apply."""
    from bmo.gate import WriteGate
    from bmo.memory.reprocess import reprocess

    if every and user is not None:
        raise CommandError("--all-users and --user are one at a time.")
    settings = settings_for(user)

    def passes(ledger: Ledger) -> Reprocessing:
        users = ledger.users() if every else [settings.bmo_user_id]
        gate = WriteGate.from_settings(settings, load_encoder=settings.effective_mode != "pattern")
        with _bar("turns") as advance:
            return reprocess(
                ledger, gate, users, since=since, version=version, held=held, progress=advance
            )

    if not apply:
        with opened_ledger(settings) as ledger:
            found = passes(ledger)
    else:
        with opened_stores(settings) as stores:
            found = passes(stores.ledger)
            stores.write(stores.ledger.write_passes, found.changes)
    if as_json:
        for change in found.changes:
            write_line(change_row(change))
        write_line(summary_row(found, applied=apply))
    else:
        _show(screen(), found, applied=apply)


def change_row(change: Restated) -> dict[str, Any]:
    """What changes about one turn, as the documented JSON object."""
    return {
        "turn_id": change.turn.id,
        **row_of(change.turn, "user_id at"),
        "user": change.turn.text,
        **row_of(change.decision, "verdict reason"),
        "added": [_new_row(fact) for fact in change.added],
        "removed": [fact_row(fact) for fact in change.removed],
        "changed": [{"old": fact_row(old), "new": _new_row(new)} for old, new in change.changed],
    }


def summary_row(found: Reprocessing, *, applied: bool) -> dict[str, Any]:
    """The last JSON line: how much was looked at and what became of it."""
    return {
        **row_of(found, "gate_version turns without_words settled"),
        "reclassified": {
            f"{before}->{now}": count for (before, now), count in found.reclassified.items()
        },
        "added": sum(len(one.added) for one in found.changes),
        "removed": sum(len(one.removed) for one in found.changes),
        "changed": sum(len(one.changed) for one in found.changes),
        "applied": applied,
    }


def _new_row(fact: Fact) -> dict[str, Any]:
    return row_of(fact, "subject slot value text asked category kind rule_id")


def _show(console: Console, found: Reprocessing, *, applied: bool) -> None:
    for change in found.changes:
        console.print(f"[dim]{change.turn.at:%Y-%m-%d}[/dim] {shown(change.turn.text)}")
        for fact in change.added:
            console.print(f"  [green]+[/green] {shown(quotation(fact))}")
        for old in change.removed:
            console.print(f"  [red]-[/red] {quoted(old)}")
        for old, new in change.changed:
            console.print(f"  [yellow]~[/yellow] {quoted(old)} -> {shown(quotation(new))}")
    row = summary_row(found, applied=applied)
    console.print(
        f"{row['turns']} turns: +{row['added']} -{row['removed']} ~{row['changed']} memories"
    )
    for move, count in row["reclassified"].items():
        console.print(f"[dim]{move}[/dim] {count} turns")
    for name, count in (
        ("without words", found.without_words),
        ("decided by hand", found.settled),
        ("facts that were forgotten and stay so", sum(len(c.forgotten) for c in found.changes)),
    ):
        if count:
            console.print(f"[dim]left out:[/dim] {count} {name}")
    if applied:
        console.print("Applied.")
    elif found.changes:
        console.print("Nothing was written; add --apply to write it.")


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; where that is no terminal, nothing."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
