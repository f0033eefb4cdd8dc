"""Facts by a model: build the request, ask, read the answer, accept what holds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from bmo.extract.acceptance import accept
from bmo.extract.answer import SCHEMA, read_answer
from bmo.extract.extractor import Extraction, ExtractionFailed, Known, Refusal
from bmo.extract.request import Request, build_request, instructions
from bmo.turn import Fact, Turn

if TYPE_CHECKING:
    from bmo.gate import WriteGate

TIMEOUT_S = 30.0
"""Longest a model is waited for; nothing waits on it, but a thread does."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wrote.

    Attributes:
        text: The text, JSON of the schema if it obeyed.
        input_tokens: Tokens it read.
        output_tokens: Tokens it wrote, thinking included.
        cost: US dollars.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class ModelClient(Protocol):
    """A service that answers one request in JSON."""

    @property
    def name(self) -> str:
        """Service and model ("gemini:gemini-3.1-flash-lite")."""

    @property
    def cost(self) -> float:
        """Expected US dollars a call."""

    @property
    def estimated_latency_ms(self) -> float:
        """Expected milliseconds a call."""

    def is_available(self) -> bool:
        """Whether a call may succeed now."""

    def warm_up(self) -> None:
        """Loads its libraries; sends nothing."""

    def ask(self, request: Request, schema: Mapping[str, Any]) -> Answer:
        """One request, one answer, no retry.

        Raises:
            ExtractionFailed: No answer came, or the service refused.
        """

    def close(self) -> None:
        """Gives its connections back."""


class ModelExtractor:
    """An extractor around a model. Its facts have passed acceptance.

    Attributes:
        metered: Its calls count against the hourly budget.
    """

    metered = True

    def __init__(self, client: ModelClient, gate: WriteGate) -> None:
        """Extracts with this client; ``gate`` reads what it proposes."""
        self._client = client
        self._gate = gate

    @property
    def name(self) -> str:
        """The client's name."""
        return self._client.name

    @property
    def cost(self) -> float:
        """Expected US dollars a call."""
        return self._client.cost

    @property
    def estimated_latency_ms(self) -> float:
        """Expected milliseconds a call."""
        return self._client.estimated_latency_ms

    def is_available(self) -> bool:
        """Whether a call may succeed now."""
        return self._client.is_available()

    def warm_up(self) -> None:
        """Loads the client's libraries and the instructions."""
        instructions()
        self._client.warm_up()

    def extract(self, turns: Sequence[Turn], known: Known) -> Extraction:
        """See ``Extractor.extract``.

        Raises:
            ExtractionFailed: The answer was missing, late or malformed.
        """
        started = time.perf_counter()
        request = build_request(turns, known, self._gate.settings.bmo_sensitive)
        answer = self._client.ask(request, SCHEMA)
        try:
            proposed = read_answer(answer.text, request.numbered)
        except ExtractionFailed as error:
            raise ExtractionFailed(
                str(error),
                content=True,
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
                cost=answer.cost,
            ) from error
        facts: dict[str, tuple[Fact, ...]] = {}
        refused: dict[str, tuple[Refusal, ...]] = {}
        for turn in turns:
            if turn.id in proposed:
                accepted = accept(proposed[turn.id], turn, known, self._gate, self.name)
                facts[turn.id], refused[turn.id] = accepted.facts, accepted.refused
        return Extraction(
            facts=facts,
            method=self.name,
            cost=answer.cost,
            elapsed_ms=(time.perf_counter() - started) * 1000,
            refused=refused,
            conclusive=True,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
        )

    def close(self) -> None:
        """Closes the client."""
        self._client.close()
