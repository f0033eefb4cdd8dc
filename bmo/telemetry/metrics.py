"""Counters, histograms and gauges: one catalogue, on OpenTelemetry and on Prometheus.

Prometheus names are the catalogue's (counters get ``_total``); OpenTelemetry's have a dot after
``bmo`` and underscores after it. Gauges are set, never asked for: a callback does not work where
jobs are processes of their own.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from bmo.telemetry.logs import log_decision
from bmo.turn import Decision, Recall, Turn

logger = logging.getLogger("bmo.telemetry")

Kind = Literal["counter", "histogram", "gauge"]

_SECONDS = (
    *(0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    *(0.25, 0.5, 1.0, 2.5, 10.0),
)
_TOKENS = (0.0, 25.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the catalogue; its name is without Prometheus' suffixes."""

    name: str
    kind: Kind
    about: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


METRICS: tuple[Metric, ...] = (
    Metric(
        "bmo_gate_decisions",
        "counter",
        "Turns the write gate decided; held ones have verdict hold",
        ("verdict", "signal", "fallback"),
    ),
    Metric("bmo_gate_duration_seconds", "histogram", "Time a gate decision took", (), _SECONDS),
    Metric(
        "bmo_recalls",
        "counter",
        "Turns the read gate planned: whether it searched, and which trigger or why not",
        ("triggered", "trigger"),
    ),
    Metric("bmo_recall_duration_seconds", "histogram", "Time a recall took", (), _SECONDS),
    Metric(
        "bmo_recall_fallbacks",
        "counter",
        "Recalls that missed their deadline, failed, or did without the index",
        ("reason",),
    ),
    Metric(
        "bmo_injected_tokens",
        "histogram",
        "Tokens of memory put before models",
        ("part",),
        _TOKENS,
    ),
    Metric("bmo_hook_duration_seconds", "histogram", "Memory's part of the hook", (), _SECONDS),
    Metric(
        "bmo_write_duration_seconds",
        "histogram",
        "Time a write took, in the ledger or in the index",
        ("store",),
        _SECONDS,
    ),
    Metric("bmo_write_failures", "counter", "Writes a store did not take", ("store",)),
    Metric(
        "bmo_stage_duration_seconds",
        "histogram",
        "Time of each stage of gating and recall",
        ("stage",),
        _SECONDS,
    ),
    Metric(
        "bmo_verdict_drift",
        "gauge",
        "Population stability index of the verdicts, the last 7 days against the 28 before; 0 "
        "where chance explains it",
    ),
    Metric("bmo_outbox_depth", "gauge", "Writes waiting for the index"),
    Metric("bmo_outbox_oldest_seconds", "gauge", "Age of the oldest write that waits"),
    Metric(
        "bmo_index_difference",
        "gauge",
        "Live memories of the ledger minus their entries in the index, as counted last",
    ),
    Metric("bmo_index_lost", "counter", "Times the Qdrant server had no collection any more"),
    Metric("bmo_recorder_queue", "gauge", "Jobs waiting for the writer thread of a process"),
    Metric(
        "bmo_model_calls",
        "counter",
        "Calls to models behind the gate, off the voice path",
        ("extractor", "failed"),
    ),
    Metric("bmo_model_duration_seconds", "histogram", "Time a model call took", (), _SECONDS),
    Metric("bmo_model_cost_dollars", "counter", "US dollars spent on model calls"),
    Metric(
        "bmo_settled_turns",
        "counter",
        "Turns a model was asked about, and what became of them",
        ("aim", "outcome"),
    ),
    Metric("bmo_guest_turns", "counter", "Turns of guests, kept or not (BMO_GUESTS)", ("kept",)),
    Metric("bmo_faults", "counter", "Faults of memory that a conversation survived", ("part",)),
)
"""Everything that is exported."""

_BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}


# -- what is noted --------------------------------------------------------------------------------


def note(name: str, value: float = 1, **labels: str) -> None:
    """Adds to a counter, observes in a histogram or sets a gauge of the catalogue."""
    _instrument(name).note(value, labels)


