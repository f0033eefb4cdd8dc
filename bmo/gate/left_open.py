"""Memories that leave open whom they speak of: "sister visits her", "the other is a monk".

What was said of somebody whom only the turns before knew is no memory: nobody could tell later who
"her" was, or which one "the other" is. Such words are held, whether rules or the judge found them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bmo.gate.people import PeopleLexicon

_OBJECTS = frozenset({"him", "her"})
_OF_ANOTHER = frozenset({"his", "her"})
_BEHIND_OBJECT = frozenset(
    (
        "a about after again all also an and as at because before but by daily down every for from "
        "here home if in into last most next now of off often on once out over really regularly so "
        "some sometimes that the there through to today together too twice up very when where "
        "while with yesterday"
    ).split()
)
"""Words behind an object "her"; behind a possessive one stands what is hers."""
_NEW_CLAUSE = frozenset(
    (
        "and because but cause cos he i if it she that they we when where which while who whom you"
    ).split()
)
_AUXILIARY = frozenset(
    "are can could did do does had has have is should was were will would".split()
)
_PARTS = frozenset("all any both either half most neither none one some".split())
_OF_THEM = frozenset({"them", "these", "those", "which"})
_ONES = frozenset("first last latter former next one other others second third".split())
_OWNED = re.compile(r"^\w+(?:[ -]\w+){0,2}'s (?:is|are|was)\b")
_SHORTEST = 3
_LONGEST_BARE = 4
_NEAREST, _FARTHEST = 2, 5
"""Where an object stands in a clause that says no more than who does what to whom."""


def leaves_open(text: str, people: PeopleLexicon) -> bool:
    """Whether a canonical text cannot be understood later, for whom it leaves open.

    Args:
        text: An English canonical text.
        people: Relations and names.
    """
    norm = [word.strip(".,;:!?").lower() for word in text.split()]
    if norm[:1] == ["is"] and norm[1:2] and norm[1] in _OF_ANOTHER:
        return True  # "i'm his twin"
    return _bare(norm, people) or bool(_OWNED.match(text)) or _dangles(norm, people)


def opens_with_part(norm: Sequence[str]) -> bool:
    """Whether a clause is about some of those spoken of before: "one of them", "the other one"."""
    if len(norm) < _SHORTEST:
        return False
    if norm[0] in _PARTS and norm[1] == "of" and norm[2] in _OF_THEM:
        return True
    if norm[0] != "the" or norm[1] not in _ONES:
        return False
    behind = norm[3] if norm[2] in ("one", "ones", "two") and len(norm) > 3 else norm[2]
    return behind in _AUXILIARY or behind == "'s"


def _bare(norm: Sequence[str], people: PeopleLexicon) -> bool:
    """Whether nothing is said of somebody: "brother is", "wife is not", "little brother"."""
    said = list(norm)
    if said[-1:] == ["not"]:
        said.pop()
    if len(said) <= _LONGEST_BARE and len(said) > 1 and said[-1] in _AUXILIARY:
        return True
    first = 0
    while first < len(norm) and norm[first] in people.qualifiers:
        found = people.relation_at(list(norm), first, len(norm))
        if found is not None:
            break
        first += 1
    found = people.relation_at(list(norm), first, len(norm))
    return found is not None and found[1] == len(norm)


def _dangles(norm: Sequence[str], people: PeopleLexicon) -> bool:
    """Whether an object pronoun means nobody of the text: "sister visits her on sundays"."""
    for i, word in enumerate(norm):
        if word not in _OBJECTS or not _NEAREST <= i <= _FARTHEST:
            continue
        if word == "her" and i + 1 < len(norm) and norm[i + 1] not in _BEHIND_OBJECT:
            continue
        front = list(norm[:i])
        if not _NEW_CLAUSE.isdisjoint(front[1:]):
            continue
        people_named = [w for w in front if w in people.names or (w,) in people.forms]
        own_name = (front[0],) in people.forms and front[1] in people.names  # "sister ann"
        if len(people_named) > (2 if own_name else 1):
            continue
        return True
    return False
