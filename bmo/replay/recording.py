"""A replay written down as rows (``rows.py``), and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from bmo.replay.rows import (
    FORMAT,
    FORMAT_NAME,
    FORMAT_VERSION,
    RecordedScenario,
    Row,
    ScenarioRow,
    TurnRow,
)
from bmo.replay.scenario import ScenarioError

SUFFIXES = (".json", ".jsonl")
"""What the name of a recording ends with."""

MAX_FILE_BYTES = 256 << 20
"""Some 50,000 turns: a recording is read as a whole."""

_RowT = TypeVar("_RowT", bound=Row)


class RecordingError(ScenarioError):
    """A recording cannot be used; the message is one sentence that names the fix."""


def json_lines(scenario: RecordedScenario) -> Iterator[str]:
    """The rows of a scenario, one JSON object a line: its turns, then the closing row."""
    for row in (*scenario.turns, scenario.end):
        yield json.dumps(row.model_dump(mode="json"), ensure_ascii=False)


def load_recording(path: Path) -> list[RecordedScenario]:
    """Reads what ``bmo replay --json`` wrote.

    Raises:
        RecordingError: It cannot be read, is no recording, is cut off or of a later version.
    """
    turns: list[TurnRow] = []
    done: dict[str, RecordedScenario] = {}
    for number, data in _objects(path):
        if "diff" in data and "scenario" not in data:
            continue  # ``--json --baseline`` ends with it
        if "turn" in data:
            turns.append(_checked(TurnRow, data, path, number))
            continue
        end = _checked(ScenarioRow, data, path, number)
        _check_version(end, path, number)
        if end.scenario in done:
            raise RecordingError(
                f"{path}, line {number}: scenario {end.scenario!r} is there twice; "
                "keep one recording a file."
            )
        strangers = [turn.scenario for turn in turns if turn.scenario != end.scenario]
        if strangers:
            raise RecordingError(_cut_off(path, strangers[0]))
        done[end.scenario] = RecordedScenario(tuple(turns), end)
        turns = []
    if turns:
        raise RecordingError(_cut_off(path, turns[0].scenario))
    if not done:
        raise RecordingError(f"{path}: has no scenarios; write it with bmo replay PATHS --json.")
    return list(done.values())


def _objects(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    """Line number and JSON object of every line that is not empty."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise RecordingError(f"{path}: is larger than {MAX_FILE_BYTES >> 20} MiB: split it.")
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}.") from None
    # PowerShell's ">" writes UTF-16 with a mark at the start.
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise RecordingError(f"{path}: cannot be read: is not UTF-8.") from None
    # Not splitlines(): words may hold U+2028, which is no line end in JSON lines.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            raise RecordingError(
                f"{path}, line {number}: is no JSON; write it with bmo replay PATHS --json."
            ) from None
        if not isinstance(data, dict):
            raise RecordingError(f"{path}, line {number}: {_not_a_row()}")
        yield number, data


def _checked(kind: type[_RowT], data: dict[str, Any], path: Path, number: int) -> _RowT:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        said = "is missing" if first["type"] == "missing" else f"is {first['input']!r:.60}"
        raise RecordingError(f"{path}, line {number}: {_not_a_row(f'{field} {said}')}") from None


def _check_version(end: ScenarioRow, path: Path, number: int) -> None:
    name, _, version = end.format.rpartition("/")
    if name != FORMAT_NAME or not version.isdecimal():
        raise RecordingError(f"{path}, line {number}: {_not_a_row(f'format {end.format!r}')}")
    if int(version) > FORMAT_VERSION:
        raise RecordingError(
            f"{path}, line {number}: is written as {end.format}, this BMO reads up to {FORMAT}; "
            "upgrade bmo-voice or make the recording anew."
        )


def _not_a_row(why: str = "") -> str:
    found = f" ({why})" if why else ""
    return f"is no row of a recording{found}; write one with bmo replay PATHS --json."


def _cut_off(path: Path, scenario: str) -> str:
    return (
        f"{path}: is cut off inside scenario {scenario!r}; "
        "write it anew with bmo replay PATHS --json."
    )
