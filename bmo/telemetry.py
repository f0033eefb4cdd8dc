"""Spans, counters and log lines about memory, in one place.

Nothing here costs anything while nobody listens: OpenTelemetry's own no-op tracer and meter stand
in until a worker sets up real ones, and the Prometheus counters are plain in-process numbers.
LiveKit's tracer is fetched when the first span is started; spans of any other tracer are lost
(livekit-agents 1.8.9).

Attribute names: ``gen_ai.*`` as OpenTelemetry's GenAI conventions have them, ``bmo.*`` for what is
ours, and a ``pii`` segment (``lk.pii.*``) for everything spoken or remembered, which LiveKit strips
where a project redacts.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from bmo.turn import Decision, Recall, Turn

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram
    from opentelemetry.trace import Span

logger = logging.getLogger("bmo.gate")

DEBUG_WIDTH = 160
"""Characters of a turn that a debug line shows."""

_MILLISECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000)


# -- log lines ------------------------------------------------------------------------------------


@contextlib.contextmanager
def quiet_logs() -> Iterator[None]:
    """Keeps log records off the terminal while it belongs to a conversation or a report.

    Python prints warnings of libraries to standard error when no handler is there; this puts one
    there that prints nothing. Handlers that somebody set up keep working.
    """
    root = logging.getLogger()
    handler = logging.NullHandler()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def debug_to_stderr() -> None:
    """Prints the lines of ``GATEKEEPER_DEBUG`` to standard error. Safe to call twice."""
    if any(isinstance(handler, _DebugHandler) for handler in logger.handlers):
        return
    handler = _DebugHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False


class _DebugHandler(logging.StreamHandler[Any]):
    """The handler of ``debug_to_stderr``, so that it is recognised."""


_WORDS = {"allow": "KEEP", "hold": "HOLD", "discard": "SKIP"}


def debug_line(decision: Decision) -> str:
    """One line a decision: ``[gatekeeper] KEEP (preference): "i like tea" - stated preference``.

    The text is the masked one, on one line.
    """
    text = " ".join(decision.text.split())
    if len(text) > DEBUG_WIDTH:
        text = f"{text[: DEBUG_WIDTH - 1]}…"
    signal = decision.signals[0] if decision.signals else "other"
    return f'[gatekeeper] {_WORDS[decision.verdict]} ({signal}): "{text}" - {decision.reason}'


# -- what is noted --------------------------------------------------------------------------------


def note_decision(turn: Turn, decision: Decision, *, debug: bool = False) -> None:
    """Counts a decision of the write gate.

    Args:
        turn: The turn.
        decision: The gate's word on it.
        debug: Log the debug line too.
    """
    labels = {
        "verdict": decision.verdict,
        "signal": decision.signals[0] if decision.signals else "other",
        "fallback": str(decision.fallback).lower(),
    }
    _counter("bmo_gate_decisions", "Turns the write gate decided", tuple(labels)).add(labels)
    _histogram("bmo_gate_milliseconds", "Milliseconds a gate decision took").record(
        decision.elapsed_us / 1000
    )
    if debug:
        extra = {"verdict": decision.verdict, "reason": decision.reason, "turn_id": turn.id}
        logger.info("%s", debug_line(decision), extra=extra)


def note_recall(recall: Recall) -> None:
    """Counts a recall: whether it ran, why, how long, and how much was put before the model."""
    labels = {"triggered": str(recall.plan.recall).lower(), "trigger": recall.plan.trigger}
    _counter("bmo_recalls", "Turns the read gate planned", tuple(labels)).add(labels)
    _histogram("bmo_recall_milliseconds", "Milliseconds a recall took").record(recall.elapsed_ms)
    if recall.fallback:
        _counter("bmo_recall_fallbacks", "Recalls that missed their deadline or failed", ()).add({})
    if recall.tokens:
        _counter("bmo_context_tokens", "Tokens of memory put before models", ()).add(
            {}, recall.tokens
        )


def note_fault(part: str) -> None:
    """Counts a fault of memory that the conversation did not feel.

    Args:
        part: Where ("hook", "item", "recall", "profile", "prefetch", "flush").
    """
    _counter("bmo_faults", "Faults of memory that a conversation survived", ("part",)).add(
        {"part": part}
    )


# -- spans ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def memory_span(name: str, operation: str | None = None) -> Iterator[Span]:
    """A span under LiveKit's current one.

    Args:
        name: Its name ("bmo.gate", "bmo.recall").
        operation: GenAI operation ("search_memory", "create_memory", "upsert_memory").
    """
    with _tracer().start_as_current_span(name) as span:
        if operation is not None:
            span.set_attribute("gen_ai.operation.name", operation)
        yield span


def describe_decision(span: Span, turn: Turn, decision: Decision) -> None:
    """Writes a decision's attributes on a span."""
    span.set_attributes(
        {
            "bmo.turn_id": turn.id,
            "bmo.gate.verdict": decision.verdict,
            "bmo.gate.signals": list(decision.signals),
            "bmo.gate.reason": decision.reason,
            "bmo.gate.rule": decision.rule_id,
            "bmo.gate.version": decision.gate_version,
            "bmo.gate.confidence": decision.confidence,
            "bmo.gate.fallback": decision.fallback,
            "bmo.gate.facts": len(decision.facts),
            "bmo.gate.elapsed_us": decision.elapsed_us,
            "lk.pii.bmo.text": decision.text,
            "lk.pii.bmo.facts": [fact.text for fact in decision.facts],
        }
    )


