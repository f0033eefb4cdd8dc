"""Every command that README, CONTRIBUTING and docs show is run as it stands there.

Each runs in a folder like the repository's (a conversation instead of all), with a home of its own
in which two people have been: in a shell, and in this process where it is ``bmo`` and words
alone. What is not run is named here, with the reason.
"""

from __future__ import annotations

import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bmo.cli.opening import opened_ledger
from bmo.settings import load_settings
from tests.cli import ROOT, Ran, bmo, environment
from tests.homes import copy_home
from tests.seeding import brother, held, remember
from tests.unit.test_docs import ALL, SHELL, Block, commands

pytestmark = pytest.mark.integration

CONVERSATIONS = {"scenarios": "secrets-and-plants", "held_out": "please-forget-that"}
"""Folder -> the one there; nobody reads those that are held out."""

SHOWN_ID = "1f3a9c20"
"""The id the pages show; the run puts a real one in its place."""

NOT_RUN = {
    r"^make (talk|test|check)\b": "installs; tests/integration/test_chat_session.py talks",
    r"\bpip install\b": "installs packages",
    r"\bdocker\b|127\.0\.0\.1:6333|\.internal\b": "server; tests/integration/test_index_server.py",
    r"\bbmo (start|dev|console)\b": "needs a LiveKit server; tests/integration/test_worker.py",
    r"GOOGLE_API_KEY|--ask-model|ollama/|--settle": "model; tests/integration/test_settling.py",
    r"\bbmo bench\b": "minutes; tests/integration/test_cli_bench.py",
    r"\bpython -m benchmarks\.": "minutes; run by hand, see docs/measuring.md",
    r"--corpora FOLDER": "lines by others are not part of the project",
    r"\bmake models\b|\bpython -m training\.": "long, and it writes models: training/README.md",
    r"\btest_qdrant_contract": "needs a Qdrant server of the reader's",
    r"\bBMO_TEST_KILLS=": "minutes; tests/integration/test_crash_recovery.py kills 12 times",
    r"\bBMO_TEST_VOICE=1\b": "needs flite; tests/voice runs where it is there",
    r"\bOTEL_": "needs a receiver; tests/integration/test_agent_telemetry.py",
    r"tests\.readme_session": "it writes README.md; tests/integration/test_readme_session.py",
    r"size 44 shoe|pytest tests/unit/gate": "on a copy; tests/integration/test_contributing.py",
}  # fmt: skip

MAY_DIFFER = re.compile(r"\bbmo (replay|health)\b")
"""Exit code 1 is an answer of these: a mismatch, an alert."""


def reason_not_to_run(line: str) -> str:
    return next((why for what, why in NOT_RUN.items() if re.search(what, line)), "")


def to_run() -> Iterator[tuple[Block, list[str]]]:
    seen: set[str] = set()
    for block in SHELL:
        lines = [line for line in commands(block) if not reason_not_to_run(line)]
        # A block is run from its first line on: a later one may read an earlier one's file.
        if set(lines) - seen:
            seen |= set(lines)
            yield block, lines


BLOCKS = list(to_run())


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home: Path = tmp_path_factory.mktemp("seeded") / "home"
    remember(
        home,
        [
            brother(),
            brother("Devon", "ana"),
            held("biscotti is maybe our cat now"),
        ],
    )
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the pages' paths are right, and a ``bmo`` to run."""
    scenarios = ROOT / "tests" / "scenarios"
    for place, name in CONVERSATIONS.items():
        (tmp_path / "tests" / place).mkdir(parents=True)
        shutil.copy(scenarios / f"{name}.turns.yaml", tmp_path / "tests" / place)
    shutil.copy(scenarios / "recorded_answers.jsonl", tmp_path / "tests" / "scenarios")
    program = tmp_path / "bin" / "bmo"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bmo "$@"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def with_real_id(line: str, home: Path) -> str:
    if SHOWN_ID not in line:
        return line
    user = "ana" if "--user ana" in line else "local"
    with opened_ledger(load_settings(bmo_home=home)) as ledger:
        if "bmo held" in line:
            real = ledger.held(user)[0].id
        else:
            real = ledger.live_facts(user)[0].id
    return line.replace(SHOWN_ID, real[:8])


GATED = {"GATEKEEPER_MODE": "local"}
SHELLS = re.compile(r"[|<>&;*$`(]|^(?!bmo )")
"""What only a shell understands."""


def typed(line: str, folder: Path, home: Path) -> Ran:
    """Runs a command line as somebody types it in this folder."""
    if not SHELLS.search(line):
        return bmo(home, *shlex.split(line, comments=True)[1:], **GATED)
    known = environment(home, 60, GATED)
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**known, "PATH": f"{folder / 'bin'}:{known['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(("block", "lines"), BLOCKS, ids=[str(block) for block, _ in BLOCKS])
def test_the_commands_of_a_block_run(
    block: Block, lines: list[str], folder: Path, seeded: Path
) -> None:
    for line in lines:
        home = folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        copy_home(seeded, home)
        done = typed(with_real_id(line, home), folder, home)
        assert "Traceback" not in done.err, f"{line}\n{done.err}"
        allowed = (0, 1) if MAY_DIFFER.search(line) else (0,)
        assert done.code in allowed, f"{line}\n{done.err}\n{done.out[-500:]}"
        assert not done.err.startswith("bmo: "), f"{line}\n{done.err}"


def test_every_reason_is_needed_and_names_a_file_that_is_there() -> None:
    lines = [line for block in SHELL for line in commands(block)]
    for what, why in NOT_RUN.items():
        assert any(re.search(what, line) for line in lines), f"no page shows {what!r} any more"
        for file in re.findall(r"(?:tests|docs)/[\w/]+\.(?:py|md)", why):
            assert (ROOT / file).exists(), file


def test_most_commands_are_run() -> None:
    given = {line for block in SHELL for line in commands(block)}
    run = {line for _, lines in BLOCKS for line in lines}
    assert len(run) >= 25
    assert {line for line in given - run if not reason_not_to_run(line)} == set()


def test_the_readmes_five_lines_are_those_of_the_example() -> None:
    """The example runs in test_agent_example.py; the page shows the same lines."""

    def bare(text: str) -> set[str]:
        return {line for raw in text.splitlines() if (line := raw.partition("  #")[0].strip())}

    (shown,) = [b.text for b in ALL if b.page == "README.md" and b.language == "python"]
    example = (ROOT / "examples" / "existing_agent.py").read_text(encoding="utf-8")
    # The example names the session's type, for mypy.
    assert bare(shown) - bare(example.replace(": AgentSession[None]", "")) == set()
