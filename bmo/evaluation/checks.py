"""One line of a report about the state of things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a report.

    Attributes:
        name: What was looked at.
        status: ok, warn (it works, but look) or fail.
        found: What was found; never a secret, never a memory's words.
        fix: What to do, "" when there is nothing to do.
    """

    name: str
    status: Status
    found: str
    fix: str = ""


def level(name: str, found: str, fix: str, value: float, watch: float, alert: float) -> Check:
    """A check whose status is how high a value is: from ``watch`` warn, from ``alert`` fail."""
    if value >= alert:
        return Check(name, "fail", found, fix)
    return Check(name, "warn", found, fix) if value >= watch else Check(name, "ok", found)
