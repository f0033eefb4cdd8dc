"""Whom a memory is about, and whether that is who was asked about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_CALLED: Final = {
    "mother": ("mum", "mom", "mam"),
    "father": ("dad",),
    "grandmother": ("grandma", "granny", "gran", "nan"),
    "grandfather": ("grandad", "granddad", "grandpa"),
}
"""What else memories call a relation: "Mum lives with them since dad died"."""


def belongs(subject: str, asked: str) -> bool:
    """Whether a fact of ``subject`` is about ``asked``.

    ``user.brother:sam`` is about ``user.brother`` and about itself; what is told of a person's own
    people (``user.brother:sam.wife``) is about that person too.
    """
    if asked == "user":
        return subject == "user"
    return subject == asked or subject.startswith((f"{asked}:", f"{asked}."))


def mentions(text: str, asked: Sequence[str]) -> bool:
    """Whether ``text`` names a person or relation that one of ``asked`` stands for."""
    words = tuple(word for one in asked for word in _words_for(one))
    return bool(words) and _words(words).search(text) is not None


def _words_for(asked: str) -> tuple[str, ...]:
    """A person's name, or what their relation is called."""
    name = asked.rpartition(":")[2] if ":" in asked else ""
    relation = asked.partition(":")[0].rpartition(".")[2]
    return (name,) if name else (relation, *_CALLED.get(relation, ()))


@lru_cache(maxsize=512)
def _words(words: tuple[str, ...]) -> re.Pattern[str]:
    """All in one expression: a question about a wife asks for three relations and some names."""
    spoken = "|".join(re.escape(word).replace(r"\-", "[- ]").replace("_", "[- ]") for word in words)
    return re.compile(rf"(?<!\w)(?:{spoken})(?:s|'s)?(?!\w)", re.IGNORECASE)
