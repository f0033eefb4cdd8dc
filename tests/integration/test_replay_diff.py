"""``bmo replay --baseline``, ``--report`` and the workflow in the docs, as people run them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli import Ran, bmo
from tests.unit.test_docs import BLOCK

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]

TALK = """\
id: {id}
user: glenn
sessions:
  - at: 2026-03-01T09:00:00Z
    turns:
      - user: "i live in leeds"
        assistant: "Leeds, nice."
        verdict: allow
        facts:
          - {{category: personal_facts, contains: [Leeds]}}
      - user: "my card number is 4012 8888 8888 1881"
        assistant: "4012 8888 8888 1881 is a card number, I keep none."
        verdict: discard
      - user: "where do i live"
        assistant: "In Leeds."
        verdict: hold
        recall: true
        injects: [[Leeds]]
"""

NO_LEEDS = """\
skip_patterns:
  - {pattern: "leeds", reason: not_leeds}
"""


def talks_in(folder: Path) -> Path:
    talks = folder / "conversations"
    talks.mkdir()
    (talks / "move.turns.yaml").write_text(TALK.format(id="move"), encoding="utf-8")
    return talks


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    return talks_in(tmp_path)


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the talks come to before anything is changed."""
    folder = tmp_path_factory.mktemp("recorded")
    ran = bmo(folder / "home", "replay", str(talks_in(folder)), "--json")
    assert ran.code == 0, ran.err
    file = folder / "old.json"
    file.write_text(ran.out, encoding="utf-8")
    return file


def compared(tmp_path: Path, *arguments: str | Path, rules: str = "") -> Ran:
    return bmo(
        tmp_path / "home",
        "replay",
        *map(str, arguments),
        GATEKEEPER_CUSTOM_RULES_PATH=rules,
    )


def no_leeds(tmp_path: Path) -> str:
    """Rules under which nothing about Leeds is stored."""
    file = tmp_path / "rules.yaml"
    file.write_text(NO_LEEDS, encoding="utf-8")
    return str(file)


def test_nothing_changed(tmp_path: Path, talks: Path, recording: Path) -> None:
    ran = compared(tmp_path, talks, "--baseline", recording, "--fail-on", "any")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("replay diff: 1 scenarios, 3 turns: no change in behaviour; hook p95")


def test_a_rule_that_loses_a_memory(tmp_path: Path, talks: Path, recording: Path) -> None:
    page, text = tmp_path / "out.html", tmp_path / "diff.md"
    ran = compared(
        tmp_path, talks, "--baseline", recording, "--fail-on", "stored-,recall",
        "--markdown", text, "--report", page, rules=no_leeds(tmp_path),
    )  # fmt: skip
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "Stored: -1"
    assert "Lives in Leeds [personal_facts]" in ran.out
    assert "not_leeds" in ran.out
    assert "Lives in Leeds [personal_facts] (now discard (not_leeds))" in ran.out
    assert lines[-1].endswith("FAILED on stored- (1), recall (1)")
    assert lines[-1] in text.read_text(encoding="utf-8")
    drawn = page.read_text(encoding="utf-8")
    assert "replay diff: 1 scenarios" in drawn
    for written in (drawn, text.read_text(encoding="utf-8"), ran.out):
        assert "8888 1881" not in written


def test_the_json_ends_with_the_diff_and_is_a_baseline_again(
    tmp_path: Path, talks: Path, recording: Path
) -> None:
    ran = compared(tmp_path, talks, "--baseline", recording, "--json", rules=no_leeds(tmp_path))
    assert ran.code == 0
    diff = ran.rows[-1]["diff"]
    assert diff["counts"]["stored"] == {"+": 0, "-": 1, "~": 0}
    assert {change["kind"] for change in diff["changes"]} >= {"stored", "verdict", "recall", "live"}
    again = tmp_path / "new.json"
    again.write_text(ran.out, encoding="utf-8")
    back = compared(tmp_path, recording, "--baseline", again, "--fail-on", "stored+")
    assert back.code == 1
    assert back.out.startswith("Stored: +1")


