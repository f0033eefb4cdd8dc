"""Runs a mode of the gate over annotated conversations: gate, ledger, settling."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from bmo.evaluation.annotated import AnnotatedTurn, annotated_turns
from bmo.memory.candidates import find_candidates
from bmo.memory.dialogue import Dialogue
from bmo.memory.settling import Settled, Settler
from bmo.turn import Decision, StoredFact, Verdict

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.ledger import Aim, Ledger
    from bmo.replay.scenario import Scenario, ScenarioTurn


@dataclass(frozen=True, slots=True)
class RanTurn:
    """A turn as a mode left it.

    Attributes:
        expected: What is right for it.
        first: What the gate decided at once.
        verdict: The verdict in the end.
        before: Memories it told at once.
        after: Memories it told in the end.
        aim: What a model was to be asked, or None.
    """

    expected: ScenarioTurn
    first: Decision
    verdict: Verdict
    before: tuple[StoredFact, ...] = ()
    after: tuple[StoredFact, ...] = ()
    aim: Aim | None = None


@dataclass(slots=True)
class ModeRun:
    """What a mode made of conversations.

    Attributes:
        mode: The mode.
        gate_version: The gate.
        model: Who answered behind the gate, in words for people, or "".
        turns: The conversations' turns.
        settled: What settling came to.
    """

    mode: str
    gate_version: str
    model: str
    turns: list[RanTurn] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)


def run_mode(
    gate: WriteGate,
    scenarios: Iterable[Scenario],
    *,
    ask_model: bool = False,
) -> ModeRun:
    """Runs the mode of a gate.

    Turns go through the gate and into a real ledger; at the end of each visit what waits is
    settled as a session's end settles it. Nothing is recalled, so nothing is injected.

    Args:
        gate: The gate, with the mode in its settings.
        scenarios: Annotated conversations.
        ask_model: Whether the models of GATEKEEPER_LLM_MODEL are asked.
    """
    from bmo.extract import Orchestrator
    from bmo.ledger import Ledger
    from bmo.recorder import Recorder

    model = gate.settings.gatekeeper_llm_model if ask_model else ""
    run = ModeRun(gate.settings.effective_mode, gate.version, model)
    with ExitStack() as opened:
        home = opened.enter_context(tempfile.TemporaryDirectory(prefix="bmo-eval-"))
        ledger = opened.enter_context(closing(Ledger.open(f"sqlite:///{home}/ledger.sqlite3")))
        recorder = opened.enter_context(closing(Recorder(ledger, None, gate.settings)))
        settler = None
        if ask_model:
            settler = Settler(
                gate.settings,
                ledger,
                recorder,
                Orchestrator.from_settings(gate.settings, gate),
                candidates=lambda turn: find_candidates(ledger, None, turn)[0],
            )
            opened.enter_context(closing(settler))
        for scenario in scenarios:
            run.turns += _Visits(gate, ledger, settler, run.settled).play(scenario)
    return run


class _Visits:
    """The visits of one conversation, played one after the other."""

    def __init__(
        self, gate: WriteGate, ledger: Ledger, settler: Settler | None, total: Settled
    ) -> None:
        self._gate = gate
        self._ledger = ledger
        self._settler = settler
        self._total = total
        self._waited: dict[str, Aim] = {}

    def play(self, scenario: Scenario) -> list[RanTurn]:
        """Decides and records every turn, settles, and reads what became of them."""
        user_id = scenario.id
        dialogue = Dialogue()
        told: list[tuple[AnnotatedTurn, Decision, tuple[StoredFact, ...]]] = []
        for row in annotated_turns(scenario):
            if row.opens_visit:
                self._settle(user_id)
                dialogue = Dialogue()
            decision = self._gate.decide(
                row.turn, dialogue.context(*find_candidates(self._ledger, None, row.turn))
            )
            mode = self._gate.settings.effective_mode
            recorded = self._ledger.record(row.turn, decision, mode=mode)
            dialogue.note_turn(row.turn, decision)
            dialogue.note_reply(row.turn.id, row.expected.assistant)
            told.append((row, decision, (*recorded.added, *recorded.confirmed)))
        self._settle(user_id)
        return list(self._ran(user_id, told))

    def _settle(self, user_id: str) -> None:
        if self._settler is None:
            return
        aims = self._settler.aims
        for one in self._ledger.waiting(user_id, aims=aims):
            self._waited.setdefault(one.turn.id, one.aim)
        add_up(self._total, self._settler.settle_now(user_id, aims=aims))

    def _ran(
        self,
        user_id: str,
        told: list[tuple[AnnotatedTurn, Decision, tuple[StoredFact, ...]]],
    ) -> Iterator[RanTurn]:
        ends = {logged.id: logged.verdict for logged in self._ledger.turns(user_id)}
        outcomes = self._ledger.outcomes(user_id, [row.turn.id for row, _, _ in told])
        for row, first, before in told:
            aim = self._waited.get(row.turn.id)
            after = before
            if aim is not None:  # what a model wrote stands in the place of the words it read
                left = outcomes[row.turn.id].told
                after = tuple(fact for fact in left if fact.end_reason != "merged")
            yield RanTurn(
                expected=row.expected,
                first=first,
                verdict=ends.get(row.turn.id, first.verdict),
                before=before,
                after=after,
                aim=aim,
            )


def add_up(total: Settled, more: Settled) -> None:
    """Adds the counts of another settling to a total."""
    for one in fields(Settled):
        if one.type in ("int", "float"):
            setattr(total, one.name, getattr(total, one.name) + getattr(more, one.name))
    total.seconds += more.seconds
    total.why_stopped = more.why_stopped or total.why_stopped
    for why, count in more.refused.items():
        total.refused[why] = total.refused.get(why, 0) + count
