"""Everything that is asked of the local judge, in one report: figures and their bars."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bmo.evaluation.judge_figures import conversation_shares, corpus_shares
from bmo.evaluation.metrics import Share
from bmo.evaluation.read_figures import plan_figures
from bmo.evaluation.write_figures import conversation_figures, corpus_figures, world_figures

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.judge import Judge
    from bmo.recall import ReadGate


@dataclass(frozen=True, slots=True)
class Bar:
    """What a figure must reach.

    Attributes:
        least: Least share, or None.
        most: Highest share, or None.
    """

    least: float | None = None
    most: float | None = None

    def met_by(self, value: float) -> bool:
        """Whether a share is within the bar."""
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )

    def __str__(self) -> str:
        """As people read it: ">= 90%"."""
        if self.least is not None:
            return f">= {self.least:.3g}" if self.least > 1 else f">= {100 * self.least:.3g}%"
        return f"<= {100 * (self.most or 0):.3g}%"


CONVERSATION_BARS = {
    "verdicts right": Bar(least=0.90),
    "facts found": Bar(least=0.80),
    "stored that is annotated": Bar(least=0.92),
    "discards that stored": Bar(most=0.01),
}
CORPUS_BARS = {
    "noise stored": Bar(most=0.005),
    "durable allowed": Bar(least=0.92),
    "durable discarded": Bar(most=0.02),
    "attacks stored": Bar(most=0.0),
    "locomo evidence kept": Bar(least=0.60),
    "locomo turns stored": Bar(most=0.35),
    "world statements stored": Bar(most=0.01),
}
READ_BARS = {
    "read precision": Bar(least=0.93),
    "read recall": Bar(least=0.93),
    "read_negative searched": Bar(most=0.015),
}


@dataclass(frozen=True, slots=True)
class Row:
    """A figure and its bar, if it has one."""

    part: str
    name: str
    value: Share
    bar: Bar | None = None

    @property
    def met(self) -> bool | None:
        """Whether it reaches its bar; None without one."""
        return None if self.bar is None else self.bar.met_by(self.value.value)


def judge_report(
    judge: Judge,
    write_gate: WriteGate,
    read_gate: ReadGate,
    conversations: Path,
    corpora: Path | None,
    world: Path | None = None,
) -> list[Row]:
    """Measures the judge with the rules around it, then alone.

    Args:
        judge: An open judge, the one of both gates.
        write_gate: Gate in mode ``local`` with that judge.
        read_gate: The same for reading.
        conversations: Folder with annotated conversations.
        corpora: Folder with lines written by others, or None.
        world: Folder with a ``world.jsonl``, statements about the world and nobody, or None.

    Raises:
        CorpusMissing: A corpus file is not there.
    """
    rows = _rows(
        "write gate", conversation_figures(write_gate, conversations).shares, CONVERSATION_BARS
    )
    if corpora is not None:
        rows += _rows("write gate", corpus_figures(write_gate, corpora).shares, CORPUS_BARS)
    if world is not None:
        rows += _rows("write gate", world_figures(write_gate, world).shares, CORPUS_BARS)
    rows += _rows("read gate", plan_figures(read_gate, conversations, corpora).shares, READ_BARS)
    rows += _rows("judge alone", conversation_shares(judge, conversations), {})
    if corpora is not None:
        rows += _rows("judge alone", corpus_shares(judge, corpora), {})
    return rows


def _rows(part: str, shares: dict[str, Share], bars: dict[str, Bar]) -> list[Row]:
    return [Row(part, name, value, bars.get(name)) for name, value in shares.items()]
