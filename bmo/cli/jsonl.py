"""JSON lines in and out of commands: tolerant of bad bytes, strict about form."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from bmo.cli.errors import CommandError
from bmo.settings import checked_user_id
from bmo.turn import Turn, utc_now

LONGEST_LINE = 1 << 20
"""Most bytes of a line."""


class BadLine(ValueError):
    """A line is not what is expected; the message names line and fix."""


def read_lines(source: str) -> Iterator[tuple[int, str]]:
    """Yields (number, line) of a file, or of standard input for "-"; bad UTF-8 is replaced.

    Raises:
        CommandError: The file cannot be read, or a line is too long.
    """
    if source == "-":
        stream = sys.stdin.buffer
    else:
        try:
            stream = Path(source).open("rb")
        except OSError as error:
            raise CommandError(f"{source!r} cannot be read: {error.strerror}.") from None
    try:
        for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), 1):
            if len(raw) > LONGEST_LINE:
                raise CommandError(
                    f"line {number} of {source!r} is longer than {LONGEST_LINE >> 20} MiB: "
                    "one JSON object stands on a line."
                )
            line = raw.decode("utf-8", errors="replace").strip()
            if line:
                yield number, line
    except OSError as error:
        raise CommandError(f"{source!r} cannot be read: {error.strerror}.") from None
    finally:
        if source != "-":
            stream.close()


def parse_turn(number: int, line: str) -> tuple[Any, Turn]:
    """Reads ``{"id","text","assistant_before"?,"at"?,"user_id"?}``.

    Returns:
        The row's id and its turn.

    Raises:
        BadLine: Not a JSON object with a text, or a field has the wrong form.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # also a number of thousands of digits
        raise BadLine(f"line {number} is not JSON: {line[:60]!r}") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise BadLine(f"line {number} needs a JSON object with a string in 'text': {line[:60]!r}")
    texts = {}
    for name in ("assistant_before", "assistant_after"):
        value = row.get(name)
        if value is not None and not isinstance(value, str):
            raise BadLine(f"line {number}: {name}={value!r} must be a string")
        texts[name] = value or ""
    language = row.get("language")
    if language is not None and not isinstance(language, str):
        raise BadLine(f"line {number}: language={language!r} must be a string such as 'en'")
    try:
        user_id = checked_user_id(str(row.get("user_id") or "local"))
    except ValueError as error:
        raise BadLine(f"line {number}: {error}") from None
    turn = Turn(
        text=row["text"],
        user_id=user_id,
        at=_moment(number, row.get("at")),
        assistant_before=texts["assistant_before"],
        assistant_after=texts["assistant_after"],
        language=language,
    )
    return row.get("id", number), turn


def _moment(number: int, value: object) -> datetime:
    if value is None:
        return utc_now()
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise BadLine(
            f"line {number}: at={value!r} must be ISO 8601 such as '2026-03-01T09:00:00Z'"
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=utc_now().tzinfo)


def write_line(row: object) -> None:
    """Prints one JSON object on one line; lone surrogates are escaped."""
    sys.stdout.write(json.dumps(row, ensure_ascii=True) + "\n")


def each_turn(source: str) -> Iterator[tuple[Any, Turn]]:
    """Every turn of a source; a bad line is named on standard error and the others go on.

    Raises:
        typer.Exit: After the last line, with code 1, if any line was bad.
    """
    bad = 0
    for number, line in read_lines(source):
        try:
            parsed = parse_turn(number, line)
        except BadLine as error:
            bad += 1
            print(f"bmo: {error}", file=sys.stderr)
            continue
        yield parsed
    if bad:
        raise typer.Exit(1)
