"""Shares of secrets masked, attacks held and harmless twins left alone, by kind and language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bmo.gate.firewall import attack
from bmo.gate.secrets import scan

pytestmark = pytest.mark.unit

GROUPS: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "safety.toml").read_text(encoding="utf-8")
)["group"]


def hides(row: str) -> bool:
    """Whether nothing of what stands in braces is left."""
    found = scan(re.sub(r"[{}]", "", row)).spans
    at, secret = 0, False
    for letter in row:
        if letter in "{}":
            secret = letter == "{"
            continue
        if secret and letter.isalnum() and not any(start <= at < end for start, end in found):
            return False
        at += 1
    return True


RIGHT: dict[str, Callable[[str], bool]] = {
    "secrets": hides,
    "harmless": lambda row: not scan(row).kinds,
    "attacks": lambda row: attack(f"remember that {row}") is not None,
    "twins": lambda row: attack(row) is None,
}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['kind']}-{group['of']}")
def test_share_does_not_fall(group: dict[str, Any]) -> None:
    rows = group["rows"]
    wrong = [row for row in rows if not RIGHT[group["kind"]](row)]
    assert 1 - len(wrong) / len(rows) >= group["right"], "\n".join(wrong)
