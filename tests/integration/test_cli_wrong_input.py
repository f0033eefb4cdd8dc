"""Wrong input of every kind to every command: one sentence, exit code 2 (or 1), no traceback.

The table is complete: a test walks the real command tree and asks a row of every option that takes
a value, unless any words are right for it.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from bmo.cli import app, main

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SCENARIO = str(ROOT / "tests" / "scenarios" / "family-and-pets.turns.yaml")
WORKER = {"console", "dev", "start"}
"""They hand what they do not know on to livekit."""

ANY_WORDS = {
    "--agent", "--asked", "--after", "--text", "--value", "--as", "--version",
    "--extraction-version", "--user",
}  # fmt: skip
"""Options whose every value is right: words, the name of a version that may be unknown, or an
identity."""


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


class CommandLine:
    """Runs ``main`` in this process, as ``bmo ...`` on an empty home."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Ran:
        self._monkeypatch.setattr(sys, "argv", ["bmo", *arguments])
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        shown = self._capsys.readouterr()
        code = left.value.code
        return Ran(code if isinstance(code, int) else int(code is not None), shown.out, shown.err)


@pytest.fixture
def bmo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> CommandLine:
    for name in list(os.environ):
        if name.startswith(("BMO_", "GATEKEEPER_", "MEM0_", "QDRANT_", "LIVEKIT_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("BMO_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GATEKEEPER_MODE", "pattern")
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "words.txt").write_text("only words: [", encoding="utf-8")
    (tmp_path / "lines").mkdir()
    whole = '{"id": "1", "text": "hi", "label": "discard", "source": "a"}'
    (tmp_path / "lines" / "noise.jsonl").write_text(f'{whole}\n{{"id": "2", "text": "hi"}}\n')
    (tmp_path / "music.ogg").write_bytes(b"OggS\0\2\n\0\0")
    return CommandLine(monkeypatch, capsys)


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its path."""
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from leaves(child, (*path, name))
    else:
        yield path, command


COMMANDS = dict(leaves(typer.main.get_command(app)))


def options_with_value() -> Iterator[tuple[tuple[str, ...], str]]:
    for path, command in COMMANDS.items():
        for param in command.params:
            if param.param_type_name == "option" and not param.is_flag:
                yield path, param.opts[0]


def check(ran: Ran, *, says: Sequence[str], code: int = 2) -> None:
    assert "Traceback" not in ran.err, ran.err
    assert ran.code == code, ran.err + ran.out
    lines = [line for line in ran.err.splitlines() if line.strip()]
    assert len(lines) == 1, ran.err
    assert lines[0].startswith("bmo: "), ran.err
    assert lines[0].endswith("."), ran.err
    for words in says:
        assert words in lines[0], ran.err


# (command and arguments before the wrong one, the wrong option, its value, what is said)
WRONG_VALUES: list[tuple[str, str, str, str]] = [
    ("gate", "--jsonl", "/nowhere", "'/nowhere' cannot be read"),
    ("gate", "--jsonl", "music.ogg", "'music.ogg' is no text"),
    ("gate hello", "--language", "english please", "'english please' is no language code"),
    ("gate hello", "--mode", "psychic", "'psychic' is not one of"),
    ("gate hello", "--rules", "/nowhere.yaml", "'/nowhere.yaml' does not exist"),
    ("plan", "--jsonl", "empty", "'empty' cannot be read"),
    ("plan hello", "--language", "x", "'x' is no language code"),
    (f"replay {SCENARIO}", "--baseline", "/nowhere", "/nowhere: cannot be read"),
    (f"replay {SCENARIO}", "--baseline", "words.txt", "words.txt"),
    (f"replay {SCENARIO} --baseline x", "--fail-on", "moods", "'moods' is no kind of change"),
    (f"replay {SCENARIO} --baseline x", "--markdown", "/nowhere/x.md", "/nowhere/x.md"),
    (f"replay {SCENARIO}", "--report", "/nowhere/x.html", "/nowhere/x.html"),
    ("export-turns", "--session", "zzz", "nothing was exported"),
    ("export-turns", "--last", "0", "--last '0'"),
    ("held", "--allow", "zz", "'zz'"),
    ("held", "--discard", "zz", "'zz'"),
    ("held --allow zz", "--category", "secrets", "'secrets' is not one of"),
    ("held", "--limit", "x", "--limit 'x'"),
    ("held", "--limit", "9" * 20, "--limit '999"),
    ("held", "--user", "", "user id '' is not allowed"),
    ("reprocess", "--since", "yesterday", "'yesterday' must be ISO 8601"),
    ("stats", "--days", "0", "--days '0'"),
    ("health", "--window", "1.5", "--window '1.5'"),
    ("health", "--baseline", "-1", "--baseline '-1'"),
    ("bench", "--memories", "5", "--memories '5'"),
    ("memories list", "--category", "secrets", "'secrets' is not one of"),
    ("memories list", "--visibility", "world", "'world' is not one of"),
    ("memories list", "--domain", "nope", "'nope' is unknown"),
    ("memories list", "--as-of", "tomorrow", "'tomorrow' must be ISO 8601"),
    ("memories list", "--as-of", "0001-01-01T00:00:00+14:00", "must be ISO 8601"),
    ("memories forget", "--again", "/nowhere", "'/nowhere' cannot be read"),
    ("memories edit zz --text X", "--category", "secrets", "'secrets' is not one of"),
    ("memories edit zz --text X", "--visibility", "world", "'world' is not one of"),
    ("memories pending", "--confirm", "zz", "'zz'"),
    ("memories pending", "--cancel", "zz", "'zz'"),
    ("memories import", "--from-mem0", "old", "QDRANT_URL"),
    ("memories import --from-mem0 old", "--path", "/nowhere", "/nowhere"),
    ("eval modes", "--mode", "psychic", "'psychic' is not one of"),
    ("eval modes", "--conversations", "empty", "empty: has no *.turns.yaml files"),
    ("eval scenarios", "--set", "judge", "'judge'"),
    ("eval lines", "--corpora", "empty", "noise.jsonl"),
    ("eval lines --corpora empty", "--mode", "psychic", "'psychic' is not one of"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "option", "value", "says"),
    WRONG_VALUES,
    ids=[f"{row[0].split(' /')[0]} {row[1]}={row[2]}"[:70] for row in WRONG_VALUES],
)
def test_a_wrong_value_is_named(
    bmo: CommandLine, command: str, option: str, value: str, says: str
) -> None:
    ran = bmo(*command.split(), option, value)
    # What is not there is a fault of the request or of the store: 2 or 1, as documented.
    check(ran, says=[says], code=ran.code if ran.code in (1, 2) else 2)


@pytest.mark.parametrize("options", [[], ["--user", "ana"]])
def test_a_wrong_server_is_named_and_not_the_user(
    bmo: CommandLine, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("QDRANT_URL", "qdrant.internal:6333")
    ran = bmo("stats", *options)
    check(ran, says=["QDRANT_URL='qdrant.internal:6333'", "use http://<host>:6333"])
    assert "--user" not in ran.err


def test_every_option_has_a_row() -> None:
    covered = set()
    for command, option, _, _ in WRONG_VALUES:
        words = tuple(command.split())
        path = max((p for p in COMMANDS if words[: len(p)] == p), key=len)
        covered.add((path, option))
    asked = {(path, option) for path, option in options_with_value() if option not in ANY_WORDS}
    assert asked - covered == set()
    assert covered - set(options_with_value()) == set()


@pytest.mark.parametrize("path", [p for p in COMMANDS if p[0] not in WORKER], ids=" ".join)
def test_an_unknown_option_is_named(bmo: CommandLine, path: tuple[str, ...]) -> None:
    check(bmo(*path, "--no-such-option"), says=["--no-such-option", f"bmo {' '.join(path)} --help"])


@pytest.mark.parametrize("path", [p for p in COMMANDS if p[0] not in WORKER], ids=" ".join)
def test_too_much_is_named(bmo: CommandLine, path: tuple[str, ...]) -> None:
    params = COMMANDS[path].params
    needed = [word for p in params if p.required and p.param_type_name == "option"
              for word in (p.opts[0], "empty")]  # fmt: skip
    takes_any = next((param for param in params if param.nargs == -1), None)
    if takes_any is None:
        check(bmo(*path, *needed, "a", "good", "surplus"), says=["surplus"])
    elif takes_any.required:
        check(bmo(*path), says=["missing argument"])


@pytest.mark.parametrize(("path", "option"), list(options_with_value()))
def test_an_option_without_its_value_is_named(
    bmo: CommandLine, path: tuple[str, ...], option: str
) -> None:
    check(bmo(*path, option), says=[option, f"see bmo {path[0]}"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["memoires"], "'memoires'"),
        (["memories", "lst"], "did you mean 'list'"),
        (["eval", "everything"], "'everything'"),
        (["eval", "scenarios", "/nowhere"], "/nowhere: there is no such file"),
        (["eval", "scenarios", "empty"], "empty: has no *.turns.yaml files"),
        (["gate"], "standard input is empty"),
        (["plan"], "standard input is empty"),
        (["replay"], "'paths'"),
        (["replay", "/nowhere"], "/nowhere: there is no such file"),
        (["replay", "words.txt"], "words.txt"),
        (["replay", "empty"], "empty"),
        (["replay", SCENARIO, "--fail-on", "stored"], "--baseline"),
        (["export-turns", "notes.txt"], "'notes.txt'"),
        (["export-turns", "--last", "2", "--all"], "--all"),
        (["held", "--allow", "a", "--discard", "b"], "one at a time"),
        (["held", "--as", "x"], "--allow"),
        (["feedback", "zz", "meh"], "'meh'"),
        (["feedback", "zz", "good"], "'zz'"),
        (["memories", "show", "zz"], "'zz'"),
        (["memories", "edit", "zz"], "--text"),
        (["memories", "wipe"], "--yes"),
        (["memories", "import"], "--from-mem0"),
        (["memories", "import", "words.txt"], "nothing was imported"),
        (["memories", "import", "-"], "is empty"),
        (["memories", "export", "/nowhere/x.jsonl"], "/nowhere/x.jsonl"),
        (["eval", "lines", "--corpora", "lines"], "noise.jsonl, line 2: the row has no 'label'"),
        (["replay", "h" * 300], "is too long for the name of a file"),
        (["export-turns", "h" * 300 + ".turns.yaml"], "is too long for the name of a file"),
        (["eval", "lines", "--corpora", "h" * 300], "is too long for the name of a file"),
        (["gate", "hello", "--jsonl", "words.txt"], "one at a time"),
        (["plan", " "], "the words are empty"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_what_makes_no_sense_is_one_sentence(
    bmo: CommandLine, arguments: list[str], says: str
) -> None:
    check(bmo(*arguments), says=[says])


@pytest.mark.parametrize("arguments", [[], ["memories"], ["eval"]])
def test_a_group_without_a_command_shows_its_help(bmo: CommandLine, arguments: list[str]) -> None:
    ran = bmo(*arguments)
    assert (ran.code, ran.err) == (2, "") or "Usage: bmo" in ran.err
    assert "Usage: bmo" in ran.out + ran.err


@pytest.mark.parametrize("path", [(), *COMMANDS], ids=" ".join)
@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_help_is_given(bmo: CommandLine, path: tuple[str, ...], asked: str) -> None:
    ran = bmo(*path, asked)
    assert ran.code == 0
    assert "Usage: bmo" in ran.out
    assert ran.err == ""


def test_every_command_and_option_says_what_it_does() -> None:
    silent = [" ".join(path) for path, command in COMMANDS.items() if not command.help]
    silent += [
        f"{' '.join(path)} {param.name}"
        for path, command in COMMANDS.items()
        for param in command.params
        if not getattr(param, "help", None)
    ]
    assert silent == []


def test_the_version(bmo: CommandLine) -> None:
    ran = bmo("--version")
    assert ran.code == 0
    assert ran.out.startswith("bmo 0.")


@pytest.mark.parametrize("name", ["BMO_LEDGER_URL", "QDRANT_URL", "LIVEKIT_URL"])
@pytest.mark.parametrize("url", ["bmo:s3cr@t/pw@db", "ftp://bmo:s3cr@t/pw@db:port/x"])
def test_no_password_of_a_wrong_url_is_shown(
    bmo: CommandLine, monkeypatch: pytest.MonkeyPatch, name: str, url: str
) -> None:
    monkeypatch.setenv(name, url)
    ran = bmo("memories", "list")
    check(ran, says=[f"{name}='", "...@db"])
    assert "s3cr" not in ran.err and "t/pw" not in ran.err


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("BMO_USER_ID", " ", "it is empty"),
        ("BMO_HOME", "  ", "it is empty: name a folder"),
        ("BMO_HOME", __file__, "is a file: name a folder"),
        ("BMO_HOME", f"{__file__}/below", "is a file: name a folder"),
    ],
)
def test_a_setting_that_nobody_can_have(
    bmo: CommandLine, monkeypatch: pytest.MonkeyPatch, name: str, value: str, says: str
) -> None:
    monkeypatch.setenv(name, value)
    check(bmo("memories", "list"), says=[name, says])


def test_a_blank_user_and_a_home_that_cannot_be_made_are_wrong_values(
    bmo: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = bmo("memories", "list", "--user", "   ")
    assert blank.code == 2
    assert "name somebody" in blank.err
    monkeypatch.setenv("BMO_HOME", "/proc/nope")
    nowhere = bmo("memories", "list")
    assert nowhere.code == 2
    assert "BMO_HOME='/proc/nope' cannot be written" in nowhere.err
