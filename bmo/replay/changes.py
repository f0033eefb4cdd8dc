"""The words of a behaviour diff: a change, its kind, sign and cause, and what must not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from bmo.replay.scenario import ScenarioError

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
SIGNS: tuple[Sign, ...] = get_args(Sign)
ANY: tuple[ChangeKind, ...] = tuple(k for k in KINDS if k not in ("scenario", "latency"))
"""What ``any`` stands for: new conversations are no fault, and times depend on the machine."""


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


def moved(before: str, after: str) -> str:
    """``before -> after``, or the one word when both are the same."""
    return after if before == after else f"{before} -> {after}"


def came_and_went(before: Iterable[str], after: Iterable[str]) -> Iterator[tuple[Sign, str]]:
    """Texts that are gone ("-") and that have come ("+"), in order, each as often as it is."""
    were, are = list(before), list(after)
    yield from (("-", text) for text in _only_in(were, are))
    yield from (("+", text) for text in _only_in(are, were))


def _only_in(these: Sequence[str], those: Sequence[str]) -> Iterator[str]:
    left = Counter(those)
    for text in these:
        left[text] -= 1
        if left[text] < 0:
            yield text


# -- what must not change ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FailOn:
    """One thing that must not change (``--fail-on``): a kind, with one sign or (None) with any."""

    kind: ChangeKind
    sign: Sign | None = None


def parse_fail_on(text: str) -> tuple[FailOn, ...]:
    """Reads ``stored,recall-,any``.

    A sign behind a kind narrows it: ``stored-`` fails on lost memories only. ``mismatch`` alone
    means ``mismatch+``: a difference that went away is what one hopes for.

    Raises:
        ScenarioError: A word is no kind of change.
    """
    found: list[FailOn] = []
    for word in text.split(","):
        name = word.strip().lower()
        if not name:
            continue
        sign = next((sign for sign in SIGNS if name.endswith(sign)), None)
        name = name.removesuffix(sign or "")
        kinds = ANY if name == "any" else tuple(kind for kind in KINDS if kind == name)
        if not kinds:
            raise ScenarioError(
                f"--fail-on: {word.strip()!r:.60} is no kind of change; "
                f"name some of {', '.join(KINDS)} (each with +, - or ~ behind it), or any."
            )
        found += [FailOn(kind, sign or ("+" if kind == "mismatch" else None)) for kind in kinds]
    if not found:
        raise ScenarioError(f"--fail-on: names nothing; name some of {', '.join(KINDS)}, or any.")
    return tuple(dict.fromkeys(found))
