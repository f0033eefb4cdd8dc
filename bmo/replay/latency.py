"""Times of a replay: percentiles, and whether they rose. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from bmo.replay.rows import TurnRow

SLOWER_FACTOR = 1.5
SLOWER_MS = 5.0
"""A p95 counts as slower when it rose by more than this factor and by more than this time: a
machine that does something else beside the replay moves it by less."""

FEWEST = 20
"""Turns below which a p95 is one turn's time and says nothing."""

TIMES: tuple[tuple[str, Callable[[TurnRow], float | None]], ...] = (
    ("hook", lambda turn: turn.hook_ms),
    ("gate", lambda turn: turn.gate_ms),
    ("recall", lambda turn: turn.recall.elapsed_ms if turn.recall.triggered else None),
)
"""Name and reader of each time: LiveKit's hook, the write gate's decision, a recall."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Percentiles of one time over some turns, in milliseconds."""

    turns: int
    p50: float
    p95: float
    worst: float


@dataclass(frozen=True, slots=True)
class Latency:
    """One time before and after; None where no turn has it."""

    name: str
    before: Spread | None
    after: Spread | None

    @property
    def slower(self) -> bool:
        """Whether the p95 rose beyond the tolerance."""
        if self.before is None or self.after is None:
            return False
        if min(self.before.turns, self.after.turns) < FEWEST:
            return False
        rise = self.after.p95 - self.before.p95
        return rise > SLOWER_MS and self.after.p95 > self.before.p95 * SLOWER_FACTOR


def spread(values: Iterable[float | None]) -> Spread | None:
    """Percentiles of the values that are there, or None without any."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return None
    return Spread(len(known), _at(known, 0.5), _at(known, 0.95), known[-1])


def compare_latency(old: Sequence[TurnRow], new: Sequence[TurnRow]) -> tuple[Latency, ...]:
    """Every time over the turns that both recordings have."""
    return tuple(
        Latency(name, spread(map(read, old)), spread(map(read, new))) for name, read in TIMES
    )


def _at(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile."""
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
