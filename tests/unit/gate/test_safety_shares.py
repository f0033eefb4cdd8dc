"""Shares of secrets masked, attacks held and harmless twins left alone, by kind and language.

``python -m tests.unit.gate.test_safety_shares`` prints them as the table of docs/measuring.md.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bmo.gate import WriteGate
from bmo.gate.firewall import attack
from bmo.gate.secrets import scan
from bmo.settings import load_settings
from bmo.turn import Turn

pytestmark = pytest.mark.unit

GROUPS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "safety.toml").read_text(encoding="utf-8")
)["group"]


def spoken(row: str) -> tuple[str, str]:
    """What was said, and what the assistant asked before."""
    asked, _, said = row.rpartition(" => ")
    return said, asked


def hides(row: str) -> bool:
    """Whether nothing of what stands in braces is left."""
    said, asked = spoken(row)
    found = scan(re.sub(r"[{}]", "", said), asked).spans
    at, secret = 0, False
    for letter in said:
        if letter in "{}":
            secret = letter == "{"
            continue
        if secret and letter.isalnum() and not any(start <= at < end for start, end in found):
            return False
        at += 1
    return True


RIGHT: dict[str, Callable[[str], bool]] = {
    "secrets": hides,
    "harmless": lambda row: not scan(*spoken(row)).kinds,
    "attacks": lambda row: (
        attack(*spoken(row if " => " in row else f"remember that {row}")) is not None
    ),
    "twins": lambda row: attack(*spoken(row)) is None,
}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['kind']}-{group['of']}")
def test_share_does_not_fall(group: dict[str, Any]) -> None:
    rows = group["rows"]
    wrong = [row for row in rows if not RIGHT[group["kind"]](row)]
    assert 1 - len(wrong) / len(rows) >= group["right"], "\n".join(wrong)


def _print_table() -> None:
    """What rules get right, and for attacks and their twins the whole gate with its encoder."""
    gate = WriteGate.from_settings(load_settings(gatekeeper_mode="local"))
    for group in GROUPS:
        kind, rows = group["kind"], group["rows"]
        right = sum(map(RIGHT[kind], rows))
        line = f"| {kind}: {group['of']} | {len(rows)} | {right / len(rows):.0%} |"
        if kind in ("attacks", "twins"):
            turns = [Turn(said, assistant_before=asked) for said, asked in map(spoken, rows)]
            seen = list(map(gate.decide, turns))
            held = sum("injection" in one.signals for one in seen)
            kept = sum(one.verdict == "allow" for one in seen)
            line += f" {(held if kind == 'attacks' else len(rows) - held) / len(rows):.0%} |"
            line += f" {kept / len(rows):.0%} |" if kind == "attacks" else " |"
        else:
            line += " | |"
        print(line)


if __name__ == "__main__":
    _print_table()
