"""Every code block of README and docs is run or checked, every command in them exists.

A block's first word is its language. ``python run`` blocks are run in a process of their own, on
an empty home without keys; other Python is compiled and its imports from bmo are looked up.
Commands in ``bash`` and ``console`` blocks, and ``bmo ...`` in inline code, must exist with the
options they are given.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from bmo.cli import app
from bmo.cli.tables import fact_row
from bmo.settings import Settings
from tests.deadlines import deadline

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *(ROOT / "docs").glob("*.md"),
    ]
)
PAGES = [page for page in PAGES if page.exists()]
LANGUAGES = {
    "bash", "console", "python", "json", "jsonl", "yaml", "toml", "text", "diff", "", "markdown",
}  # fmt: skip
PROGRAMS = {
    "pip", "git", "cd", "cp", "export", "docker", "brew", "apt", "chmod", "pytest", "ollama",
    "ruff", "mypy", "lk", "source", "pg_dump", "time",
}  # fmt: skip
"""Programs of others that a page may name; a new one is added here on purpose."""

BLOCK = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```\s*$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`((?:bmo|make|python) [^`]+)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
VARIABLE = re.compile(r"\b((?:BMO|GATEKEEPER|MEM0|QDRANT|LIVEKIT)_[A-Z0-9_]+)\b")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    flags: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks() -> Iterator[Block]:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            words = found[2].split()
            indent = len(found[1])
            body = "\n".join(line[indent:] for line in found[3].splitlines())
            yield Block(
                page.name,
                text.count("\n", 0, found.start()) + 1,
                words[0] if words else "",
                tuple(words[1:]),
                body,
            )


def commands(block: Block) -> Iterator[str]:
    """The commands of a shell block; in ``console`` those behind a prompt."""
    text = block.text.replace("\\\n", " ")
    for line in text.splitlines():
        if block.language == "console":
            if line.startswith("$ "):
                yield line[2:]
        elif line.strip() and not line.lstrip().startswith("#"):
            yield line


ALL = list(blocks())
SHELL = [b for b in ALL if b.language in ("bash", "console")]
PYTHON = [b for b in ALL if b.language == "python"]
ROOT_COMMAND: Any = typer.main.get_command(app)


def problem_with(line: str) -> str:
    """What is wrong with a command line of a page, or ""."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        return f"not a command line: {error}"
    if "|" in words:
        left, right = words[: words.index("|")], words[words.index("|") + 1 :]
        return problem_with(shlex.join(left)) or problem_with(shlex.join(right))
    while words and re.fullmatch(r"[A-Z_][A-Z0-9_]*=.*", words[0]):
        words.pop(0)
    if not words:
        return ""
    program, *rest = words
    if program == "bmo":
        return problem_with_bmo(rest)
    if program == "make":
        return problem_with_make(rest)
    if program.endswith(("python", "python3")):
        return problem_with_python(rest)
    if program == "docker":
        return problem_with_docker(rest)
    return "" if program.rpartition("/")[2] in PROGRAMS else f"unknown program {program!r}"


def problem_with_bmo(words: list[str]) -> str:
    command = ROOT_COMMAND
    while words and not words[0].startswith("-") and hasattr(command, "commands"):
        name = words.pop(0)
        if name not in command.commands:
            return f"there is no command {name!r} in {command.name!r}"
        command = command.commands[name]
    known = {option: param for param in command.params for option in param.opts}
    known["--help"] = None
    for word in words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--?[a-z][a-z0-9-]*", option) and option not in known:
            return f"bmo {command.name} has no option {option!r}"
    return ""


def problem_with_make(words: list[str]) -> str:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][\w-]*):", makefile, re.MULTILINE))
    wrong = [word for word in words if "=" not in word and word not in targets]
    return f"the Makefile has no target {wrong[0]!r}" if wrong else ""


def problem_with_python(words: list[str]) -> str:
    if words[:1] == ["-m"] and len(words) > 1:
        if words[1] in ("venv", "pip"):
            return ""
        try:
            found = importlib.util.find_spec(words[1])
        except ModuleNotFoundError:
            found = None
        if found is not None and found.submodule_search_locations is not None:
            found = importlib.util.find_spec(f"{words[1]}.__main__")
        return "" if found is not None else f"there is no module {words[1]!r} to run"
    if words and not words[0].startswith("-") and not (ROOT / words[0]).exists():
        return f"there is no file {words[0]!r}"
    return ""


def problem_with_docker(words: list[str]) -> str:
    files = [words[place + 1] for place, word in enumerate(words) if word == "-f"]
    wrong = [file for file in files if not (ROOT / file).exists()]
    return f"there is no file {wrong[0]!r}" if wrong else ""


