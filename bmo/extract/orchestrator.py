"""Cheap first: extractors in the order of their cost, until one answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bmo.extract.budget import Budget, Circuit, Clock
from bmo.extract.extractor import Extraction, ExtractionFailed, Extractor, Known
from bmo.extract.models import extractors_of
from bmo.extract.outcome import Call, Settlement, TurnOutcome
from bmo.extract.verdicts import failed, held, settled
from bmo.turn import Decision, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.settings import Settings

logger = logging.getLogger("bmo.extract")

AGAIN_S = 60.0
"""When a failure names no time: seconds before it is worth asking again."""


class Orchestrator:
    """Asks extractors, cheapest first, and stops at the first that answers for a turn.

    The rules' silence is no answer; a model's "nothing" is one. Safe from any thread; blocks its
    thread while a model is asked, so never call it from an event loop.

    Attributes:
        extractors: In the order they are asked.
        budget: What may be asked in an hour, or None for no limit.
        notices: Sentences for people about extractors that are configured and cannot be used.
    """

    def __init__(
        self,
        extractors: Sequence[Extractor],
        gate: WriteGate,
        *,
        budget: Budget | None = None,
        clock: Clock = time.monotonic,
        notices: Sequence[str] = (),
    ) -> None:
        """Orders the extractors by cost, then by latency; ``from_settings`` also makes them."""
        self.extractors = tuple(
            sorted(extractors, key=lambda one: (one.cost, one.estimated_latency_ms))
        )
        self.budget = budget
        self.notices = tuple(notices)
        self._gate = gate
        self._circuits = {id(one): Circuit(clock) for one in self.extractors}

    @classmethod
    def from_settings(cls, settings: Settings, gate: WriteGate) -> Orchestrator:
        """Makes the extractors that GATEKEEPER_LLM_MODEL names; nothing is sent yet.

        Args:
            settings: Models, keys, budgets.
            gate: Reads what models propose.
        """
        extractors, notices = extractors_of(settings, gate)
        budget = Budget(settings.gatekeeper_llm_budget, settings.gatekeeper_llm_token_budget)
        return cls(extractors, gate, budget=budget, notices=notices)

    def ready_in(self) -> float | None:
        """Seconds until a call may be made: 0 now, None never. Sends nothing."""
        waits = [self._circuits[id(one)].wait_s() for one in self.extractors]
        if not waits:
            return None
        metered = all(one.metered for one in self.extractors)
        allowed = self.budget.wait_s() if self.budget is not None and metered else 0.0
        return None if allowed is None else max(min(waits), allowed)

    def why_not(self) -> str:
        """A sentence for people when no call may be made now, or ""."""
        wait = self.ready_in()
        if wait == 0.0:
            return ""
        if wait is None:
            none = "GATEKEEPER_LLM_BUDGET or GATEKEEPER_LLM_TOKEN_BUDGET is 0: no model is asked."
            return " ".join(self.notices) if not self.extractors else none
        paused = [r for one in self.extractors if (r := self._circuits[id(one)].reason)]
        spent = self.budget is not None and self.budget.wait_s() != 0.0
        why = "the hour's budget is spent" if spent else "; ".join(paused)
        return f"No model is asked for {wait:.0f} s: {why}."

    def extract(self, turns: Sequence[Turn], known: Known) -> Settlement:
        """Settles turns of one visit.

        Whatever a model or the network does ends in an outcome; no turn is lost.

        Args:
            turns: At most ``MAX_TURNS`` turns of one user and one visit, oldest first.
            known: What is known beside them.

        Returns:
            One outcome a turn, and every call that was made.
        """
        outcomes: dict[str, TurnOutcome] = {}
        left: list[Turn] = []
        for turn in turns:
            barred = self._barred(turn)
            if barred:
                outcomes[turn.id] = TurnOutcome(turn.id, "held", held(turn, self._gate, barred))
            else:
                left.append(turn)
        calls: list[Call] = []
        problems: list[str] = []
        for extractor in self.extractors:
            if not left:
                break
            answered, problem = self._ask(extractor, left, known, calls)
            outcomes |= {one.turn_id: one for one in answered}
            left = [turn for turn in left if turn.id not in outcomes]
            if left and problem:
                problems.append(problem)
        reason = "; ".join(dict.fromkeys(problems)) or self.why_not() or "no model answered"
        for turn in left:
            outcomes[turn.id] = TurnOutcome(turn.id, "failed", failed(turn, self._gate, reason))
        again = (self.ready_in() or AGAIN_S) if left else None
        return Settlement(tuple(outcomes[turn.id] for turn in turns), tuple(calls), again)

    def warm_up(self) -> None:
        """Loads what the extractors need, so that no conversation is held up by it. Blocking."""
        for extractor in self.extractors:
            extractor.warm_up()

    def close(self) -> None:
        """Closes every extractor; a call under way fails. Safe to call twice."""
        for extractor in self.extractors:
            extractor.close()

    def _ask(
        self, extractor: Extractor, turns: Sequence[Turn], known: Known, calls: list[Call]
    ) -> tuple[list[TurnOutcome], str]:
        """Asks one extractor; what it answered, and why turns are left.

        One turn may spoil the answer about all (a service's safety filter, a model that loses
        its thread): then each half is asked for itself, and so on where it helps.
        """
        try:
            extraction = self._call(extractor, turns, known, calls)
        except ExtractionFailed as error:
            if error.content:
                return self._in_halves(extractor, turns, known, calls, str(error))
            return [], str(error)
        answered = self._answered(extraction, turns)
        left_out = extraction.conclusive and len(answered) < len(turns)
        return answered, f"{extractor.name} left a turn out of its answer" if left_out else ""

    def _in_halves(
        self,
        extractor: Extractor,
        turns: Sequence[Turn],
        known: Known,
        calls: list[Call],
        problem: str,
    ) -> tuple[list[TurnOutcome], str]:
        """Asks about each half of turns that were not answered together.

        Only where one half fares better than the other is the other halved again.
        """
        if len(turns) < 2:
            return [], problem
        answered: list[TurnOutcome] = []
        spoiled: list[Sequence[Turn]] = []
        for half in (turns[: len(turns) // 2], turns[len(turns) // 2 :]):
            try:
                extraction = self._call(extractor, half, known, calls)
                answered += self._answered(extraction, half)
            except ExtractionFailed as error:
                problem = str(error)
                spoiled.append(half)
        if len(spoiled) == 1:
            more, problem = self._in_halves(extractor, spoiled[0], known, calls, problem)
            answered += more
        return answered, problem

    def _call(
        self, extractor: Extractor, turns: Sequence[Turn], known: Known, calls: list[Call]
    ) -> Extraction:
        """One call, if circuit and budget allow it; noted in ``calls``.

        Raises:
            ExtractionFailed: It was not made, or gave no usable answer.
        """
        circuit = self._circuits[id(extractor)]
        if circuit.wait_s() > 0:
            raise ExtractionFailed(circuit.reason)
        if not extractor.is_available():
            raise ExtractionFailed(f"{extractor.name} is not available")
        budget = self.budget if extractor.metered else None
        if budget is not None and not budget.take():
            raise ExtractionFailed("the hour's budget is spent")
        started = time.perf_counter()
        spent: Extraction | ExtractionFailed
        try:
            spent = extractor.extract(turns, known)
            circuit.succeeded()
        except ExtractionFailed as error:
            spent = error
        except Exception as error:  # a bug in a client must not lose a turn
            logger.exception("extractor failed", extra={"extractor": extractor.name})
            spent = ExtractionFailed(f"{extractor.name} failed ({type(error).__name__})")
        why = str(spent) if isinstance(spent, ExtractionFailed) else ""
        calls.append(
            Call(
                extractor.name,
                time.perf_counter() - started,
                spent.input_tokens,
                spent.output_tokens,
                spent.cost,
                why,
                len(turns),
            )
        )
        if budget is not None:
            budget.spend(spent.input_tokens + spent.output_tokens)
        if isinstance(spent, ExtractionFailed):
            circuit.failed(why, retry_after_s=spent.retry_after_s, lasting=spent.lasting)
            logger.warning("extractor failed", extra={"extractor": extractor.name, "error": why})
            raise spent
        return spent

    def _answered(self, extraction: Extraction, turns: Sequence[Turn]) -> list[TurnOutcome]:
        """The outcomes of the turns an extraction answers for."""
        found = []
        for turn in turns:
            if turn.id not in extraction.facts:
                continue
            facts = extraction.facts[turn.id]
            refused = extraction.refused.get(turn.id, ())
            decision: Decision
            if facts or (extraction.conclusive and not refused):
                decision = settled(turn, self._gate, facts, extraction.method)
                found.append(TurnOutcome(turn.id, "settled", decision, refused))
            elif refused:
                why = ", ".join(sorted({one.why for one in refused}))
                decision = held(turn, self._gate, f"a model's facts were refused: {why}")
                found.append(TurnOutcome(turn.id, "held", decision, refused))
        return found

    def _barred(self, turn: Turn) -> str:
        """Why a turn is not shown to a model, or ""."""
        from bmo.gate import injection, scan_sensitive

        if not turn.text.strip():
            return "no words are left"
        if injection.scan(turn.text) is not None:
            return "injection"
        return "secret" if scan_sensitive(turn.text).secrets else ""
