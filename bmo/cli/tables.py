"""Memories on the terminal and as JSON: one place for how they look."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from bmo.cli.jsonl import row_of, write_line
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
    row = row_of(
        fact,
        "id user_id subject slot value text asked category domain kind valid_from valid_until "
        "superseded_by source_type agent_id visibility",
    )
    return {**row, **identity_shown(fact.user_id)}


def identity_shown(user_id: str) -> dict[str, str]:
    """A row's key for whom a made user id means; nothing where the id says it."""
    identity = identity_of(user_id)
    return {} if identity == user_id else {"identity": identity}


def put_facts(facts: Sequence[StoredFact], as_json: bool) -> None:
    """Prints memories: a JSON object a line, or a table."""
    if as_json:
        for fact in facts:
            write_line(fact_row(fact))
    else:
        show_facts(screen(), facts)


def show_facts(console: Console, facts: Sequence[StoredFact]) -> None:
    """Memories as a table that fits the terminal, from 40 columns up."""
    if not facts:
        console.print("Nothing is remembered.")
        return
    wide = console.width >= WIDE
    dim = partial(Column, style="dim", no_wrap=True)
    category = [dim("category")] if wide else []
    memory = Column("memory", overflow="fold", ratio=1)
    table = narrow_table(dim("id"), memory, *category, dim("since"))
    for fact in facts:
        ended = f" [dim](until {fact.valid_until:%Y-%m-%d})[/dim]" if fact.valid_until else ""
        where = (fact.category,) if wide else ()
        table.add_row(fact.id[:8], quoted(fact) + ended, *where, f"{fact.valid_from:%Y-%m-%d}")
    console.print(table)


def narrow_table(*columns: Column, header: bool = True) -> Table:
    """A table without lines: every column is the content's."""
    return Table(*columns, box=None, pad_edge=False, header_style="dim", show_header=header)


def show_rows(names: Iterable[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints rows under these names."""
    table = narrow_table(*(Column(name, overflow="fold") for name in names))
    for row in rows:
        table.add_row(*row)
    screen().print(table)


def show_pairs(console: Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Name and value, one pair a line, the values in one column."""
    names, values = Column(style="dim", justify="right", no_wrap=True), Column(overflow="fold")
    table = narrow_table(names, values, header=False)
    for name, value in pairs:
        table.add_row(name, shown(value))
    console.print(table)
