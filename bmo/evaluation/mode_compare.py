"""Two runs of ``bmo eval modes`` side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = 1
"""Version of the file that ``--output`` writes."""


class RunFileError(ValueError):
    """A file is no run of ``bmo eval modes``; the message names it."""


@dataclass(frozen=True, slots=True)
class Change:
    """A figure that differs between two runs.

    Attributes:
        mode: The mode.
        name: The figure.
        old: Its value before, or None when it was not there.
        new: Its value now, or None when it is not there.
    """

    mode: str
    name: str
    old: float | None
    new: float | None


def run_file(modes: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> dict[str, Any]:
    """What is written: figures by mode, and what they were measured on."""
    return {"format": FORMAT, "about": dict(about), "modes": list(modes)}


def read_run(path: Path) -> dict[str, Any]:
    """Reads what ``--output`` wrote.

    Raises:
        RunFileError: There is no such file, or it is something else.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise RunFileError(f"--compare {str(path)!r} cannot be read ({error.strerror}).") from None
    except ValueError:
        raise RunFileError(
            f"--compare {str(path)!r} is not JSON: name a file that --output wrote."
        ) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or "modes" not in found:
        raise RunFileError(
            f"--compare {str(path)!r} is no run of bmo eval modes: name a file that --output wrote."
        )
    return found


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """The figures that differ, mode by mode; durations are left out, they always do."""
    before = {one["mode"]: dict(_values(one)) for one in old["modes"]}
    after = {one["mode"]: dict(_values(one)) for one in new["modes"]}
    found = []
    for mode in [*after, *(mode for mode in before if mode not in after)]:
        was, now = before.get(mode, {}), after.get(mode, {})
        for name in [*now, *(name for name in was if name not in now)]:
            if was.get(name) != now.get(name):
                found.append(Change(mode, name, was.get(name), now.get(name)))
    return found


def _values(figures: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, score in figures["scores"].items():
        yield f"{name}: precision", _value(score["precision"])
        yield f"{name}: recall", _value(score["recall"])
        yield f"{name}: F1", score["f1"]
    for name, value in figures["shares"].items():
        yield name, _value(value)
    for name, number in figures["numbers"].items():
        if " us " not in name and " ms " not in name:
            yield name, number


def _value(share: Mapping[str, float]) -> float:
    return share["hits"] / share["total"] if share["total"] else 0.0