def anchors(page: Path) -> set[str]:
    """The anchors a page's headings get."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_there_is_something_to_check() -> None:
    assert {"README.md", "operating.md", "commands.md", "concepts.md"} <= {p.name for p in PAGES}
    assert len(SHELL) >= 5


@pytest.mark.parametrize("block", ALL, ids=str)
def test_a_block_has_a_known_language_and_parses(block: Block) -> None:
    assert block.language in LANGUAGES
    if block.language == "json":
        json.loads(block.text)
    elif block.language == "jsonl":
        assert [json.loads(line) for line in block.text.splitlines()]
    elif block.language == "yaml":
        assert yaml.safe_load(block.text) is not None
    elif block.language == "toml":
        assert tomllib.loads(block.text)


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_commands_of_a_block_exist(block: Block) -> None:
    given = list(commands(block))
    assert given, "a shell block without a command: is its language right?"
    assert [f"{line}: {wrong}" for line in given if (wrong := problem_with(line))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_text_exist(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    # In prose an option may stand for several: "bmo console|dev|start", "[--json]".
    given = [
        re.split(r"[|\[]", found)[0].replace("...", "").strip() for found in INLINE.findall(text)
    ]
    assert [f"{line}: {wrong}" for line in given if (wrong := problem_with(line))] == []


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_compiles_and_its_imports_exist(block: Block) -> None:
    # Top-level await is how a page shows a coroutine's use.
    tree = compile(
        block.text, str(block), "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bmo":
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                assert hasattr(module, alias.name) or importlib.util.find_spec(
                    f"{node.module}.{alias.name}"
                ), f"{node.module} has no {alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                assert importlib.util.find_spec(alias.name), alias.name


@pytest.mark.parametrize("block", [b for b in PYTHON if "run" in b.flags], ids=str)
def test_python_marked_run_runs_offline(block: Block, tmp_path: Path) -> None:
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("BMO_", "GATEKEEPER_", "MEM0_", "QDRANT_", "LIVEKIT_", "GOOGLE_"))
    }
    done = subprocess.run(
        [sys.executable, "-c", block.text],
        cwd=tmp_path,
        env={
            **environment,
            **deadline(),
            "PYTHONPATH": str(ROOT),
            "BMO_HOME": str(tmp_path / "home"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_local_links_resolve(page: Path) -> None:
    broken = []
    for target in LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_variables_are_settings(page: Path) -> None:
    known = {name.upper() for name in Settings.model_fields} | {
        # Of the tests, not of BMO.
        "BMO_TEST_POSTGRES",
        "BMO_TEST_QDRANT_URL",
        "BMO_TEST_QDRANT_API_KEY",
        "BMO_TEST_GEMINI",
        "BMO_TEST_CHROMIUM",
        "BMO_TEST_VOICE",
        "BMO_TEST_KILLS",
        # Of livekit-agents.
        "LIVEKIT_TELEMETRY_ALLOW_PII",
        # Of what would send something by itself.
        "MEM0_TELEMETRY",
        "QDRANT__TELEMETRY_DISABLED",
    }
    named = set(VARIABLE.findall(page.read_text(encoding="utf-8")))
    wildcards = {name for name in named if name.endswith("_")}  # "GATEKEEPER_*"
    assert named - known - wildcards == set()


@pytest.mark.parametrize("name", ["README.md", "docs/operating.md"])
def test_shown_defaults_are_the_codes(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Z][A-Z0-9_]+)`[^|]*\| ([^|]*) \|", text, re.MULTILINE)
    assert rows
    for variable, shown in rows:
        default = Settings.model_fields[variable.lower()].default
        if shown.startswith("`"):
            assert shown.strip("`") == str(default), variable
        elif re.fullmatch(r"[\d.]+", shown):
            assert float(shown) == default, variable
        elif not shown.strip():
            assert default is None, variable


def test_the_readme_names_the_page_with_every_setting() -> None:
    # The table shows what people change; .env.example has all (tests/unit/test_settings.py).
    assert "(.env.example)" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_names_every_page() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {f"(docs/{page.name})" for page in (ROOT / "docs").glob("*.md")}
    assert {page for page in pages if page not in text} == set()


def test_every_command_is_described() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`bmo ([a-z-]+)", text)) | set(re.findall(r", `([a-z-]+)", text))
    missing = set(ROOT_COMMAND.commands) - described
    missing |= {
        f"{group} {name}"
        for group in ("memories", "eval")
        for name in ROOT_COMMAND.commands[group].commands
        if not re.search(rf"`(bmo {group} )?{name}\b", text)
    }
    assert missing == set()


def test_the_documented_memory_has_the_keys_of_the_code() -> None:
    from datetime import UTC, datetime

    from bmo.turn import StoredFact

    shown = next(b for b in ALL if b.page == "commands.md" and b.language == "json")
    fact = StoredFact(
        "1", "local", "user", "lives_in", "Leeds", "Lives in Leeds", "personal_facts", "fact",
        "one", "positive", 0.9, datetime(2026, 3, 1, tzinfo=UTC),
    )  # fmt: skip
    assert list(json.loads(shown.text)) == list(fact_row(fact))


@pytest.mark.parametrize(
    "wrong",
    [
        "bmo memoires list",
        "bmo memories lst",
        "bmo memories list --jsn",
        "make nonsense",
        "python -m bmo_nowhere",
        "python -m bmo.gate",
        "docker compose -f nowhere.yml up",
        "rm -rf /",
    ],
)
def test_the_check_itself_finds_what_is_wrong(wrong: str) -> None:
    assert problem_with(wrong)


def test_the_public_names_are_documented_and_exist() -> None:
    import bmo

    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)", text, re.MULTILINE)) == set(bmo.__all__)
    for name in bmo.__all__:
        assert getattr(bmo, name).__name__ == name
    assert set(bmo.__all__) <= set(dir(bmo))
