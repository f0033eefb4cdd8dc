"""Memories on the terminal and as JSON: one place for how they look."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from bmo.turn import StoredFact

WIDE = 72
"""Columns from which a table has room for the category."""

_FORMATTING = frozenset({"Cc", "Cf", "Cs", "Co"})


def shown(text: str) -> str:
    """``text`` for a rich console: markup escaped, and nothing that steers the terminal.

    A memory is what somebody said: an escape sequence in it must not reach the screen.
    """
    plain = "".join(
        " " if c in "\t\r\n" else "\ufffd" if unicodedata.category(c) in _FORMATTING else c
        for c in text
    )
    return escape(plain)


def fact_row(fact: StoredFact) -> dict[str, Any]:
    """A memory as the documented JSON object."""
    return {
        "id": fact.id,
        "user_id": fact.user_id,
        "subject": fact.subject,
        "slot": fact.slot,
        "value": fact.value,
        "text": fact.text,
        "category": fact.category,
        "kind": fact.kind,
        "valid_from": fact.valid_from.isoformat(),
        "valid_until": moment_or_none(fact.valid_until),
        "superseded_by": fact.superseded_by,
        "source_type": fact.source_type,
    }


def moment_or_none(moment: datetime | None) -> str | None:
    """ISO 8601, or None."""
    return None if moment is None else moment.isoformat()


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
        cells = [fact.id[:8], shown(fact.text) + ended]
        if wide:
            cells.append(fact.category)
        table.add_row(*cells, f"{fact.valid_from:%Y-%m-%d}")
    console.print(table, highlight=False)


def narrow_table() -> Table:
    """A table without lines: every column is the content's."""
    return Table(box=None, pad_edge=False, header_style="dim", expand=False)


def show_pairs(console: Console, pairs: Sequence[tuple[str, str]]) -> None:
    """Name and value, one pair a line, the values in one column."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(name, shown(value))
    console.print(table, highlight=False)
