"""The tables of ``data/changes.toml``, and what they say of partners."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from bmo.ledger.values import (
    value_key,
)


@lru_cache(maxsize=1)
def change_tables() -> Mapping[str, Any]:
    """All of them, read once."""
    source = resources.files(__package__) / "data" / "changes.toml"
    return tomllib.loads(source.read_text("utf-8"))


def owner_name(subject: str) -> str:
    """The name of whoever of the user's a subject begins with ("user.wife:ana.sister")."""
    owner = subject.removeprefix("user.")
    first = owner.split(".", 1)[0]
    return first.partition(":")[2]


def is_relation(word: str) -> bool:
    """Whether a word is a relation of a partner ("wife")."""
    return word in {value_key(relation) for relation in change_tables()["partner"]["relations"]}


def partners_of(which: str) -> tuple[str, ...]:
    """Subjects without names of a list of ``[partner]`` ("relations"); none for ""."""
    names = change_tables()["partner"][which] if which else ()
    return tuple(f"user.{name}" for name in names)


PARTNERS: tuple[str, ...] = partners_of("relations")
"""Subjects of partners without their names."""
