"""JSON lines in and out of commands: tolerant of bad bytes, strict about form."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from bmo.cli.errors import CommandError
from bmo.cli.options import moment
from bmo.settings import checked_user_id
from bmo.turn import Turn, utc_now

LONGEST_LINE = 1 << 20
"""Most bytes of a line."""

_NEVER_IN_TEXT = frozenset(range(0x09)) | frozenset(range(0x0E, 0x1B))
"""Control characters, which no file of JSON lines has."""

_WRONG_PLACE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
"""Where nothing can be written; other errors, such as a full disk, are no wrong input."""


def read_lines(source: str) -> Generator[tuple[int, str], None, None]:
    """Yields (number, line) of a file, or of standard input for "-"; bad UTF-8 is replaced.

    Close it (``closing``): an error in its loop would leave the file open until it is collected.
    """
    try:
        stream = sys.stdin.buffer if source == "-" else Path(source).open("rb")
        try:
            for number, raw in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), 1):
                if len(raw) > LONGEST_LINE:
                    raise CommandError(
                        f"line {number} of {source!r} is longer than {LONGEST_LINE >> 20} MiB: "
                        "one JSON object stands on a line."
                    )
                if not _NEVER_IN_TEXT.isdisjoint(raw):
                    raise CommandError(f"{source!r} is no text; JSON lines are expected.")
                line = raw.decode("utf-8", errors="replace").strip()
                if line:
                    yield number, line
        finally:
            if source != "-":
                stream.close()
    except OSError as error:
        raise CommandError(f"{source!r} cannot be read: {error.strerror}.") from None


def write_line(row: object) -> None:
    """Prints one JSON object on one line: moments in ISO 8601, lone surrogates escaped."""
    sys.stdout.write(json.dumps(row, ensure_ascii=True, default=datetime.isoformat) + "\n")


def row_of(one: object, names: str) -> dict[str, Any]:
    """The named attributes of something, for ``write_line``."""
    return {name: getattr(one, name) for name in names.split()}


def write_private(file: Path, lines: Iterable[str], *, fresh: bool = False) -> int:
    """Writes lines to a file that only its owner may read, a ``fresh`` one; returns how many."""
    count = 0
    try:
        with file.open("x" if fresh else "w", encoding="utf-8") as out:
            file.chmod(0o600)
            for line in lines:
                out.write(line + "\n")
                count += 1
    except OSError as error:
        code = 2 if isinstance(error, _WRONG_PLACE) else 1
        raise CommandError(f"{str(file)!r} cannot be written: {error.strerror}.", code) from None
    return count


def each_turn(source: str) -> Generator[tuple[Any, Turn], None, None]:
    """Every turn of a source; a bad line is named on standard error and the others go on.

    Close it as ``read_lines``.

    Raises:
        typer.Exit: After the last line, with code 1, if any line was bad.
    """
    bad = False
    with closing(read_lines(source)) as lines:
        for number, line in lines:
            try:
                parsed = _parse_turn(number, line)
            except ValueError as error:
                bad = True
                print(f"bmo: line {number}{error}.", file=sys.stderr)
                continue
            yield parsed
    if bad:
        raise typer.Exit(1)


def _parse_turn(number: int, line: str) -> tuple[Any, Turn]:
    """Id and turn of ``{"id","text","assistant_before"?,"at"?,"user_id"?}``.

    Raises:
        ValueError: It is no such; the message goes on behind the line's number.
    """
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # also a number of thousands of digits
        raise ValueError(f" is not JSON: {line[:60]!r}") from None
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ValueError(f" needs a JSON object with a string in 'text': {line[:60]!r}")
    given = {name: row.get(name) for name in ("assistant_before", "assistant_after", "language")}
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise ValueError(f": {name}={value!r} must be a string")
    said = row.get("at")
    try:
        turn = Turn(
            text=row["text"],
            user_id=checked_user_id(str(row.get("user_id") or "local")),
            at=utc_now() if said is None else moment(str(said)),
            assistant_before=given["assistant_before"] or "",
            assistant_after=given["assistant_after"] or "",
            language=given["language"],
        )
    except typer.BadParameter as error:
        raise ValueError(f": at={error.message}") from None
    except ValueError as error:
        raise ValueError(f": {error}") from None
    return row.get("id", number), turn
