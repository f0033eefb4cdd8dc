"""Runs a mode of the gate over annotated conversations and lines: gate, ledger, settling."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bmo.evaluation.annotated import AnnotatedTurn, read_conversations, stored
from bmo.evaluation.corpora import read_corpus
from bmo.evaluation.write_figures import decided_turns
from bmo.ledger import as_fact
from bmo.memory.settling import Settled, Settler
from bmo.turn import Decision, Fact, Turn, Verdict

if TYPE_CHECKING:
    from bmo.extract import Orchestrator
    from bmo.gate import WriteGate
    from bmo.ledger import Aim, Ledger, LoggedTurn, WaitingTurn
    from bmo.settings import Settings

LINES = ("noise", "durable", "injection")
"""Corpora of lines that stand alone."""

MakeOrchestrator = Callable[["Settings", "WriteGate"], "Orchestrator"]


@dataclass(frozen=True, slots=True)
class RanTurn:
    """A turn as a mode left it.

    Attributes:
        row: The turn and what is right for it.
        first: What the gate decided at once.
        verdict: The verdict in the end.
        before: Memories the gate stored.
        after: Memories in the end.
        aim: What a model was to be asked, or None.
        promise: The judge's P(allow) of a turn that waited.
    """

    row: AnnotatedTurn
    first: Decision
    verdict: Verdict
    before: tuple[Fact, ...]
    after: tuple[Fact, ...]
    aim: Aim | None = None
    promise: float | None = None


@dataclass(frozen=True, slots=True)
class RanLine:
    """A line of a corpus as a mode left it.

    Attributes:
        corpus: "noise", "durable" or "injection".
        label: The line's label.
        first: The gate's verdict.
        verdict: The verdict in the end.
        flagged: Whether it was taken for an attack.
    """

    corpus: str
    label: str
    first: Verdict
    verdict: Verdict
    flagged: bool


@dataclass(slots=True)
class ModeRun:
    """What a mode made of conversations and lines.

    Attributes:
        mode: The mode.
        gate_version: The gate.
        model: Who answered behind the gate, in words for people, or "".
        turns: The conversations' turns.
        lines: The corpora's lines.
        settled: What settling the conversations came to.
        lines_settled: What settling the lines came to.
        gate_us: Microseconds a decision took.
    """

    mode: str
    gate_version: str
    model: str
    turns: list[RanTurn] = field(default_factory=list)
    lines: list[RanLine] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)
    lines_settled: Settled = field(default_factory=Settled)
    gate_us: list[float] = field(default_factory=list)


def run_mode(
    gate: WriteGate,
    conversations: Path,
    *,
    only: str = "*",
    corpora: Path | None = None,
    limit: int | None = None,
    model: str = "",
    orchestrator: MakeOrchestrator | None = None,
    ask_about_lines: bool = False,
) -> ModeRun:
    """Runs the mode of a gate.

    Turns go through the gate and into a real ledger; at the end of each visit what waits is
    settled as a session's end settles it. Nothing is recalled, so nothing is injected.

    Args:
        gate: The gate, with the mode in its settings.
        conversations: Folder with annotated conversations.
        only: Pattern of their files' names.
        corpora: Folder with lines written by others.
        limit: Lines of each corpus, evenly taken; None for all.
        model: What the models are called in the figures.
        orchestrator: Makes what asks the models; None asks none.
        ask_about_lines: Whether models are asked about the corpora's lines too.
    """
    run = ModeRun(gate.settings.effective_mode, gate.version, model)
    with _opened(gate, orchestrator) as desk:
        rows_of = read_conversations(conversations, only)
        for name, rows in _by_conversation(gate, rows_of, desk, run.settled):
            run.turns += desk.turns_of(name, rows)
        run.gate_us += [ran.first.elapsed_us for ran in run.turns]
        if corpora is not None:
            asked = ask_about_lines and orchestrator is not None
            run.lines += _lines(gate, corpora, limit, desk if asked else None, run)
    return run


class _Desk:
    """Ledger and settler of a run."""

    def __init__(self, gate: WriteGate, ledger: Ledger, settler: Settler | None) -> None:
        self.ledger = ledger
        self.settler = settler
        self._gate = gate
        self._waited: dict[str, WaitingTurn] = {}

    def write(self, turn: Turn, decision: Decision) -> None:
        self.ledger.record(turn, decision, mode=self._gate.settings.effective_mode)

    def settle(self, user_id: str, total: Settled) -> None:
        if self.settler is None:
            return
        aims = self.settler.aims
        for one in self.ledger.waiting(user_id, aims=aims):
            self._waited.setdefault(one.turn.id, self._judged(one))
        add_up(total, self.settler.settle_now(user_id, aims=aims))

    def turns_of(
        self, user_id: str, rows: list[tuple[AnnotatedTurn, Decision]]
    ) -> Iterator[RanTurn]:
        ids = [row.turn.id for row, _ in rows]
        ends = {said.id: said for said in self.ledger.turns(user_id)}
        outcomes = self.ledger.outcomes(user_id, ids)
        for row, first in rows:
            waited = self._waited.get(row.turn.id)
            before = tuple(stored(first))
            told = outcomes[row.turn.id].told
            merged = {fact.text for fact in told if fact.end_reason == "merged"}
            own = {fact.text for fact in before}
            more = tuple(
                as_fact(fact)
                for fact in told
                if fact.text not in own
                and fact.end_reason != "merged"
                and (fact.source_type == "model" or not before)
            )
            kept = tuple(fact for fact in before if fact.text not in merged)
            yield RanTurn(
                row=row,
                first=first,
                verdict=_end(ends, row.turn.id, first),
                before=before,
                after=(*kept, *(more if waited is not None else ())),
                aim=waited.aim if waited is not None else None,
                promise=waited.promise if waited is not None else None,
            )

    def _judged(self, waiting: WaitingTurn) -> WaitingTurn:
        """With the judge's P(allow), also where a rule held it and the judge was not asked."""
        if waiting.promise is not None or self._gate.judge is None:
            return waiting
        said = (waiting.turn.assistant_before, waiting.turn.text)
        return replace(waiting, promise=self._gate.judge.assess([said])[0].allow)


