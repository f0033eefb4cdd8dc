"""Clauses of annotated turns as turns of their own.

The binding asks the judge about each clause of a turn that it allows, so the judge has to know
which of them carries a memory and of which category. A clause that shares words of content with an
annotated memory carries it; one of the same turn that shares none with any does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bmo.language import segment, words
from bmo.turn import CATEGORIES
from training.turns import VERDICTS, TrainingTurn, digest

LEAST_WORDS = 3
SHARED = 2
"""Words of content that a clause and the memory it carries share, or half of the clause's."""

WORDED = frozenset("abcdefghijkp")
"""Files whose memories are written out; the memories of the others only name a category."""

TAKEN = 3
"""One clause of so many that carries nothing is taken: a short plain statement that is a turn of
its own mostly carries something, and too many of these teach the judge the contrary."""

_EMPTY = frozenset(
    (
        "the and but for with has have had does not his her their they them who whose that this "
        "was were are been its it is in on of to at by from as an or so no user named called very "
        "you your my our she he we him me"
    ).split()
)
_WORD = re.compile(r"[^\W_]+")


def _content(text: str) -> frozenset[str]:
    """Beginnings of the words of content, so that "lives" and "living" are the same."""
    found = (word.lower() for word in _WORD.findall(text.replace("'", "").replace("’", "")))
    return frozenset(word[:4] for word in found if word not in _EMPTY and len(word) > 2)


def clauses_of(turn: TrainingTurn) -> list[TrainingTurn]:
    """The clauses of one English turn that carries memories, as turns; [] when it has only one.

    Each clause has the categories of the memories that it carries, not of the whole turn.

    Args:
        turn: An allowed turn with annotated memories.
    """
    spoken = words(turn.text, "en")
    parts = segment(spoken, "en")
    if len(parts) < 2:
        return []
    memories = [_content(fact) for fact in turn.facts]
    found: list[TrainingTurn] = []
    for part in parts:
        if part.end - part.start < LEAST_WORDS:
            continue
        said = spoken.text[spoken.start[part.start] : spoken.end[part.end - 1]].strip()
        mine = _content(said)
        if not mine:
            continue
        shared = [len(mine & memory) for memory in memories]
        named = {
            turn.kinds[i]
            for i, count in enumerate(shared)
            if count >= SHARED or count * 2 >= len(mine)
        }
        if named:
            flags = tuple(name in named for name in CATEGORIES)
            found.append(replace(turn, text=said, categories=flags, recall=False))
        elif not any(shared) and int(digest(said), 16) % TAKEN == 0:
            found.append(
                replace(
                    turn,
                    text=said,
                    verdict=VERDICTS.index("discard"),
                    categories=None,
                    recall=False,
                )
            )
    return found


def clause_turns(turns: Sequence[TrainingTurn]) -> list[TrainingTurn]:
    """The clauses of every English turn whose annotated memories are written out."""
    found: list[TrainingTurn] = []
    for turn in turns:
        if turn.verdict != VERDICTS.index("allow") or turn.categories is None:
            continue
        if turn.file in WORDED and turn.text.isascii():
            found += clauses_of(turn)
    return found
