"""``--fail-on``: which changes make ``bmo replay --baseline`` end with exit code 1. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bmo.replay.changes import KINDS, ChangeKind, Sign
from bmo.replay.diff import ReplayDiff
from bmo.replay.scenario import ScenarioError

ANY: tuple[ChangeKind, ...] = tuple(k for k in KINDS if k not in ("scenario", "latency"))
"""What ``any`` stands for: new conversations are no fault, and times depend on the machine."""

_SIGNS: tuple[Sign, ...] = ("+", "-", "~")


@dataclass(frozen=True, slots=True)
class FailOn:
    """One thing that must not change: a kind, with one sign or (None) with any."""

    kind: ChangeKind
    sign: Sign | None = None


def parse_fail_on(text: str) -> tuple[FailOn, ...]:
    """Reads ``stored,recall-,any``.

    A sign behind a kind narrows it: ``stored-`` fails on lost memories only. ``mismatch`` alone
    means ``mismatch+``: a difference that went away is what one hopes for.

    Raises:
        ScenarioError: A word is no kind of change.
    """
    found: list[FailOn] = []
    for word in text.split(","):
        name = word.strip().lower()
        if not name:
            continue
        sign = next((sign for sign in _SIGNS if name.endswith(sign)), None)
        name = name.removesuffix(sign or "")
        kinds = ANY if name == "any" else tuple(kind for kind in KINDS if kind == name)
        if not kinds:
            raise ScenarioError(
                f"--fail-on: {word.strip()!r:.60} is no kind of change; "
                f"name some of {', '.join(KINDS)} (each with +, - or ~ behind it), or any."
            )
        found += [FailOn(kind, sign or ("+" if kind == "mismatch" else None)) for kind in kinds]
    if not found:
        raise ScenarioError(f"--fail-on: names nothing; name some of {', '.join(KINDS)}, or any.")
    return tuple(dict.fromkeys(found))


def failures(diff: ReplayDiff, fail_on: tuple[FailOn, ...]) -> dict[str, int]:
    """What must not have changed and did: ``kind`` or ``kind`` with its sign -> count."""
    counts = {f"{rule.kind}{rule.sign or ''}": diff.count(rule.kind, rule.sign) for rule in fail_on}
    return {name: count for name, count in counts.items() if count}
