"""What a change does to behaviour: two recordings of the same conversations side by side. Pure.

Turns are paired by their words, so a scenario to which turns were added is still compared. Every
difference has a cause: the rule (or the encoder) that wrote a memory or decided a verdict, the
trigger of a recall, or why a memory was left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from bmo.replay.changes import KINDS, Change, ChangeKind, FailOn, Sign, came_and_went
from bmo.replay.latency import Latency, compare_latency
from bmo.replay.rows import RecordedScenario, TurnRow
from bmo.replay.turn_diff import change_at, turn_changes, writers

TurnPair = tuple[TurnRow | None, TurnRow | None]


@dataclass(frozen=True, slots=True)
class ReplayDiff:
    """All that differs between two recordings.

    Attributes:
        changes: Every difference, in the order of ``KINDS`` and then of the conversations.
        scenarios: Number of conversations both have.
        turns: Number of turns both have.
        notes: What could not be compared, a sentence each.
    """

    changes: tuple[Change, ...]
    scenarios: int
    turns: int
    latency: tuple[Latency, ...]
    notes: tuple[str, ...] = ()

    def count(self, kind: ChangeKind, sign: Sign | None = None) -> int:
        """Number of changes of a kind, of one sign or of all."""
        return sum(c.kind == kind and sign in (None, c.sign) for c in self.changes)

    def by_cause(self, kind: ChangeKind) -> list[tuple[str, list[Change]]]:
        """The changes of a kind, grouped by cause, the largest group first."""
        groups: dict[str, list[Change]] = {}
        for change in self.changes:
            if change.kind == kind:
                groups.setdefault(change.cause, []).append(change)
        return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def failures(diff: ReplayDiff, fail_on: Sequence[FailOn]) -> dict[str, int]:
    """What must not have changed and did: ``kind`` or ``kind`` with its sign -> count."""
    counts = {f"{rule.kind}{rule.sign or ''}": diff.count(rule.kind, rule.sign) for rule in fail_on}
    return {name: count for name, count in counts.items() if count}


def compare_recordings(
    old: Sequence[RecordedScenario], new: Sequence[RecordedScenario]
) -> ReplayDiff:
    """Compares two recordings."""
    before = {scenario.id: scenario for scenario in old}
    after = {scenario.id: scenario for scenario in new}
    both = [(before[name], after[name]) for name in after if name in before]
    changes = [
        Change("scenario", sign, "only now" if sign == "+" else "only in the baseline", name, name)
        for sign, name in sorted(came_and_went(before, after))
    ]
    pairs: list[tuple[TurnRow, TurnRow]] = []
    for was, now in both:
        for old_turn, new_turn in _pair_turns(was.turns, now.turns):
            if old_turn is not None and new_turn is not None:
                pairs.append((old_turn, new_turn))
        changes += _scenario_changes(was, now)
    latency = compare_latency([a for a, _ in pairs], [b for _, b in pairs])
    changes += [
        Change("latency", "~", time.name, f"p95 {a.p95:.2f} -> {b.p95:.2f} ms", "")
        for time in latency
        if time.slower and (a := time.before) and (b := time.after)
    ]
    order = {kind: place for place, kind in enumerate(KINDS)}
    return ReplayDiff(
        changes=tuple(sorted(changes, key=lambda change: order[change.kind])),
        scenarios=len(both),
        turns=len(pairs),
        latency=latency,
        notes=_notes(both),
    )


def _scenario_changes(old: RecordedScenario, new: RecordedScenario) -> Iterator[Change]:
    old_writers, new_writers = writers(old), writers(new)
    for before, after in _pair_turns(old.turns, new.turns):
        if before is not None and after is not None:
            yield from turn_changes(before, after, old_writers, new_writers)
        elif before is not None:
            yield change_at(before, "scenario", "-", "turn only in the baseline", before.words)
        elif after is not None:
            yield change_at(after, "scenario", "+", "turn only now", after.words)
    for sign, text in came_and_went(old.end.live, new.end.live):
        written = old_writers if sign == "-" else new_writers
        yield Change("live", sign, written.get(text, "unknown"), text, new.id)
    for sign, text in came_and_went(old.end.mismatches, new.end.mismatches):
        yield Change("mismatch", sign, "end state", text, new.id)


def _pair_turns(old: Sequence[TurnRow], new: Sequence[TurnRow]) -> Iterator[TurnPair]:
    """Turns of the same visit and words side by side; None where one side has none."""
    were = [(turn.session, turn.user) for turn in old]
    are = [(turn.session, turn.user) for turn in new]
    matcher = SequenceMatcher(a=were, b=are, autojunk=False)
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(old[old_from:old_to], new[new_from:new_to], strict=True)
        else:
            yield from ((turn, None) for turn in old[old_from:old_to])
            yield from ((None, turn) for turn in new[new_from:new_to])


def _notes(both: Sequence[tuple[RecordedScenario, RecordedScenario]]) -> tuple[str, ...]:
    notes = []
    if any(not (was.version and now.version) for was, now in both):
        notes.append(
            "One side was written by BMO 0.1.0 (bmo-replay/0): blocks given to the model and "
            "times of gate and recall are not compared."
        )
    modes = Counter(
        (was.end.mode, now.end.mode)
        for was, now in both
        if was.end.mode and now.end.mode and was.end.mode != now.end.mode
    )
    notes += [
        f"{count} scenarios were played in mode {was} before and in mode {now} now."
        for (was, now), count in modes.items()
    ]
    return tuple(notes)