@contextmanager
def _opened(gate: WriteGate, orchestrator: MakeOrchestrator | None) -> Iterator[_Desk]:
    from bmo.ledger import Ledger
    from bmo.recorder import Recorder

    settings = gate.settings
    with (
        tempfile.TemporaryDirectory(prefix="bmo-eval-") as home,
        closing(Ledger.open(f"sqlite:///{home}/ledger.sqlite3")) as ledger,
        closing(Recorder.open(ledger, None, settings)) as recorder,
    ):
        if orchestrator is None:
            yield _Desk(gate, ledger, None)
            return
        asks = orchestrator(settings, gate)
        with closing(Settler(settings, ledger, recorder, asks, judge=gate.judge)) as settler:
            yield _Desk(gate, ledger, settler)


def _by_conversation(
    gate: WriteGate,
    conversations: Iterable[tuple[str, list[AnnotatedTurn]]],
    desk: _Desk,
    total: Settled,
) -> Iterator[tuple[str, list[tuple[AnnotatedTurn, Decision]]]]:
    """Decides, records and settles; yields each conversation when it is over."""
    for name, turns in conversations:
        rows: list[tuple[AnnotatedTurn, Decision]] = []
        numbered = [
            replace(row, turn=replace(row.turn, id=f"{name}-{place}", user_id=name))
            for place, row in enumerate(turns)
        ]

        def visit_ended(user_id: str = name) -> Mapping[str, str]:
            desk.settle(user_id, total)
            return desk.ledger.known_subjects(user_id)

        for row, decision in decided_turns(gate, numbered, visit_ended):
            desk.write(row.turn, decision)
            rows.append((row, decision))
        desk.settle(name, total)
        yield name, rows


def _lines(
    gate: WriteGate, corpora: Path, limit: int | None, desk: _Desk | None, run: ModeRun
) -> Iterator[RanLine]:
    for corpus in LINES:
        rows = list(read_corpus(corpora, corpus))
        step = max(1, len(rows) // limit) if limit is not None else 1
        for place, row in enumerate(rows[::step][:limit]):
            user = f"{corpus}-{place}"
            turn = Turn(
                text=row.text,
                user_id=user,
                session_id=user,
                assistant_after=row.extra.get("reply", "") or "",
            )
            decision = gate.decide(turn)
            end: Verdict = decision.verdict
            if desk is not None:
                desk.write(turn, decision)
                desk.settle(user, run.lines_settled)
                end = desk.ledger.turns(user)[0].verdict
            flagged = "injection" in decision.signals
            yield RanLine(corpus, row.label, decision.verdict, end, flagged)


def add_up(total: Settled, more: Settled) -> None:
    """Adds the counts of another settling to a total."""
    for name in ("asked", "allowed", "discarded", "held", "unchanged", "failed", "calls", "cost"):
        setattr(total, name, getattr(total, name) + getattr(more, name))
    total.seconds += more.seconds
    total.why_stopped = more.why_stopped or total.why_stopped
    for why, count in more.refused.items():
        total.refused[why] = total.refused.get(why, 0) + count


def _end(ends: Mapping[str, LoggedTurn], turn_id: str, first: Decision) -> Verdict:
    said = ends.get(turn_id)
    return first.verdict if said is None else said.verdict