def note_decision(turn: Turn, decision: Decision, *, debug: bool = False) -> None:
    """Counts a decision of the write gate; ``debug`` logs its line too."""
    signal = decision.signals[0] if decision.signals else "other"
    fallback = str(decision.fallback).lower()
    note("bmo_gate_decisions", verdict=decision.verdict, signal=signal, fallback=fallback)
    note("bmo_gate_duration_seconds", decision.elapsed_us / 1e6)
    if debug:
        log_decision(decision, turn.id)


def note_recall(recall: Recall) -> None:
    """Counts a recall: whether it ran, why or why not, how long, and whether something failed."""
    trigger = recall.plan.trigger
    note("bmo_recalls", triggered=str(recall.plan.recall).lower(), trigger=trigger)
    note("bmo_recall_duration_seconds", recall.elapsed_ms / 1e3)
    if recall.fallback:
        reason = trigger if trigger in ("deadline", "failed") else "index"
        note("bmo_recall_fallbacks", reason=reason)


def note_write(store: Literal["ledger", "index"], seconds: float, *, failed: bool = False) -> None:
    """Counts a write; where the store did not take it the turn or the outbox keeps it."""
    note("bmo_write_duration_seconds", seconds, store=store)
    if failed:
        note("bmo_write_failures", store=store)


def note_fault(part: str) -> None:
    """Counts a fault of a part of memory that the conversation did not feel."""
    note("bmo_faults", part=part)


# -- instruments ----------------------------------------------------------------------------------


class _Instrument:
    """One metric on OpenTelemetry and in the process's Prometheus registry."""

    def __init__(self, metric: Metric) -> None:
        import prometheus_client
        from opentelemetry import metrics

        self._kind = metric.kind
        self._labelled = bool(metric.labels)
        meter = metrics.get_meter("bmo")
        name = metric.name.replace("_", ".", 1)
        about = metric.about
        self._prometheus: Any
        self._otel: Any
        if metric.kind == "counter":
            self._prometheus = prometheus_client.Counter(metric.name, about, metric.labels)
            self._otel = meter.create_counter(name, description=about).add
        elif metric.kind == "histogram":
            self._prometheus = prometheus_client.Histogram(
                metric.name, about, metric.labels, buckets=metric.buckets
            )
            unit = "s" if metric.name.endswith("_seconds") else "1"
            self._otel = meter.create_histogram(name, unit=unit, description=about).record
        else:
            # Every process of a fleet sees the same outbox: the latest word is the right one.
            mode: Literal["livesum", "mostrecent"]
            mode = "livesum" if metric.name == "bmo_recorder_queue" else "mostrecent"
            self._prometheus = prometheus_client.Gauge(
                metric.name, about, metric.labels, multiprocess_mode=mode
            )
            self._otel = meter.create_gauge(name, description=about).set

    def note(self, value: float, labels: Mapping[str, str]) -> None:
        """Adds, observes or sets. A metric that cannot be written never costs a turn."""
        try:
            child = self._prometheus.labels(**labels) if self._labelled else self._prometheus
            if self._kind == "counter":
                child.inc(value)
            elif self._kind == "histogram":
                child.observe(value)
            else:
                child.set(value)
        except (OSError, ValueError) as error:  # the shared files of several processes
            logger.debug("a metric was not written", extra={"error": repr(error)})
        self._otel(value, dict(labels))


def make_instruments() -> None:
    """Makes every metric now, so that no turn waits for its first note."""
    for metric in METRICS:
        _instrument(metric.name)


_made: dict[str, _Instrument] = {}
_making = threading.Lock()


def _instrument(name: str) -> _Instrument:
    """A metric, made when it is first noted: a registry takes each name once."""
    found = _made.get(name)
    if found is None:
        with _making:
            found = _made.get(name)
            if found is None:
                found = _made[name] = _Instrument(_BY_NAME[name])
    return found
