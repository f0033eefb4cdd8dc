"""The words of a behaviour diff: a change, its kind, its sign and its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from bmo.replay.rows import TurnRow

ChangeKind = Literal[
    "stored",
    "ended",
    "live",
    "verdict",
    "signal",
    "recall",
    "context",
    "mismatch",
    "scenario",
    "latency",
]
"""What changed.

- ``stored``: a memory that a turn stored.
- ``ended``: a memory that a turn replaced, took back or forgot.
- ``live``: what is remembered after the last turn.
- ``verdict``: allow, hold or discard.
- ``signal``: the verdict is the same, the signals are not.
- ``recall``: a memory given to the model for a turn, or whether memory was asked at all.
- ``context``: the bytes the model got, profile included.
- ``mismatch``: differences from what the scenarios say (+ new, - gone).
- ``scenario``: conversations or turns that only one side has.
- ``latency``: the p95 of a time rose beyond its tolerance.
"""

Sign = Literal["+", "-", "~"]
"""+ only now, - only before, ~ both, but different."""

KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two recordings.

    Attributes:
        kind: What changed.
        sign: Whether it came, went or became different.
        cause: What brought it about: a rule's id, an extraction method, a trigger ...
        text: What it is about, in one line: a memory's text, "allow -> hold" ...
        scenario: Where.
        session: Number of the visit; None for the end of the scenario.
        turn: Number of the turn in the new recording (in the old one where it is only there).
        words: What the person said in that turn.
        note: What else helps to understand it, or "".
    """

    kind: ChangeKind
    sign: Sign
    cause: str
    text: str
    scenario: str
    session: int | None = None
    turn: int | None = None
    words: str = ""
    note: str = ""


def change_at(
    turn: TurnRow, kind: ChangeKind, sign: Sign, cause: str, text: str, note: str = ""
) -> Change:
    """A change at a turn."""
    return Change(kind, sign, cause, text, turn.scenario, turn.session, turn.turn, turn.words, note)


def decided_by(turn: TurnRow) -> str:
    """What decided a turn: its rule's id, else the method (judge, pattern), else the reason."""
    if turn.rule:
        return turn.rule
    if turn.extraction_method not in ("", "pattern"):
        return turn.extraction_method
    return turn.reason or "no decision"


def moved(before: str, after: str) -> str:
    """``before -> after``, or the one word when both are the same."""
    return after if before == after else f"{before} -> {after}"


def only_in(these: Iterable[str], those: Iterable[str]) -> list[str]:
    """What ``these`` have more often than ``those``, in order."""
    left = Counter(those)
    more = []
    for text in these:
        if left[text] > 0:
            left[text] -= 1
        else:
            more.append(text)
    return more