def describe_recall(span: Span, turn: Turn, recall: Recall) -> None:
    """Writes a recall's attributes on a span, with each memory's score in parts."""
    plan = recall.plan
    span.set_attributes(
        {
            "bmo.turn_id": turn.id,
            "bmo.recall.triggered": plan.recall,
            "bmo.recall.trigger": plan.trigger,
            "bmo.recall.complexity": plan.complexity,
            "bmo.recall.budget_tokens": plan.budget_tokens,
            "bmo.recall.tokens": recall.tokens,
            "bmo.recall.elapsed_ms": recall.elapsed_ms,
            "bmo.recall.fallback": recall.fallback,
            "bmo.recall.reason": recall.reason,
            "bmo.recall.left_out": len(recall.left_out),
            "bmo.recall.scores": [round(memory.score, 4) for memory in recall.memories],
            "bmo.recall.semantic": [round(m.parts.semantic, 4) for m in recall.memories],
            "bmo.recall.recency": [round(m.parts.recency, 4) for m in recall.memories],
            "gen_ai.memory.query.text": plan.query,
            "gen_ai.memory.records": [memory.fact.text for memory in recall.memories],
        }
    )


def _tracer() -> Any:
    """LiveKit's tracer where LiveKit is loaded, else OpenTelemetry's."""
    if "livekit.agents" in sys.modules:
        from livekit.agents.telemetry import tracer

        return tracer
    from opentelemetry import trace

    return trace.get_tracer("bmo")


# -- instruments ----------------------------------------------------------------------------------


class _Count:
    """One counter on OpenTelemetry and in the process's Prometheus registry."""

    def __init__(self, name: str, about: str, labels: tuple[str, ...]) -> None:
        import prometheus_client

        self._otel: Counter = _meter().create_counter(_otel_name(name), description=about)
        self._prometheus = prometheus_client.Counter(name, about, labels)
        self._labelled = bool(labels)

    def add(self, labels: Mapping[str, str], amount: float = 1) -> None:
        self._otel.add(amount, dict(labels))
        counter = self._prometheus.labels(**labels) if self._labelled else self._prometheus
        counter.inc(amount)


class _Spread:
    """One histogram on OpenTelemetry and in the process's Prometheus registry."""

    def __init__(self, name: str, about: str) -> None:
        import prometheus_client

        self._otel: Histogram = _meter().create_histogram(
            _otel_name(name), unit="ms", description=about
        )
        self._prometheus = prometheus_client.Histogram(name, about, buckets=_MILLISECONDS)

    def record(self, value: float) -> None:
        self._otel.record(value)
        self._prometheus.observe(value)


@cache
def _counter(name: str, about: str, labels: tuple[str, ...]) -> _Count:
    return _Count(name, about, labels)


@cache
def _histogram(name: str, about: str) -> _Spread:
    return _Spread(name, about)


def watch(name: str, about: str, value: Callable[[], float]) -> None:
    """Shows a number that is asked for when someone looks: outbox depth, age of its oldest entry.

    Args:
        name: Its name ("bmo_outbox_depth").
        about: One line.
        value: Gives it; called from the thread that serves the metrics.
    """
    from opentelemetry.metrics import CallbackOptions, Observation

    def observe(options: CallbackOptions) -> list[Observation]:
        return [Observation(value())]

    _meter().create_observable_gauge(_otel_name(name), callbacks=[observe], description=about)
    _gauge(name, about).set_function(value)


@cache
def _gauge(name: str, about: str) -> Any:
    import prometheus_client

    return prometheus_client.Gauge(name, about)


def _meter() -> Any:
    from opentelemetry import metrics

    return metrics.get_meter("bmo")


def _otel_name(name: str) -> str:
    return name.replace("_", ".", 1)
