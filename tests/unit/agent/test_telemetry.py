"""Spans, counters and the debug line."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from opentelemetry import trace
from prometheus_client import REGISTRY

from bmo import telemetry
from bmo.turn import Decision, Recall, RecallPlan, Turn
from tests.fakes.memory_session import recall_of

pytestmark = pytest.mark.unit

TURN = Turn(text="i like tea", at=datetime(2026, 3, 1, tzinfo=UTC))
DECISION = Decision(
    verdict="allow",
    signals=("preference",),
    reason="stated preference",
    confidence=0.9,
    text="i like\n tea",
    elapsed_us=40.0,
)


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_the_debug_line_is_one_line_of_masked_text() -> None:
    assert (
        telemetry.debug_line(DECISION)
        == '[gatekeeper] KEEP (preference): "i like tea" - stated preference'
    )


def test_decisions_are_counted_and_logged_when_asked(caplog: pytest.LogCaptureFixture) -> None:
    labels = {"verdict": "allow", "signal": "preference", "fallback": "false"}
    before = counted("bmo_gate_decisions_total", **labels)
    with caplog.at_level(logging.INFO, "bmo.gate"):
        telemetry.note_decision(TURN, DECISION)
        assert caplog.records == []
        telemetry.note_decision(TURN, DECISION, debug=True)
    assert counted("bmo_gate_decisions_total", **labels) == before + 2
    assert [record.message for record in caplog.records] == ["gatekeeper decision"]
    assert getattr(caplog.records[0], "lk.pii.gatekeeper") == telemetry.debug_line(DECISION)


def test_recalls_are_counted_with_their_trigger() -> None:
    before = counted("bmo_recalls_total", triggered="true", trigger="own_fact_question")
    missed = counted("bmo_recall_fallbacks_total", reason="deadline")
    telemetry.note_recall(recall_of("Likes tea"))
    late = Recall(plan=RecallPlan(recall=False, trigger="deadline"), fallback=True)
    telemetry.note_recall(late)
    assert counted("bmo_recalls_total", triggered="true", trigger="own_fact_question") == before + 1
    assert counted("bmo_recall_fallbacks_total", reason="deadline") == missed + 1


def test_spoken_words_stand_only_under_keys_that_are_redacted() -> None:
    from livekit.agents.telemetry.pii import is_pii_attribute

    span = _Noted()
    telemetry.describe_decision(span, TURN, DECISION)
    telemetry.describe_recall(span, TURN, recall_of("Likes tea"))
    spoken = {key for key, value in span.attributes.items() if "tea" in str(value)}
    assert spoken
    assert all(is_pii_attribute(key) for key in spoken)


class _Noted(trace.NonRecordingSpan):
    """A span that keeps its attributes."""

    def __init__(self) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self.attributes: dict[str, object] = {}

    def set_attributes(self, attributes: object) -> None:
        assert isinstance(attributes, dict)
        self.attributes.update(attributes)
