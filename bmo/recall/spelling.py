"""Misheard and mistyped words of a question: the one word of the memories that was meant.

A recogniser writes names and terms as they sound ("tobi" for Toby, "typscript"). A word that no
dictionary knows and no memory holds is taken for the one word of the user's memories that is one
letter away and begins with the same letter; of two such words neither is taken. Known words stay
as they are: who asks about a mango does not mean Mongo.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Final

SHORTEST: Final = 4
"""Letters of a word that may be misspelt: among short words everything is one letter away."""


def one_edit_apart(one: str, other: str) -> bool:
    """Whether a letter more, less or another, or two swapped, make one word of the other."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    head = 0
    while head < min(len(one), len(other)) and one[head] == other[head]:
        head += 1
    rest, more = sorted((one[head:], other[head:]), key=len)
    if len(rest) < len(more):
        return more[1:] == rest
    return rest[1:] == more[1:] or (
        rest[:2] == more[1::-1] and len(rest) > 1 and rest[2:] == more[2:]
    )


def may_be_misspelt(word: str) -> bool:
    """Whether no dictionary knows ``word`` (the embedder's vocabulary, 22,000 whole words)."""
    return len(word) >= SHORTEST and word.isalpha() and word not in _vocabulary()


def meant(word: str, remembered: Collection[str]) -> str | None:
    """The one word of ``remembered`` that ``word`` is a slip of, or None."""
    near = {known for known in remembered if known[:1] == word[:1] and one_edit_apart(word, known)}
    return near.pop() if len(near) == 1 else None


@cache
def _vocabulary() -> frozenset[str]:
    from bmo.models.wordpiece import VOCABULARY

    lines = VOCABULARY.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line.isalpha())
