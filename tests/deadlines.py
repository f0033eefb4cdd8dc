"""Deadlines of the gates under test: no deadline decides a test, and processes inherit these."""

from __future__ import annotations

import os

DEADLINES = ("BMO_RECALL_DEADLINE_MS", "BMO_JUDGE_DEADLINE_MS")


def set_deadlines() -> None:
    """Gives this process's environment long ones, where none are set."""
    for name in DEADLINES:
        os.environ.setdefault(name, "20000")


def deadlines() -> dict[str, str]:
    """The variables, for the environment of a process."""
    return {name: os.environ.get(name, "20000") for name in DEADLINES}
