"""Reads "Remember that ...": what is to be remembered, without the request around it."""

from __future__ import annotations

from bmo.language import Clause, Words


def remembered_clause(spoken: Words, clause: Clause, behind: int) -> Clause:
    """The clause behind "remember that", "keep in mind"."""
    start = behind
    while start < clause.end - 1 and spoken.norm[start] in ("that", "this", ",", "please"):
        start += 1
    if (
        start > clause.start
        and spoken.norm[start - 1] in ("my", "i", "we", "the")
        and start == behind
    ):
        start -= 1
    return Clause(
        start, clause.end, clause.intro, clause.carried, clause.sentence, clause.closed_by
    )
