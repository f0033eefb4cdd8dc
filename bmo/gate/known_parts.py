"""Memories that tell several things: what ends is one of them, the others stay.

"Ava cannot have dairy; Eli will not touch anything green" is two: when it is not dairy after all,
what Eli eats is as true as before.
"""

from __future__ import annotations

import re

from bmo.gate.known_change_data import KnownChanges

_BETWEEN = "; "
_LEANING = re.compile(
    r"(?:it|its|they|them|their|he|she|him|her|his|that|this|those|these|which|who|there|so|then|"
    r"because|not|is|was|has|have|are)\b",
    re.IGNORECASE,
)
"""What leans on what was said before it tells nothing once that is over."""

_NAMING = re.compile(r"\b(?:name is|is called|is named)\b")

_STANDS = 2
"""Words of content from which a part of a memory tells something by itself."""


def parts_of(text: str) -> tuple[str, ...]:
    """What a canonical text tells, each by itself; a quotation is one."""
    if _BETWEEN not in text or '"' in text:
        return (text,)
    return tuple(text.split(_BETWEEN))


def rest_without(text: str, part: str, table: KnownChanges) -> str:
    """What is left of a memory when one of its parts is over, or "".

    Args:
        text: The memory.
        part: One of ``parts_of(text)``.
        table: The language's words.
    """
    parts = parts_of(text)
    if len(parts) < 2:
        return ""
    if _NAMING.search(part):  # "her name is Ingrid": whoever the memory is about
        return ""
    left = [one for one in parts if one != part]
    if part == parts[0]:  # the others may be about it
        gone = {table.stem(word) for word in table.words_of(part)}
        left = [one for one in left if _stands_alone(one, gone, table)]
    rest = _BETWEEN.join(left)
    return rest[:1].upper() + rest[1:]


def _stands_alone(part: str, gone: set[str], table: KnownChanges) -> bool:
    """Whether a part tells something without the one before it."""
    words = table.words_of(part)
    if _LEANING.match(part) or len(words) < _STANDS:
        return False
    return gone.isdisjoint(table.stem(word) for word in words)
