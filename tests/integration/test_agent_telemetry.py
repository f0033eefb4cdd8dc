"""Spans, counters and log records of a real conversation."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from livekit.agents import AgentSession
from livekit.agents.telemetry import set_tracer_provider, tracer
from livekit.agents.telemetry.pii import is_pii_attribute
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY

from bmo.agent import MemoryAgent
from bmo.memory import MemoryService
from bmo.replay.scripted import ScriptedRecogniser
from bmo.settings import Settings
from tests.fakes.models import RuleLLM
from tests.fakes.sessions import running, speak
from tests.homes import files_with

pytestmark = pytest.mark.integration


class Spans:
    """What was exported, and who is whose parent."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def all(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all() if span.name == name]

    def above(self, span: ReadableSpan) -> list[str]:
        """Names of a span's ancestors, nearest first."""
        by_id = {s.context.span_id: s for s in self.all() if s.context is not None}
        names: list[str] = []
        parent = span.parent
        while parent is not None and parent.span_id in by_id:
            upper = by_id[parent.span_id]
            names.append(upper.name)
            parent = upper.parent
        return names


@pytest.fixture
def spans() -> Iterator[Spans]:
    before = tracer._tracer_provider
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    set_tracer_provider(provider)
    yield Spans(exporter)
    tracer.set_provider(before)


@asynccontextmanager
async def conversation(
    home: Path, **values: Any
) -> AsyncIterator[tuple[AgentSession[Any], ScriptedRecogniser, MemoryAgent]]:
    settings = Settings.model_construct(bmo_home=home, bmo_recall_deadline_ms=5000, **values)
    service = await MemoryService.open(settings)
    agent = MemoryAgent(memory=service.session(user_id="glenn"), instructions="You are BMO.")
    ears = ScriptedRecogniser("en")
    try:
        async with running(agent, RuleLLM("Okay."), ears) as session:
            yield session, ears, agent
        await agent.conversation.aclose()
    finally:
        await service.aclose()


async def test_a_turns_spans_stand_under_livekits(spans: Spans, tmp_path: Path) -> None:
    async with conversation(tmp_path) as (session, ears, agent):
        await speak(session, ears, "my brother is sam")
        await agent.conversation.flush()
        await speak(session, ears, "what is my brother called")
    gates = spans.named("bmo.gate")
    assert len(gates) == 2
    for gate in gates:
        assert spans.above(gate)[0] == "on_user_turn_completed"
    (written, _) = sorted(spans.named("bmo.write"), key=lambda s: s.start_time or 0)
    assert spans.above(written)[:2] == ["bmo.gate", "on_user_turn_completed"]
    assert dict(written.attributes or {})["bmo.write.added"] == 1
    for part in ("bmo.gate.rules", "bmo.gate.judge"):
        assert all(spans.above(span)[0] == "bmo.gate" for span in spans.named(part))
    assert spans.named("bmo.gate.rules")
    (found,) = [
        span
        for span in spans.named("bmo.recall")
        if dict(span.attributes or {})["bmo.recall.triggered"]
    ]
    assert spans.above(found)[0] == "on_user_turn_completed"
    attributes = dict(found.attributes or {})
    assert attributes["gen_ai.memory.records"] == ("Has a brother named Sam",)
    parts = [attributes[f"bmo.recall.{n}"] for n in ("semantic", "recency", "domain", "usage")]
    assert all(isinstance(part, tuple) and len(part) == 1 for part in parts)
    for part in ("retrieve", "score", "select", "assemble"):
        (span,) = spans.named(f"bmo.recall.{part}")
        # Recall began on the transcript, before there was a turn.
        assert spans.above(span) == ["bmo.recall.prefetch", "agent_session"]
    assert spans.named("bmo.recall.plan")
    searched = {spans.above(span)[0] for span in spans.named("bmo.recall.search")}
    assert "bmo.recall.retrieve" in searched


async def test_operations_have_the_conventions_names(spans: Spans, tmp_path: Path) -> None:
    async with conversation(tmp_path) as (session, ears, _):
        for words in ("i live in leeds", "i moved to york", "forget where i live", "where am i"):
            await speak(session, ears, words)
    asked = {
        (span.name, dict(span.attributes or {}).get("gen_ai.operation.name"))
        for span in spans.all()
        if span.name in ("bmo.gate", "bmo.recall", "bmo.write", "bmo.profile")
    }
    assert {name for name, _ in asked} == {"bmo.gate", "bmo.recall", "bmo.write", "bmo.profile"}
    assert {operation for name, operation in asked if name == "bmo.write"} >= {
        "create_memory",
        "update_memory",
        "delete_memory",
    }
    assert ("bmo.recall", "search_memory") in asked
    assert ("bmo.gate", "upsert_memory") in asked


