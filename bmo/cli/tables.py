"""Memories on the terminal and as JSON: one place for how they look."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bmo.cli.jsonl import write_line
from bmo.ids import identity_of
from bmo.quotation import quotation

if TYPE_CHECKING:
    from bmo.turn import StoredFact

WIDE = 72
"""Columns from which a table has room for the category."""

VERDICT_STYLE = {"allow": "green", "hold": "yellow", "discard": "dim"}

_FORMATTING = frozenset({"Cc", "Cf", "Cs", "Co"})


def screen() -> Console:
    """The terminal, without colours that nobody asked for."""
    return Console(highlight=False)


def shown(text: str) -> str:
    """``text`` for a rich console: markup escaped, and nothing that steers the terminal.

    A memory is what somebody said: an escape sequence in it must not reach the screen.
    """
    plain = "".join(
        " " if c in "\t\r\n" else "\ufffd" if unicodedata.category(c) in _FORMATTING else c
        for c in text
    )
    return escape(plain)


def quoted(fact: StoredFact) -> str:
    """A memory for a rich console: its words as a quotation, or its canonical text."""
    return shown(quotation(fact))


def fact_row(fact: StoredFact) -> dict[str, Any]:
    """A memory as the documented JSON object."""
    return {
        "id": fact.id,
        "user_id": fact.user_id,
        **identity_shown(fact.user_id),
        "subject": fact.subject,
        "slot": fact.slot,
        "value": fact.value,
        "text": fact.text,
        "asked": fact.asked,
        "category": fact.category,
        "domain": fact.domain,
        "kind": fact.kind,
        "valid_from": fact.valid_from.isoformat(),
        "valid_until": moment_or_none(fact.valid_until),
        "superseded_by": fact.superseded_by,
        "source_type": fact.source_type,
        "agent_id": fact.agent_id,
        "visibility": fact.visibility,
    }


def identity_shown(user_id: str) -> dict[str, str]:
    """A row's key for whom a made user id means; nothing where the id says it."""
    identity = identity_of(user_id)
    return {} if identity == user_id else {"identity": identity}


def moment_or_none(moment: datetime | None) -> str | None:
    """ISO 8601, or None."""
    return None if moment is None else moment.isoformat()


def put_facts(facts: Sequence[StoredFact], as_json: bool) -> None:
    """Prints memories: a JSON object a line, or a table."""
    if not as_json:
        show_facts(screen(), facts)
    for fact in facts if as_json else ():
        write_line(fact_row(fact))


def show_facts(console: Console, facts: Sequence[StoredFact]) -> None:
    """Memories as a table that fits the terminal, from 40 columns up."""
    if not facts:
        console.print("Nothing is remembered.")
        return
    wide = console.width >= WIDE
    table = narrow_table()
    table.add_column("id", no_wrap=True, style="dim")
    table.add_column("memory", overflow="fold", ratio=1)
    if wide:
        table.add_column("category", style="dim", no_wrap=True)
    table.add_column("since", style="dim", no_wrap=True)
    for fact in facts:
        ended = f" [dim](until {fact.valid_until:%Y-%m-%d})[/dim]" if fact.valid_until else ""
        category = (fact.category,) if wide else ()
        table.add_row(fact.id[:8], quoted(fact) + ended, *category, f"{fact.valid_from:%Y-%m-%d}")
    console.print(table)


def narrow_table(*, header: bool = True) -> Table:
    """A table without lines: every column is the content's."""
    return Table(box=None, pad_edge=False, header_style="dim", show_header=header)


def show_pairs(console: Console, pairs: Sequence[tuple[str, str]]) -> None:
    """Name and value, one pair a line, the values in one column."""
    table = narrow_table(header=False)
    table.add_column(style="dim", justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(name, shown(value))
    console.print(table)
