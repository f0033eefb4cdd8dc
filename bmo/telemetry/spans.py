"""Spans of memory, under LiveKit's span of the turn.

LiveKit's tracer is used where LiveKit is loaded; spans of any other tracer are lost
(livekit-agents 1.8.9). No span is made outside a recorded trace, so nobody pays for what nobody
reads.

Attribute names: ``gen_ai.*`` as OpenTelemetry's GenAI conventions have them, ``bmo.*`` for what is
ours, and a ``pii`` segment (``lk.pii.*``) for everything spoken or remembered, which LiveKit strips
where a project redacts.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from bmo.telemetry.metrics import note
from bmo.turn import Decision, Recall, Turn

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span

Operation = Literal[
    "search_memory", "create_memory", "update_memory", "upsert_memory", "delete_memory"
]
"""GenAI operation names for memory."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


@contextlib.contextmanager
def memory_span(
    name: str, operation: Operation | None = None, *, parent: Context | None = None
) -> Iterator[Span]:
    """A span under the current one, or under ``parent``; its time goes to the metrics as a stage.

    Outside a recorded trace it keeps nothing.
    """
    from opentelemetry import trace

    began = time.perf_counter()
    try:
        above = trace.get_current_span(parent).get_span_context()
        if not (above.is_valid and above.trace_flags.sampled):
            yield trace.INVALID_SPAN
            return
        with _tracer().start_as_current_span(name, context=parent) as span:
            if operation is not None:
                span.set_attribute("gen_ai.operation.name", operation)
            yield span
    finally:
        stage = name.removeprefix("bmo.")
        note("bmo_stage_duration_seconds", time.perf_counter() - began, stage=stage)


def trace_context() -> Context | None:
    """The current place in a recorded trace, to be handed to another thread; None outside one."""
    from opentelemetry import context, trace

    above = trace.get_current_span().get_span_context()
    return context.get_current() if above.is_valid and above.trace_flags.sampled else None


def carried(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """``work``, to be run in another thread in the context (trace, LiveKit's job) of this one."""
    here = contextvars.copy_context()

    def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        return here.run(work, *args, **kwargs)

    return run


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


def describe_recall(span: Span, turn: Turn, recall: Recall, *, words: bool = True) -> None:
    """Writes a recall's attributes on a span, with each memory's score in parts.

    Without ``words`` (off the record) the question is left out.
    """
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
            "bmo.recall.left_out": len(recall.left_out),
            "bmo.recall.scores": [round(memory.score, 4) for memory in recall.memories],
            **{
                f"bmo.recall.{part}": [round(getattr(m.parts, part), 4) for m in recall.memories]
                for part in ("semantic", "recency", "domain", "usage", "kind")
            },
            # A library's error may quote what was asked.
            "lk.pii.bmo.recall.reason": recall.reason,
            "gen_ai.memory.query.text": plan.query if words else "",
            "gen_ai.memory.records": [memory.fact.text for memory in recall.memories],
        }
    )


def describe_written(span: Span, *, added: int, confirmed: int, ended: int) -> None:
    """Writes on a span what a turn changed in the ledger, and which operation that was."""
    operation: Operation = "upsert_memory"
    if ended and not added:
        operation = "delete_memory"
    elif added and not ended and not confirmed:
        operation = "create_memory"
    elif added and ended:
        operation = "update_memory"
    span.set_attributes(
        {
            "gen_ai.operation.name": operation,
            "bmo.write.added": added,
            "bmo.write.confirmed": confirmed,
            "bmo.write.ended": ended,
        }
    )


def _tracer() -> Any:
    """LiveKit's tracer where LiveKit is loaded, else OpenTelemetry's."""
    if "livekit.agents" in sys.modules:
        from livekit.agents.telemetry import tracer

        return tracer
    from opentelemetry import trace

    return trace.get_tracer("bmo")
