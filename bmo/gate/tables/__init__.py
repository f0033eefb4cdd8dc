"""The write gate's word tables, and how they are read."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any


@cache
def read_table(name: str) -> dict[str, Any]:
    """A table of this folder, parsed once a process.

    Args:
        name: The file's name.
    """
    return tomllib.loads((resources.files(__name__) / name).read_text(encoding="utf-8"))


@cache
def words_of(table: str, name: str) -> frozenset[str]:
    """A list of words of a table's ``[words]``, written as a list or as a text.

    Args:
        table: The file's name.
        name: The list's.
    """
    words = read_table(table)["words"][name]
    return frozenset(words.split() if isinstance(words, str) else words)


@cache
def kin_words(language: str) -> Mapping[str, str]:
    """What people call somebody of theirs in a language -> the relation's English name."""
    table = read_table("kin.toml")[language]
    return {called: relation for relation, every in table.items() for called in every}


@cache
def given_names() -> frozenset[str]:
    """Given names, lower-case."""
    text = (resources.files(__name__) / "names.txt").read_text(encoding="utf-8")
    return frozenset(
        name for line in text.splitlines() if not line.startswith("#") for name in line.split()
    )


def known_rules() -> tuple[str, ...]:
    """Ids of the rules that these tables hold: slots, orders, published signals, small talk."""
    found = {str(item["slot"]) for item in read_table("slots.toml")["slot"]}
    orders = [kind for kind, forms in read_table("orders.toml").items() if isinstance(forms, list)]
    found |= {f"order.{kind}" for kind in orders if not kind.endswith(("_not", "_wish"))}
    signals = read_table("published_signals.toml")["signal"]
    found |= {f"published.{item['signal']}" for item in signals}
    found |= {f"skip.{kind}" for kind in read_table("small_talk.toml")["en"]}
    return tuple(sorted(found))
