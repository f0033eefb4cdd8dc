"""What CONTRIBUTING.md tells people to do is done here, word for word, in a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def blocks_of(title: str, language: str) -> list[str]:
    """The blocks of a section, without their indentation."""
    section = PAGE[PAGE.index(f"## {title}") :]
    section = section[: section.find("\n## ", 1)]
    return [
        "\n".join(line[len(indent) :] for line in body.splitlines()) + "\n"
        for indent, found, body in BLOCK.findall(section)
        if found == language
    ]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A tree with the package, the models linked, and the tests of the rules."""
    models = "models"
    shutil.copytree(
        ROOT / "bmo", tmp_path / "bmo", ignore=shutil.ignore_patterns("__pycache__", "*.onnx")
    )
    for file in (ROOT / "bmo" / models).rglob("*.onnx"):
        (tmp_path / file.relative_to(ROOT)).symlink_to(file)
    gate_tests = Path("tests") / "unit" / "gate"
    (tmp_path / gate_tests).mkdir(parents=True)
    shutil.copy(ROOT / gate_tests / "test_rule_packs.py", tmp_path / gate_tests)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("BMO_", "GATEKEEPER_"))}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=tree,
        env={**kept, "PYTHONPATH": str(tree), "BMO_HOME": str(tree / "home"),
             "GATEKEEPER_MODE": "pattern"},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )  # fmt: skip


def test_a_slot_is_added_as_written(copied: Path) -> None:
    rule, lexicon = blocks_of("Add a slot in ten minutes", "toml")
    packs = copied / "bmo" / "gate" / "packs" / "en"
    before = run(copied, "bmo", "gate", "i bat left handed")
    assert before.stdout.startswith("hold"), before.stdout + before.stderr
    with (packs / "body.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{rule}")
    lexicons = packs / "lexicons.toml"
    lexicons.write_text(lexicon + lexicons.read_text(encoding="utf-8"), encoding="utf-8")
    after = run(copied, "bmo", "gate", "i bat left handed")
    assert "+ Bats left handed" in after.stdout, after.stdout + after.stderr
    assert "batting_hand" in after.stdout
    tested = run(
        copied, "pytest", "tests/unit/gate/test_rule_packs.py", "-q", "-p", "no:cacheprovider",
        "-k", "batting_hand or body",
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout[-2000:]


def test_a_language_is_added_as_written(copied: Path) -> None:
    title = "Add a language in ten minutes"
    (change,) = blocks_of(title, "diff")
    old, new = (line[1:] for line in change.splitlines())
    code = copied / "bmo" / "language" / "lexicon.py"
    text = code.read_text(encoding="utf-8")
    assert text.count(f"{old}\n") == 1
    code.write_text(text.replace(old, new), encoding="utf-8")
    (words,) = blocks_of(title, "toml")
    data = copied / "bmo" / "language" / "data"
    function_words = data / "function_words.toml"
    before, _, others = function_words.read_text(encoding="utf-8").partition("others = ")
    its = set(tomllib.loads(words)["it"].split())
    kept = " ".join(word for word in tomllib.loads(f"a = {others}")["a"].split() if word not in its)
    function_words.write_text(f'{before}{words}others = "{kept}"\n', encoding="utf-8")
    packs = copied / "bmo" / "gate" / "packs" / "it"
    packs.mkdir()
    for file in sorted((ROOT / "examples" / "language_it").glob("*.toml")):
        shutil.copy(file, data / "it.toml" if file.name == "surface.toml" else packs)
    told = run(copied, "bmo", "gate", "--language", "it", "abito a torino")
    assert "+ Lives in Torino" in told.stdout, told.stdout + told.stderr
    heard = run(copied, "bmo", "gate", "io abito a torino")
    assert "+ Lives in Torino" in heard.stdout, heard.stdout + heard.stderr
    asked = run(copied, "bmo", "gate", "--language", "it", "dove abito")
    assert asked.stdout.startswith("discard"), asked.stdout
    tested = run(
        copied, "pytest", "tests/unit/gate/test_rule_packs.py", "-q", "-p", "no:cacheprovider",
        "-k", "it_lives_in",
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout[-2000:]


def test_an_example_that_is_not_stored_as_written_is_found(copied: Path) -> None:
    rule, lexicon = blocks_of("Add a slot in ten minutes", "toml")
    packs = copied / "bmo" / "gate" / "packs" / "en"
    wrong = rule.replace('"Bats left handed"]', '"Bats with his left"]')
    assert wrong != rule
    with (packs / "body.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{wrong}")
    lexicons = packs / "lexicons.toml"
    lexicons.write_text(lexicon + lexicons.read_text(encoding="utf-8"), encoding="utf-8")
    tested = run(
        copied, "pytest", "tests/unit/gate/test_rule_packs.py", "-q", "-p", "no:cacheprovider",
        "-k", "batting_hand",
    )  # fmt: skip
    assert tested.returncode == 1, tested.stdout[-2000:]
    assert "Bats with his left" in tested.stdout
