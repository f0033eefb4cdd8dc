"""Runs ``bmo`` as people and programs do, on a home of its own.

``bmo`` runs the command line in this process: a start of Python and its libraries costs more than
most commands do. ``bmo_process`` is for what only a process shows: a lock held by another, a kill,
what libraries print past Python's own streams.
"""

from __future__ import annotations

import gc
import io
import json
import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bmo.cli import main
from tests.deadlines import DEADLINE

ROOT = Path(__file__).parents[1]
TIMEOUT_S = 180


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[Any]:
        """The JSON objects on standard output, one a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def sentence(self) -> str:
        """The one sentence on standard error, without "bmo: "."""
        assert "Traceback" not in self.err, self.err
        said = [line for line in self.err.splitlines() if line.strip()]
        assert len(said) == 1, self.err
        assert said[0].startswith("bmo: "), self.err
        assert said[0].endswith("."), self.err
        assert self.out == ""
        return said[0].removeprefix("bmo: ")


def bmo(
    home: Path, *arguments: str, stdin: str | bytes = "", columns: int | str = 60, **env: str
) -> Ran:
    """Runs one command in pattern mode, without ``.env`` file, keys or network."""
    out, err = _stream(), _stream()
    with ExitStack() as stack:
        # patch.dict puts back what a command itself sets, too (MEM0_TELEMETRY).
        stack.enter_context(patch.dict(os.environ, environment(home, columns, env), clear=True))
        stack.enter_context(patch.object(sys, "argv", ["bmo", *arguments]))
        stack.enter_context(patch.object(sys, "stdin", _stream(stdin)))
        stack.enter_context(chdir(_folder(home)))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.enter_context(_as_at_a_start())
        try:
            main()
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(left.code is not None)
        else:
            code = 0
    return Ran(code, _written(out), _written(err))


def bmo_process(
    home: Path, *arguments: str, stdin: str | bytes = "", columns: int | str = 60, **env: str
) -> Ran:
    """The same in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bmo", *arguments],
        input=_bytes(stdin),
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=_folder(home),
        env=environment(home, columns, env),
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def environment(home: Path, columns: int | str, more: Mapping[str, str]) -> dict[str, str]:
    """Variables of a command on this home: nothing of the machine's own settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == DEADLINE
        or not name.startswith(("BMO_", "GATEKEEPER_", "MEM0_", "QDRANT_", "LIVEKIT_", "GOOGLE_"))
    }
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "BMO_HOME": str(home),
        "GATEKEEPER_MODE": "pattern",
        "COLUMNS": str(columns),
        **more,
    }


def _folder(home: Path) -> Path:
    """Where the command runs: beside its home, where no ``.env`` lies."""
    return next(parent for parent in home.parents if parent.is_dir())


def _bytes(said: str | bytes) -> bytes:
    return said if isinstance(said, bytes) else said.encode()


def _stream(holds: str | bytes = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(_bytes(holds)), encoding="utf-8")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@contextmanager
def _as_at_a_start() -> Iterator[None]:
    """Logging, warnings and collector as in a new process, so that what they print is seen."""
    root, ours = logging.getLogger(), logging.getLogger("bmo")
    before = root.handlers, ours.handlers, ours.level, ours.propagate
    root.handlers, ours.handlers = [], []
    try:
        with warnings.catch_warnings():
            warnings.resetwarnings()
            yield
    finally:
        root.handlers, ours.handlers, ours.level, ours.propagate = before
        gc.unfreeze()
