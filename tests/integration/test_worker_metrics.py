"""What a running worker shows: its Prometheus port with both executors, and traces over OTLP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bmo.telemetry import METRICS
from tests.deadlines import deadline
from tests.fakes.otlp_receiver import otlp_receiver
from tests.fakes.qdrant_door import API_KEY
from tests.fakes.qdrant_server import FakeQdrantServer

pytestmark = pytest.mark.integration


def exported_names() -> set[str]:
    """Every name that a scrape may show for BMO's metrics."""
    parts = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"], "gauge": [""]}
    return {f"{metric.name}{part}" for metric in METRICS for part in parts[metric.kind]}


ROOT = Path(__file__).parents[2]
SCRIPT = ("my brother is called sam", "what is my brother called", "nice weather isnt it")


@pytest.fixture(params=["thread", "process"])
def store(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Settings that make jobs threads (embedded store) or processes (a Qdrant server)."""
    if request.param == "thread":
        yield {}
        return
    server = FakeQdrantServer()
    try:
        yield {"QDRANT_URL": server.url, "QDRANT_API_KEY": API_KEY}
    finally:
        server.stop()


@contextmanager
def worker(home: Path, **environment: str) -> Iterator[str]:
    """A worker that has had its conversation; gives its metrics' address."""
    kept = {n: os.environ[n] for n in ("PATH", "HOME", "LANG") if n in os.environ}
    bmo = {"BMO_HOME": str(home), "BMO_METRICS_PORT": "0"}
    log = home.parent / "worker.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.scripted_worker", *SCRIPT],
            cwd=ROOT,
            env={**kept, **deadline(), **bmo, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            first, second = process.stdout.readline(), process.stdout.readline()
            assert (first.split()[:1], second.strip()) == (["metrics"], "done"), log.read_text()
            yield first.split()[1]
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


def scraped(address: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    with urlopen(address, timeout=60) as answer:
        text = answer.read().decode()
    return {
        (sample.name, frozenset((k, v) for k, v in sample.labels.items() if k != "pid")): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def total(
    values: dict[tuple[str, frozenset[tuple[str, str]]], float], name: str, **of: str
) -> float:
    wanted = set(of.items())
    return sum(
        value for (known, labels), value in values.items() if known == name and wanted <= labels
    )


def test_a_scrape_shows_what_the_jobs_did(store: dict[str, str], tmp_path: Path) -> None:
    with worker(tmp_path / "home", **store) as address:
        values = scraped(address)
    assert total(values, "bmo_gate_decisions_total", verdict="allow") == 1
    assert total(values, "bmo_gate_decisions_total") == 3
    assert total(values, "bmo_recalls_total", triggered="true") == 1
    assert total(values, "bmo_recalls_total", triggered="false") == 2
    assert total(values, "bmo_hook_duration_seconds_count") == 3
    assert total(values, "bmo_write_duration_seconds_count", store="ledger") == 3
    assert total(values, "bmo_write_duration_seconds_count", store="index") == 1
    assert total(values, "bmo_injected_tokens_sum", part="recall") > 0
    assert ("bmo_outbox_depth", frozenset()) in values
    assert total(values, "bmo_outbox_depth") == 0
    shown = {name for name, _ in values if name.startswith("bmo_")}
    shown = {name for name in shown if not name.endswith("_created")}
    assert shown <= exported_names()


def test_traces_go_where_otlp_says(tmp_path: Path) -> None:
    with otlp_receiver() as receiver:
        environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
            "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20cGs6c2s=",
        }
        with worker(tmp_path / "home", **environment):
            pass
        assert receiver.authorization == {"Basic cGs6c2s="}
        assert {"bmo.gate", "bmo.recall", "bmo.write", "user_turn"} <= receiver.names()
        by_id = {span.span_id: span for span in receiver.spans}
        (written, *_) = [span for span in receiver.spans if span.name == "bmo.write"]
        assert by_id[written.parent_span_id].name == "bmo.gate"


def test_every_metric_on_the_dashboard_exists() -> None:
    text = (ROOT / "docs" / "grafana-dashboard.json").read_text(encoding="utf-8")
    shown = set(re.findall(r"\b(?:bmo|lk)_[a-z_]+", text))
    theirs = {"lk_agents_active_job_count"}
    assert shown - theirs <= exported_names()


@pytest.mark.parametrize("file", ["grafana-dashboard.json", "telemetry.md"])
def test_every_metric_is_shown(file: str) -> None:
    text = (ROOT / "docs" / file).read_text(encoding="utf-8")
    named = set(re.findall(r"\bbmo_[a-z_]+", text))
    names = {"counter": "_total", "gauge": ""}
    for metric in METRICS:
        ends = [names[metric.kind]] if metric.kind in names else ["", "_bucket", "_sum", "_count"]
        assert any(f"{metric.name}{end}" in named for end in ends), metric.name


def test_no_two_panels_lie_on_each_other() -> None:
    board = json.loads((ROOT / "docs" / "grafana-dashboard.json").read_text(encoding="utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24, panel["title"]
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_dashboard_is_one_grafana_takes() -> None:
    board = json.loads((ROOT / "docs" / "grafana-dashboard.json").read_text(encoding="utf-8"))
    assert board["uid"]
    assert board["schemaVersion"] >= 36
    (source,) = [one for one in board["templating"]["list"] if one["type"] == "datasource"]
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    for panel in panels:
        assert panel["targets"], panel["title"]
        assert panel["datasource"]["uid"] == f"${{{source['name']}}}"
        for target in panel["targets"]:
            assert target["expr"].count("(") == target["expr"].count(")"), panel["title"]
            assert re.search(r"\b(?:bmo|lk)_[a-z_]+", target["expr"]), panel["title"]
