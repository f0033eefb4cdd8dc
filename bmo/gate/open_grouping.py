"""Which clauses of a turn belong to one memory.

A clause the judge would keep on its own opens a memory; what only makes sense beside it ("the
smell of them", "that's my husband") is told with it. So each memory is one statement, and no word
of content is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bmo.gate.analysis import ClauseAnalysis
from bmo.language import Words, past_lemma

CARRIES = 0.6
"""P(allow) from which a clause opens a memory of its own."""
NOTHING = 0.9
"""P(discard) from which a clause without content for a memory is left out."""
SHORT = 4
"""A clause of fewer words does not open a memory beside others."""

_LEANS = frozenset(
    (
        "it that this he she they those these which who him her them his their its so one "
        "both there"
    ).split()
)


_LASTING = frozenset(
    "was were had grew used lived worked got read born studied married retired served".split()
)


@dataclass(frozen=True, slots=True)
class ClauseOdds:
    """A clause and what the judge makes of it alone."""

    clause: ClauseAnalysis
    allow: float
    discard: float


def grouped(odds: Sequence[ClauseOdds], needed: float, most: int) -> list[list[ClauseAnalysis]]:
    """Sorts clauses into memories, in the order they were said.

    Args:
        odds: The clauses that may carry a fact.
        needed: P(allow) that the best clause of a memory must reach; 0 for none.
        most: Most memories; later ones join the last.

    Returns:
        One list of clauses a memory.
    """
    carrying = [item.allow >= CARRIES for item in odds]
    if not any(carrying):
        if needed:
            return []
        kept = [item.clause for item in odds if item.discard < NOTHING]
        return [kept or [item.clause for item in odds]]
    groups: list[list[ClauseOdds]] = []
    waiting: list[ClauseOdds] = []
    for item, carries in zip(odds, carrying, strict=True):
        leans = bool(groups) and _leans(item.clause)
        if carries and tells_event(item.clause) and not groups:
            waiting.append(item)  # "sold the old one" is told with what is true now
        elif carries and not leans and len(groups) < most:
            groups.append([*waiting, item])
            waiting = []
        elif not carries and item.discard >= NOTHING:
            continue
        elif groups:
            groups[-1].append(item)
        else:
            waiting.append(item)
    if not groups:
        groups.append(waiting)
    return [
        [item.clause for item in group]
        for group in groups
        if max(item.allow for item in group) >= needed
    ]


def tells_event(clause: ClauseAnalysis) -> bool:
    """Whether a clause of the user's tells what happened, and no lasting state."""
    norm = clause.norm
    if norm[0] not in ("i", "we") or len(norm) < 2:
        return False
    return bool(past_lemma(norm[1])) and norm[1] not in _LASTING


def _leans(clause: ClauseAnalysis) -> bool:
    """Whether a clause speaks of what was just said."""
    return clause.norm[0] in _LEANS or len(clause.norm) < SHORT


def runs(group: Sequence[ClauseAnalysis], words: Words) -> list[tuple[int, int]]:
    """Stretches of the turn's words that the clauses of a group cover, without gaps."""
    found: list[tuple[int, int]] = []
    for clause in group:
        first, last = clause.span
        inside = [i for i in range(len(words)) if words.start[i] >= first and words.end[i] <= last]
        if not inside:
            continue
        if found and inside[0] - found[-1][1] <= 2 and inside[0] >= found[-1][1]:
            found[-1] = (found[-1][0], inside[-1] + 1)
        else:
            found.append((inside[0], inside[-1] + 1))
    return found
