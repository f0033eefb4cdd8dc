"""Spans, counters and log lines about memory, in one place.

Nothing here costs much while nobody listens: no span is made outside a trace that is recorded,
OpenTelemetry's own no-op meter stands in until a worker sets up a real one, and the Prometheus
counters are plain in-process numbers.
"""

from bmo.telemetry.exporting import export_traces, flush_traces, share_metrics_of_processes
from bmo.telemetry.logs import debug_line, debug_to_stderr, log_decision, quiet_logs
from bmo.telemetry.metrics import (
    METRICS,
    make_instruments,
    note,
    note_decision,
    note_fault,
    note_recall,
    note_write,
)
from bmo.telemetry.spans import (
    carried,
    describe_decision,
    describe_recall,
    describe_written,
    memory_span,
    trace_context,
)

__all__ = [
    "METRICS",
    "carried",
    "debug_line",
    "debug_to_stderr",
    "describe_decision",
    "describe_recall",
    "describe_written",
    "export_traces",
    "flush_traces",
    "log_decision",
    "make_instruments",
    "memory_span",
    "note",
    "note_decision",
    "note_fault",
    "note_recall",
    "note_write",
    "quiet_logs",
    "share_metrics_of_processes",
    "trace_context",
]