def test_scenarios_of_one_side_are_named(tmp_path: Path, talks: Path, recording: Path) -> None:
    (talks / "move.turns.yaml").rename(tmp_path / "gone.yaml")
    (talks / "new.turns.yaml").write_text(TALK.format(id="new"), encoding="utf-8")
    ran = compared(tmp_path, talks, "--baseline", recording, "--fail-on", "any")
    assert ran.code == 0
    assert "+ new [new]" in ran.out
    assert "- move [move]" in ran.out
    strict = compared(tmp_path, talks, "--baseline", recording, "--fail-on", "scenario")
    assert strict.code == 1


def test_a_page_alone_keeps_the_exit_code(tmp_path: Path, talks: Path) -> None:
    page = tmp_path / "out.html"
    assert compared(tmp_path, talks, "--report", page).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    ran = compared(tmp_path, talks, "--report", page, rules=no_leeds(tmp_path))
    assert ran.code == 1
    assert "expected personal_facts with 'Leeds'" in ran.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--baseline", "none.json"], "none.json: cannot be read: No such file or directory."),
        (["--baseline", "bad.json"], "bad.json, line 1: is no JSON; write it with"),
        (["--baseline", "bad.json", "--fail-on", "store"], "--fail-on: 'store' is no kind of"),
        (["--fail-on", "stored"], "--fail-on needs --baseline"),
        (["--markdown", "x.md"], "--markdown needs --baseline"),
        (["--report", "no/where/out.html"], "there is no folder 'no/where'; make it first."),
        (["--report", "."], ".: is a folder; name a file in it."),
    ],
)
def test_wrong_input_is_one_sentence_before_anything_is_played(
    tmp_path: Path,
    talks: Path,
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    ran = compared(tmp_path, talks, *arguments)
    assert ran.code == 2
    assert sentence in ran.sentence


def workflow() -> dict[str, str]:
    """Name -> script of the steps of the workflow in docs/replay.md."""
    page = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")
    (text,) = (found[3] for found in BLOCK.finditer(page) if found[2] == "yaml")
    steps = yaml.safe_load(text)["jobs"]["replay"]["steps"]
    return {step["name"]: step["run"] for step in steps if "run" in step}


def program(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["#!/bin/bash", *lines]) + "\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_the_workflow_of_the_docs_runs(tmp_path: Path, talks: Path) -> None:
    """Its own scripts in a real repository; only installing is left out."""
    tools = tmp_path / "tools"
    program(tools / "bmo", f'exec {sys.executable} -m bmo "$@"')
    program(tools / "pip", 'test "$1" = install')
    program(
        tools / "python",
        'test "$1 $2" = "-m venv" || exit 9',
        f'mkdir -p "$3/bin" && cp {tools}/bmo {tools}/pip "$3/bin"',
    )
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("BMO_", "GATEKEEPER_"))},
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GATEKEEPER_MODE": "pattern",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip

    author = ("-c", "user.name=a", "-c", "user.email=a@b")
    for command in (
        ("init", "-q", "-b", "main"),
        ("add", "conversations"),
        (*author, "commit", "-q", "-m", "talks"),
        ("update-ref", "refs/remotes/origin/main", "HEAD"),
    ):
        assert run("git", *command).returncode == 0
    # The change of the pull request: a rule that loses a memory.
    (tmp_path / ".env").write_text("GATEKEEPER_CUSTOM_RULES_PATH=rules.yaml\n", encoding="utf-8")
    (tmp_path / "rules.yaml").write_text(NO_LEEDS, encoding="utf-8")
    record, compare, show = workflow().values()
    done = run("bash", "-e", "-c", record)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (tmp_path / "base.json").read_text().splitlines()]
    assert rows[0]["stored"][0]["text"] == "Lives in Leeds"
    done = run("bash", "-e", "-c", compare)
    assert done.returncode == 1, done.stderr
    assert "FAILED on stored- (1), recall- (1), mismatch+" in done.stdout
    assert run("bash", "-e", "-c", show).returncode == 0
    assert "Lives in Leeds" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (tmp_path / "replay.html").exists()
