"""The deadline of recall under test: none decides a test, and processes inherit a long one."""

from __future__ import annotations

import os

DEADLINE = "BMO_RECALL_DEADLINE_MS"


def set_deadline() -> None:
    """Gives this process's environment a long one, where none is set."""
    os.environ.setdefault(DEADLINE, "20000")


def deadline() -> dict[str, str]:
    """The variable, for the environment of a process."""
    return {DEADLINE: os.environ.get(DEADLINE, "20000")}
