"""Cheap first: models in the order of their cost, until one answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bmo.extract.acceptance import accept
from bmo.extract.answer import SCHEMA, Candidate, read_answer
from bmo.extract.circuit import Circuit, Clock
from bmo.extract.gemini import GeminiClient
from bmo.extract.model import Answer, Budget, ExtractionFailed, ModelClient, Request
from bmo.extract.ollama import OllamaClient
from bmo.extract.request import build_request, prompt
from bmo.extract.settlement import Call, Known, Settlement, TurnOutcome
from bmo.settings import OLLAMA_PREFIX
from bmo.turn import CATEGORY_SIGNALS, Decision, Turn, is_masked

if TYPE_CHECKING:
    from bmo.gate import WriteGate
    from bmo.settings import Settings

logger = logging.getLogger("bmo.extract")

SPENT = "the day's budget of this user is spent"
"""Why a call is not made that the budget does not allow."""

NOTHING = 0.7
"""How much a model's "nothing to keep" counts."""


class Orchestrator:
    """Asks models, cheapest first, and stops at the first that answers for a turn.

    Safe from any thread; blocks its thread while a model is asked, so never call it from an
    event loop.

    Attributes:
        clients: In the order they are asked.
        notices: Sentences for people about models that are configured and cannot be used.
    """

    def __init__(
        self,
        clients: Sequence[ModelClient],
        gate: WriteGate,
        *,
        clock: Clock = time.monotonic,
        notices: Sequence[str] = (),
    ) -> None:
        """Orders the models by cost, then as they come; ``from_settings`` also makes them."""
        self.clients = tuple(sorted(clients, key=lambda one: one.cost))
        self.notices = tuple(notices)
        self._gate = gate
        self._circuits = {id(one): Circuit(clock) for one in self.clients}

    @classmethod
    def from_settings(cls, settings: Settings, gate: WriteGate) -> Orchestrator:
        """Makes a client for each model that GATEKEEPER_LLM_MODEL names; nothing is sent yet."""
        clients: list[ModelClient] = []
        notices: list[str] = []
        for name in settings.model_names:
            if name.startswith(OLLAMA_PREFIX):
                clients.append(OllamaClient(name.removeprefix(OLLAMA_PREFIX), settings.ollama_host))
            elif settings.google_api_key is None:
                notices.append(
                    f"GATEKEEPER_LLM_MODEL={name!r} needs GOOGLE_API_KEY: set it, or name a model "
                    "of Ollama (ollama/<model>); until then held turns wait."
                )
            else:
                clients.append(GeminiClient(name, settings.google_api_key.get_secret_value()))
        if not clients and not notices:
            notices.append("GATEKEEPER_LLM_MODEL names no model: held turns wait.")
        if 0 in (settings.gatekeeper_llm_budget, settings.gatekeeper_llm_token_budget):
            clients = []
            notices = ["GATEKEEPER_LLM_BUDGET or _TOKEN_BUDGET is 0: no model is asked."]
        return cls(clients, gate, notices=notices)

    def ready_in(self) -> float | None:
        """Seconds until a call may be made: 0 now, None never. Sends nothing."""
        return min((self._circuits[id(one)].wait_s() for one in self.clients), default=None)

    def why_not(self) -> str:
        """A sentence for people when no call may be made now, or ""."""
        wait = self.ready_in()
        if wait is None:
            return " ".join(self.notices)
        paused = [r for one in self.clients if (r := self._circuits[id(one)].reason)]
        return f"No model is asked for {wait:.0f} s: {'; '.join(paused)}." if wait else ""

    def extract(
        self, turns: Sequence[Turn], known: Known, budget: Budget | None = None
    ) -> Settlement:
        """Settles turns of one visit.

        Whatever a model or the network does ends in an outcome; no turn is lost.
        """
        outcomes: dict[str, TurnOutcome | None] = {turn.id: self._barred(turn) for turn in turns}
        shown = [self._in_context(turn) for turn in turns if outcomes[turn.id] is None]
        calls: list[Call] = []
        problems: list[str] = []
        for client in self.clients:
            left = [turn for turn in shown if outcomes[turn.id] is None]
            if not left:
                break
            try:
                answered = self._call(client, left, known, budget, calls)
            except ExtractionFailed as error:
                problems.append(str(error))
                continue
            outcomes |= answered
            if len(answered) < len(left):
                problems.append(f"{client.name} left a turn out of its answer")
        reason = "; ".join(dict.fromkeys(problems)) or self.why_not() or "no model answered"
        settled = tuple(outcomes[turn.id] or self._failed(turn, reason) for turn in turns)
        return Settlement(settled, tuple(calls))

    def warm_up(self) -> None:
        """Loads what the models' clients need, so that no conversation waits for it. Blocking."""
        prompt()
        for client in self.clients:
            client.warm_up()

    def close(self) -> None:
        """Closes every client; a call under way fails. Safe to call twice."""
        for client in self.clients:
            client.close()

    def _call(
        self,
        client: ModelClient,
        turns: Sequence[Turn],
        known: Known,
        budget: Budget | None,
        calls: list[Call],
    ) -> dict[str, TurnOutcome]:
        """One call, if circuit and budget allow it; it is added to ``calls``.

        Raises:
            ExtractionFailed: It was not made, or gave no usable answer.
        """
        circuit = self._circuits[id(client)]
        if circuit.wait_s() > 0:
            raise ExtractionFailed(circuit.reason)
        if not client.is_available():
            away = f"{client.name} is not available"
            circuit.failed(away, retry_after_s=circuit.FIRST_S, lasting=False)
            raise ExtractionFailed(away)
        if budget is not None and not budget.take():
            raise ExtractionFailed(SPENT)
        started, spent = time.perf_counter(), Answer("")
        failure: ExtractionFailed | None = None
        found: dict[str, TurnOutcome] = {}
        try:
            request = build_request(turns, known, self._gate.settings.bmo_sensitive)
            spent = client.ask(request, SCHEMA)
            proposed = read_answer(spent.text, request)
            found = {
                turn.id: self._answered(turn, proposed[turn.id], known, request, client.name)
                for turn in turns
                if turn.id in proposed
            }
        except ExtractionFailed as error:
            failure, spent = error, error.spent or spent
        except Exception as error:  # a bug in a client must not lose a turn
            logger.exception("model failed", extra={"extractor": client.name})
            failure = ExtractionFailed(f"{client.name} failed ({type(error).__name__})")
        read, wrote, why = spent.input_tokens, spent.output_tokens, str(failure or "")
        seconds = time.perf_counter() - started
        calls.append(Call(client.name, seconds, read, wrote, spent.cost, why, len(turns)))
        if budget is not None:
            budget.spend(read + wrote)
        if failure is not None:
            circuit.failed(why, retry_after_s=failure.retry_after_s, lasting=failure.lasting)
            logger.warning("model failed", extra={"extractor": client.name, "error": why})
            raise failure
        circuit.succeeded()
        return found

    def _barred(self, turn: Turn) -> TurnOutcome | None:
        """The outcome of a turn that no model may see; None for most."""
        if not self._gate.may_hold(turn.text, turn.assistant_before):
            held = replace(self._held(turn, "injection"), signals=("injection",))
            return TurnOutcome(turn.id, "held", held)
        if not turn.text.strip():
            return TurnOutcome(turn.id, "held", self._held(turn, "no words are left"))
        if is_masked(self._gate.masked(turn.text, turn.assistant_before)):
            return TurnOutcome(turn.id, "held", self._held(turn, "secret"))
        return None

    def _in_context(self, turn: Turn) -> Turn:
        """The turn behind the assistant's words that a model may see and a memory may keep."""
        asked = self._gate.kept_context(self._gate.masked(turn.assistant_before))
        return replace(turn, assistant_before=asked)

    def _failed(self, turn: Turn, reason: str) -> TurnOutcome:
        held = self._held(turn, f"model failed: {reason}")
        return TurnOutcome(turn.id, "failed", replace(held, fallback=True, open=True))

    def _answered(
        self,
        turn: Turn,
        proposed: Sequence[Candidate],
        known: Known,
        request: Request,
        method: str,
    ) -> TurnOutcome:
        """Allowed with facts, discarded without; held where all that was proposed was refused."""
        policy = self._gate.settings.bmo_sensitive
        accepted = accept(proposed, turn, known, policy, method, request.memories)
        facts, refused = accepted.facts, accepted.refused
        if refused and not facts:
            why = ", ".join(sorted({one.why for one in refused}))
            held = self._held(turn, f"a model's facts were refused: {why}")
            return TurnOutcome(turn.id, "held", held, refused)
        decision = replace(
            self._held(turn, "found by a model" if facts else "a model found nothing that lasts"),
            verdict="allow" if facts else "discard",
            signals=tuple(dict.fromkeys(CATEGORY_SIGNALS[f.category] for f in facts)) or ("other",),
            confidence=max((fact.confidence for fact in facts), default=NOTHING),
            facts=facts,
            gate_version=f"{self._gate.version}+prompt-{prompt()[0]}",
            extraction_method=method,
        )
        return TurnOutcome(turn.id, "settled", decision, refused, accepted.whole)

    def _held(self, turn: Turn, reason: str) -> Decision:
        version = self._gate.version
        return Decision("hold", ("other",), reason, 0.5, gate_version=version, text=turn.text)
