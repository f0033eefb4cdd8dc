"""Whom a memory is about, and whether that is who was asked about."""

from __future__ import annotations

import re
from functools import lru_cache


def belongs(subject: str, asked: str) -> bool:
    """Whether a fact of ``subject`` is about ``asked``.

    ``user.brother:sam`` is about ``user.brother`` and about itself; what is told of a person's own
    people (``user.brother:sam.wife``) is about that person too.
    """
    if asked == "user":
        return subject == "user"
    return subject == asked or subject.startswith((f"{asked}:", f"{asked}."))


def mentions(text: str, asked: str) -> bool:
    """Whether ``text`` names the person or relation that ``asked`` stands for."""
    name = asked.rpartition(":")[2] if ":" in asked else ""
    relation = asked.partition(":")[0].rpartition(".")[2]
    word = name or relation
    return bool(_word(word).search(text))


@lru_cache(maxsize=512)
def _word(word: str) -> re.Pattern[str]:
    spoken = re.escape(word).replace(r"\-", "[- ]").replace("_", "[- ]")
    return re.compile(rf"(?<!\w){spoken}(?:s|'s)?(?!\w)", re.IGNORECASE)
