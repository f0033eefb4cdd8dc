"""What CONTRIBUTING.md tells people to do is done here, word for word, in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from training import data

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def block_of(title: str, language: str) -> str:
    """The only block of a language in a section, without its indentation."""
    section = PAGE[PAGE.index(f"## {title}") :]
    section = section[: section.find("\n## ", 1)]
    (block,) = (
        "\n".join(line[len(indent) :] for line in body.splitlines()) + "\n"
        for indent, found, body in BLOCK.findall(section)
        if found == language
    )
    return block


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A tree with the package without its models, and the test of the slot table."""
    shutil.copytree(
        ROOT / "bmo", tmp_path / "bmo", ignore=shutil.ignore_patterns("__pycache__", "*.onnx")
    )
    gate_tests = Path("tests") / "unit" / "gate"
    (tmp_path / gate_tests).mkdir(parents=True)
    shutil.copy(ROOT / gate_tests / "test_rules.py", tmp_path / gate_tests)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BMO_", "GATEKEEPER_"))}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=tree,
        env={**kept, "PYTHONPATH": str(tree), "BMO_HOME": str(tree / "home")},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def test_a_slot_is_added_as_written(copied: Path) -> None:
    slot = block_of("Add a slot in ten minutes", "toml")
    table = copied / "bmo" / "gate" / "tables" / "slots.toml"
    gate = ("bmo", "gate", "--mode", "pattern", "i take a size 44 shoe")
    check = ("pytest", "tests/unit/gate/test_rules.py", "-q", "-n", "0", "-k", "slot")
    before = run(copied, *gate)
    assert before.stdout.startswith("hold"), before.stdout + before.stderr

    shipped = table.read_text(encoding="utf-8")
    table.write_text(f"{shipped}\n{slot}", encoding="utf-8")
    after = run(copied, *gate)
    assert "+ Wears shoes of size 44" in after.stdout, after.stdout + after.stderr
    tested = run(copied, *check)
    assert tested.returncode == 0, tested.stdout[-2000:]

    wrong = slot.replace('"Wears shoes of size 38"]', '"Has small feet"]')
    assert wrong != slot
    table.write_text(f"{shipped}\n{wrong}", encoding="utf-8")
    refused = run(copied, *check)
    assert refused.returncode == 1, refused.stdout[-2000:]
    assert "Has small feet" in refused.stdout


def test_a_training_conversation_is_read_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.jsonl").write_text(block_of("Mend a wrong answer", "jsonl"), encoding="utf-8")
    for name in ("DATA", "PAIRS", "RELATIONS", "ATTACKS"):
        monkeypatch.setattr(data, name, tmp_path / ("" if name == "DATA" else name.lower()))
    turns, pairs = data.read_data()
    assert [turn.asked for turn in turns[:2]] == ["", "A deckhand?"]
    assert [turn.recall for turn in turns] == [False, False, False, False, True]
    ended = {p.memory for p in pairs if p.relation == data.RELATION_NAMES.index("ends")}
    assert ended == {"im on the ferries, nights mostly", "aye since march"}
    answers = [pair.memory for pair in pairs if pair.answers]
    assert answers == ["handed my lifejacket back on friday"]
