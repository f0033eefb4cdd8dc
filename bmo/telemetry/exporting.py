"""Where traces and metrics of a worker go: an OTLP endpoint, a Prometheus port."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from typing import Any

logger = logging.getLogger("bmo.telemetry")

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
_FLUSH_MS = 5000

_providers: dict[int, Any] = {}


def export_traces() -> bool:
    """Sends LiveKit's traces, and memory's in them, to the endpoint of OTLP's own variables.

    Reads ``OTEL_EXPORTER_OTLP_ENDPOINT`` (or ``..._TRACES_ENDPOINT``) and ``..._HEADERS`` as every
    OpenTelemetry exporter does, so any backend that takes OTLP over HTTP works (Langfuse, a
    collector). Once a process; does nothing without an endpoint, or when the application has set
    a tracer provider of its own. Returns whether this process exports.
    """
    if os.getpid() in _providers:
        return True
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return False
    from livekit.agents.telemetry import set_tracer_provider
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if isinstance(trace.get_tracer_provider(), TracerProvider):
        return False
    name = os.environ.get("OTEL_SERVICE_NAME", "bmo")
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    set_tracer_provider(provider)
    _providers[os.getpid()] = provider
    return True


def flush_traces() -> None:
    """Sends what was not sent yet; called at the end of a job, blocks for seconds at most."""
    provider = _providers.get(os.getpid())
    if provider is not None and not provider.force_flush(_FLUSH_MS):
        logger.warning("traces were not exported in time", extra={"timeout_ms": _FLUSH_MS})


def share_metrics_of_processes() -> str:
    """Makes counters of job processes add up on the worker's Prometheus port.

    prometheus-client decides when it is imported whether numbers live in memory or in files of a
    directory that all processes share. Call this before livekit or prometheus_client is imported,
    or the worker's own numbers (load, child processes) are not shown; those of jobs always are.

    Returns:
        The directory; removed when this process ends. One that is set already is kept.
    """
    known = os.environ.get(_MULTIPROCESS)
    if known:
        return known
    made = tempfile.mkdtemp(prefix="bmo-metrics-")
    os.environ[_MULTIPROCESS] = made
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(made, ignore_errors=True)

    atexit.register(remove)
    return made
