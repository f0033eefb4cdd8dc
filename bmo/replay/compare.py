"""Where a replay differs from what the scenario says. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bmo.replay.rows import ScenarioRow, StoredRow, TurnRow
from bmo.replay.scenario import Ends, ExpectedFact, ScenarioSession, ScenarioTurn


def turn_mismatches(
    expected: ScenarioTurn, session: ScenarioSession, row: TurnRow, error: str = ""
) -> tuple[str, ...]:
    """Compares one turn, and on a visit's first one the profile; ``error``: what failed in it."""
    said = [*_verdict(expected, row, error), *_facts(expected.facts, row.stored)]
    said += _recall(expected, row)
    if row.profile_told is not None and session.profile:
        said += [
            f"profile lacks {_all(wanted)}"
            for wanted in session.profile
            if not in_one(wanted, row.profile_told)
        ]
    return tuple(said)


def end_mismatches(ends: Ends, end: ScenarioRow) -> tuple[str, ...]:
    """Compares the end state."""
    lost = [
        f"no live memory has {_all(wanted)}"
        for wanted in ends.keeps
        if not in_one(wanted, end.told)
    ]
    kept = [
        f"live memory {text!r} has {unwanted!r}"
        for unwanted in ends.drops
        for text in end.live
        if has(text, unwanted)
    ]
    return (*lost, *kept)


def _verdict(expected: ScenarioTurn, row: TurnRow, error: str) -> list[str]:
    if row.verdict is None:
        return [error or "the turn never reached the gate"]
    if row.verdict == expected.verdict:
        return []
    stored = "; ".join(one.text for one in row.stored)
    why = f"{row.reason}: {stored}" if stored else row.reason
    return [f"verdict {row.verdict} ({why}), expected {expected.verdict}"]


def _facts(expected: Iterable[ExpectedFact], stored: Sequence[StoredRow]) -> list[str]:
    said = []
    for fact in expected:
        fits = [s for s in stored if all(has(s.told, part) for part in fact.contains)]
        right = [s for s in fits if s.category == fact.category]
        clean = [s for s in right if not any(has(s.text, part) for part in fact.lacks)]
        if clean:
            continue
        if right:
            said.append(f"stored {right[0].text!r}, which must lack {_all(fact.lacks)}")
        elif fits:
            said.append(f"stored {fits[0].text!r} as {fits[0].category}, expected {fact.category}")
        else:
            texts = ", ".join(repr(s.text) for s in stored) or "nothing"
            said.append(f"stored {texts}, expected {fact.category} with {_all(fact.contains)}")
    return said


def _recall(expected: ScenarioTurn, row: TurnRow) -> list[str]:
    ran, given, said = row.recall.triggered, row.recall.selected, []
    if ran != expected.recall:
        said.append(
            f"recall {'ran' if ran else 'did not run'} ({row.recall.trigger or 'no recall ran'}), "
            f"expected {'recall' if expected.recall else 'none'}"
        )
    texts = ", ".join(repr(one.text) for one in given) or "nothing"
    said += [
        f"given {texts}, expected a memory with {_all(wanted)}"
        for wanted in expected.injects
        if not in_one(wanted, (one.told for one in given))
    ]
    said += [
        f"given {one.text!r}, which has {unwanted!r}"
        for unwanted in expected.omits
        for one in given
        if has(one.text, unwanted)
    ]
    return said


def in_one(wanted: Iterable[str], texts: Iterable[str]) -> bool:
    """Whether one of some texts has all the parts."""
    parts = tuple(wanted)
    return any(all(has(text, part) for part in parts) for text in texts)


def has(text: str, part: str) -> bool:
    """Whether a text has a part, whatever the case."""
    return part.casefold() in text.casefold()


def _all(parts: Iterable[str]) -> str:
    return " + ".join(repr(part) for part in parts)
