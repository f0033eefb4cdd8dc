"""Replay: scenario files through a real AgentSession and a real memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bmo.replay.command import ReplayOutput, run_replay
from bmo.replay.diff import compare_recordings
from bmo.replay.runner import run_scenario
from bmo.replay.scenario import load_scenario
from bmo.settings import Settings

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]

GOOD = """\
id: {id}
about: a move, two visits
style: asr
language: en
user: glenn
sessions:
  - at: 2026-03-01T09:00:00Z
    profile: []
    turns:
      - user: "hi there"
        assistant: "Hello! Where are you?"
        verdict: discard
        recall: false
      - user: "i live in leeds"
        assistant: "Leeds, nice."
        verdict: allow
        facts:
          - category: personal_facts
            contains: [lives, Leeds]
        recall: false
      - user: "my brother is sam"
        assistant: "Good to know about Sam."
        verdict: allow
        facts:
          - category: relationships
            contains: [brother, Sam]
        recall: false
  - at: 2026-04-01T09:00:00Z
    profile: [[Leeds], [Sam]]
    turns:
      - user: "i moved to york"
        assistant: "York, lovely."
        verdict: allow
        facts:
          - category: personal_facts
            contains: [York]
            lacks: [Leeds]
        recall: false
      - user: "where do i live"
        assistant: "In York."
        verdict: discard
        recall: true
        injects: [[York]]
        omits: [Leeds]
ends:
  keeps: [[York], [brother, Sam]]
  drops: [Leeds]
"""

BAD = GOOD.replace("contains: [brother, Sam]", "contains: [sister, Sam]").replace(
    "keeps: [[York], [brother, Sam]]", "keeps: [[York], [unicorn]]"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.turns.yaml").write_text(GOOD.format(id="good"), encoding="utf-8")
    return tmp_path


def spoil(folder: Path) -> None:
    (folder / "spoilt.turns.yaml").write_text(BAD.format(id="spoilt"), encoding="utf-8")


async def test_a_scenario_that_holds(folder: Path) -> None:
    result = await run_scenario(
        load_scenario(folder / "good.turns.yaml"), Settings.model_construct()
    )
    assert result.all_mismatches == ()
    assert len(result.turns) == 5
    assert any("York" in text for text in result.end.live)
    assert [end.text for end in result.turns[3].ended] == ["Lives in Leeds"]
    assert result.turns[3].profile is not None
    assert result.turns[1].profile is None


async def test_replay_is_deterministic(folder: Path) -> None:
    scenario = load_scenario(folder / "good.turns.yaml")
    once = await run_scenario(scenario, Settings.model_construct())
    again = await run_scenario(scenario, Settings.model_construct())

    diff = compare_recordings([once], [again])
    assert [change for change in diff.changes if change.kind != "latency"] == []
    assert diff.turns == 5
    assert any(turn.recall.context for turn in once.turns)


async def test_a_turn_tells_where_its_memories_come_from(folder: Path) -> None:
    scenario = load_scenario(folder / "good.turns.yaml")
    row = await run_scenario(scenario, Settings.model_construct())
    (ended,) = row.turns[3].ended
    assert (ended.text, ended.why, ended.said) == ("Lives in Leeds", "superseded", (0, 1))
    assert "York" in ended.replaced_by
    given = row.turns[4].recall.selected[0]
    assert given.said == (1, 0)
    assert sum(given.parts.values()) == pytest.approx(given.score, abs=0.001)
    assert row.turns[3].at == "2026-04-01T09:00:00+00:00"
    assert row.turns[3].assistant == "York, lovely."
    assert row.turns[3].profile_context is not None
    assert "Lives in Leeds" in row.turns[3].profile_context


def test_the_command_reports_differences(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_replay([folder], settings=Settings.model_construct()) == 0
    assert "1 of 1 scenarios hold" in capsys.readouterr().out
    spoil(folder)
    assert run_replay([folder], settings=Settings.model_construct()) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "1 of 2 scenarios hold; 9 of 10 turns without a difference." in said
    assert "'sister' + 'Sam'" in said
    assert "at the end: no live memory has 'unicorn'" in said


def test_the_json_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(folder)
    code = run_replay([folder], ReplayOutput(as_json=True), settings=Settings.model_construct())
    assert code == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["scenario"] for row in rows] == ["good"] * 6 + ["spoilt"] * 6
    assert list(rows[5])[:3] == ["scenario", "live", "mismatches"]
    assert rows[5]["format"] == "bmo-replay/1"
    assert rows[5]["mismatches"] == []
    assert rows[11]["mismatches"] == ["no live memory has 'unicorn'"]
    assert rows[0]["profile"] == []
    assert rows[1]["profile"] is None
    assert rows[4]["recall"]["triggered"] is True
    assert rows[4]["session"] == 1
    assert all(row["hook_ms"] > 0 for row in rows if "hook_ms" in row)


def test_a_file_that_cannot_be_used_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.turns.yaml").write_text("id: broken\n", encoding="utf-8")
    assert run_replay([folder], settings=Settings.model_construct()) == 2
    assert "broken.turns.yaml, line 1: user is missing." in capsys.readouterr().err


def run_pytest(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rxX", *more, str(folder)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_pytest_plugin(folder: Path) -> None:
    spoil(folder)
    done = run_pytest(folder)
    assert done.returncode == 1
    assert "spoilt differs:" in done.stdout
    assert "scenarios: 1 of 2 hold" in done.stdout


def test_the_plugin_can_be_switched_off(folder: Path) -> None:
    spoil(folder)
    assert "no tests" in run_pytest(folder, "-p", "no:bmo").stdout


def test_the_plugin_imports_nothing_of_bmo_in_other_projects(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n\ndef test_light():\n"
        "    heavy = {'livekit.agents', 'mem0', 'pydantic', 'onnxruntime', 'rich', 'yaml'}\n"
        "    assert not heavy & set(sys.modules)\n",
        encoding="utf-8",
    )
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "scenarios:" not in done.stdout