async def test_what_was_spoken_stands_only_where_it_can_be_redacted(
    spans: Spans, tmp_path: Path
) -> None:
    async with conversation(tmp_path) as (session, ears, agent):
        await speak(session, ears, "my brother is called zacharias")
        await agent.conversation.flush()
        await speak(session, ears, "who is my brother zacharias")
    ours = [span for span in spans.all() if span.name.startswith("bmo.")]
    spoken = {
        key
        for span in ours
        for key, value in (span.attributes or {}).items()
        if "zacharias" in str(value).lower()
    }
    assert {"lk.pii.bmo.text", "gen_ai.memory.query.text", "gen_ai.memory.records"} <= spoken
    assert all(is_pii_attribute(key) for key in spoken)
    assert not any("zacharias" in span.name.lower() for span in ours)


async def test_off_the_record_leaves_no_word_in_spans_logs_or_ledger(
    spans: Spans, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "bmo"):
        async with conversation(tmp_path, gatekeeper_debug=True) as (session, ears, agent):
            await speak(session, ears, "off the record")
            await speak(session, ears, "my brother is zacharias")
            await speak(session, ears, "what is my brother zacharias called")
            await speak(session, ears, "back on the record")
            await speak(session, ears, "off the record my sister is zacharias")
            await speak(session, ears, "i live in leeds")
            await agent.conversation.flush()
            ledger = agent.conversation.memory.service.ledger
            written = [(turn.text, turn.assistant_before) for turn in ledger.turns("glenn")]
    assert "i live in leeds" in [text for text, _ in written]
    assert "zacharias" not in str(written)
    ours = [span for span in spans.all() if span.name.startswith("bmo.")]
    assert len([s for s in ours if s.name == "bmo.gate"]) == 6
    assert "zacharias" not in str([dict(span.attributes or {}) for span in ours]).lower()
    assert "gatekeeper decision" in [r.getMessage() for r in caplog.records]
    ours_logged = [vars(record) for record in caplog.records if record.name.startswith("bmo")]
    assert "zacharias" not in str(ours_logged).lower()
    assert files_with(tmp_path, "zacharias") == []


@pytest.mark.parametrize("mem0_setting", ["GATED", "NORMAL"])
async def test_a_secret_stands_in_no_span_log_or_file(
    spans: Spans, tmp_path: Path, caplog: pytest.LogCaptureFixture, mem0_setting: str
) -> None:
    settings = {"gatekeeper_debug": True, "mem0_setting": mem0_setting}
    with caplog.at_level(logging.DEBUG, "bmo"):
        async with conversation(tmp_path, **settings) as (session, ears, agent):
            await speak(session, ears, "my netflix password is otterley7")
            await speak(session, ears, "did i tell you that my password is otterley7")
            await speak(session, ears, "so what is otterley7 for")
            await agent.conversation.flush()
    ours = [dict(span.attributes or {}) for span in spans.all() if span.name.startswith("bmo.")]
    asked = [one["gen_ai.memory.query.text"] for one in ours if "bmo.recall.trigger" in one]
    assert str(asked[-1]).endswith("so what is [secret] for")
    assert "otterley" not in str(ours).lower()
    logged = [vars(record) for record in caplog.records if record.name.startswith("bmo")]
    assert "otterley" not in str(logged).lower()
    assert files_with(tmp_path, "otterley") == []


async def test_without_a_trace_no_span_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*args: object, **kwargs: object) -> None:
        raise AssertionError("a span was made outside a recorded trace")

    from bmo.telemetry import spans as module

    monkeypatch.setattr(module, "_tracer", started)
    async with conversation(tmp_path) as (session, ears, agent):
        await speak(session, ears, "my brother is sam")
        await speak(session, ears, "what is my brother called")
        assert agent.conversation.turns[-1].given is not None


async def test_a_conversation_is_counted(tmp_path: Path) -> None:
    def value(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    def numbers() -> dict[str, float]:
        return {
            "kept": sum(
                sample.value
                for metric in REGISTRY.collect()
                if metric.name == "bmo_gate_decisions"
                for sample in metric.samples
                if sample.name.endswith("_total") and sample.labels["verdict"] == "allow"
            ),
            "recalls": sum(
                sample.value
                for metric in REGISTRY.collect()
                if metric.name == "bmo_recalls"
                for sample in metric.samples
                if sample.name.endswith("_total")
            ),
            "hooks": value("bmo_hook_duration_seconds_count"),
            "ledger": value("bmo_write_duration_seconds_count", store="ledger"),
            "index": value("bmo_write_duration_seconds_count", store="index"),
            "tokens": value("bmo_injected_tokens_sum", part="recall"),
        }

    before = numbers()
    async with conversation(tmp_path) as (session, ears, agent):
        await speak(session, ears, "my brother is sam")
        await agent.conversation.flush()
        await speak(session, ears, "what is my brother called")
        given = agent.conversation.turns[-1].given
        assert given is not None
    after = numbers()
    grown = {name: after[name] - before[name] for name in after}
    assert grown == {
        "kept": 1,
        "recalls": 2,
        "hooks": 2,
        "ledger": 2,
        "index": 1,
        "tokens": given.tokens,
    }
    assert value("bmo_outbox_depth") == 0
