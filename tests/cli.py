"""Runs ``bmo`` as people and programs do: a process of its own, on a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def bmo(home: Path, *arguments: str, stdin: str = "", columns: int | str = 60, **env: str) -> Ran:
    """Runs one command in pattern mode, without ``.env`` file, keys or network."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("BMO_", "GATEKEEPER_", "MEM0_", "QDRANT_", "LIVEKIT_", "GOOGLE_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "bmo", *arguments],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
        env={
            **kept,
            "BMO_HOME": str(home),
            "GATEKEEPER_MODE": "pattern",
            "COLUMNS": str(columns),
            **env,
        },
    )
    return Ran(done.returncode, done.stdout, done.stderr)
