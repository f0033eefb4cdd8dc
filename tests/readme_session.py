"""The terminal session that README.md shows: typed again, into the real program.

    python -m tests.readme_session           # prints it
    python -m tests.readme_session --write   # puts it into README.md

What is typed is read from the block itself (the lines after "you> "), so the session is changed by
changing those lines. Times and dates are those of the run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.deadlines import deadline

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PROMPT = "you> "
START = "$ make talk"
BLOCK = re.compile(rf"(?<=^```text\n){re.escape(START)}\n.*?(?=^```$)", re.MULTILINE | re.DOTALL)
COLUMNS = 80


def shown() -> str:
    """The session as README.md has it."""
    found = BLOCK.search(README.read_text(encoding="utf-8"))
    if found is None:
        raise LookupError(f"README.md has no block of text that begins with {START!r}")
    return found[0]


def starts(session: str) -> list[list[str]]:
    """What is typed, one list for each start of the program."""
    return [
        [line.removeprefix(PROMPT) for line in part.splitlines() if line.startswith(PROMPT)]
        for part in session.split(f"{START}\n")[1:]
    ]


def typed_again(session: str) -> str:
    """The same words typed into ``bmo chat`` on an empty home, and what it prints."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV")
        if name in os.environ
    }
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for lines in starts(session):
            done = subprocess.run(
                [sys.executable, "-m", "bmo", "chat"],
                input="".join(f"{line}\n" for line in lines),
                capture_output=True,
                encoding="utf-8",
                timeout=300,
                check=True,
                cwd=folder,  # no .env file
                env={
                    **kept,
                    **deadline(),  # a slow machine prints what a quick one does
                    "PYTHONPATH": str(ROOT),
                    "PYTHONUTF8": "1",
                    "BMO_HOME": str(Path(folder) / "home"),
                    "COLUMNS": str(COLUMNS),
                },
            )
            parts.append(f"{START}\n{done.stdout}")
    return re.sub(r"[ \t]+$", "", "".join(parts), flags=re.MULTILINE)


def without_times(session: str) -> str:
    """The session as one line, without what differs from run to run: times, dates, wrapping."""
    joined = " ".join(session.split())
    joined = re.sub(r"\d+\.\d ms", "N ms", joined)
    joined = re.sub(r"\b\d{1,2} [A-Z][a-z]+ \d{4}\b", "DAY", joined)
    return re.sub(r"\b\d{4}-\d{2}-\d{2}\b", "DAY", joined)


def main() -> None:
    """Prints the session, or writes it with ``--write``."""
    session = typed_again(shown())
    if "--write" in sys.argv[1:]:
        text = README.read_text(encoding="utf-8")
        README.write_text(BLOCK.sub(lambda _: session, text), encoding="utf-8")
    else:
        print(session, end="")


if __name__ == "__main__":
    main()
