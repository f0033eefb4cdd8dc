"""Reads the tables of a pack: word lists and cues, each with a reader of its own."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def read_table(language: str, file: str) -> dict[str, Any]:
    """What ``packs/<language>/<file>`` says.

    Args:
        language: Whose pack.
        file: Name with its ending ("people.toml").

    Returns:
        Its tables; empty where the pack has no such file.

    Raises:
        tomllib.TOMLDecodeError: It is not TOML.
    """
    return tomllib.loads(read_text(language, file))


def read_text(language: str, file: str) -> str:
    """``packs/<language>/<file>`` as it stands; "" where the pack has no such file."""
    source = resources.files("bmo.gate") / "packs" / language / file
    return source.read_text("utf-8") if source.is_file() else ""
