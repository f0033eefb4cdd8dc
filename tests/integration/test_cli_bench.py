"""``bmo bench``: what it measures is real; no figure is judged here."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmo.evaluation import bench, bench_memory
from tests.cli import bmo

pytestmark = pytest.mark.integration


def test_figures_know_their_budget() -> None:
    assert bench.Figure("x", "p99", 2.0, 2.0, "ms").ok
    assert not bench.Figure("x", "p99", 2.1, 2.0, "ms").ok


def test_hostile_texts_are_of_full_length() -> None:
    assert {len(text) for text in bench.hostile_texts()} == {bench.HOSTILE_CHARACTERS}


def test_texts_are_those_of_people() -> None:
    texts, source = bench.bench_texts()
    assert len(texts) == bench.TURNS and "training" in source
    assert len(set(texts)) > 0.9 * len(texts)


def test_ordinary_talk_stands_in_without_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "bmo" / "evaluation" / "bench.py"))
    assert bench.bench_texts() == (list(bench.ORDINARY), "ordinary talk")


def test_gates_and_hook_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "TURNS", 50)
    monkeypatch.setattr(bench, "HOOKS", 4)
    figures = [*bench.gate_figures(), bench.plan_figure(), *bench.hook_figures()]
    assert [figure.statistic for figure in figures] == ["mean", "p99", "max", "p99", "p99"]
    assert all(type(figure.value) is float for figure in figures), "JSON knows no other"
    assert all(figure.value > 0 for figure in figures)
    assert figures[-1].note.startswith("4 turns")


async def test_memory_is_measured_on_a_filled_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_memory, "RECALLS", 8)
    monkeypatch.setattr(bench_memory, "PREFETCHED", 4)
    monkeypatch.setattr(bench_memory, "SESSION_TURNS", 2)
    monkeypatch.setattr(bench_memory, "TOLD", 3)
    found = await bench_memory.measure(tmp_path, 100)
    # Every question asks for memory: what is timed is recall and not its absence.
    assert len(found["cold_ms"]) == 8
    assert len(found["prefetched_ms"]) == 4
    assert len(found["searchable_ms"]) == 3
    assert found["stalls_ms"] and found["idle_ms"]


def test_what_a_process_holds_is_measured() -> None:
    before = bench.resident_mb()
    held = bytearray(b"x" * (64 << 20))
    assert bench.resident_mb() - before > 0.9 * 64
    assert before > 10 and len(held) == 64 << 20


def test_wrong_input_is_refused(tmp_path: Path) -> None:
    assert bmo(tmp_path, "bench", "--memories", "5").code == 2
