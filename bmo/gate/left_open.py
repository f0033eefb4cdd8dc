"""Memories that leave open whom they speak of: "sister visits her", "the other is a monk".

What was said of somebody whom only the turns before knew is no memory: nobody could tell later who
"her" was, or which one "the other" is. Such words are held, whether rules or the judge found them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bmo.gate.people import PeopleLexicon
from bmo.gate.word_tables import word_table


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``left_open.toml``; what each is for stands there beside its words."""

    objects: frozenset[str]
    of_another: frozenset[str]
    behind_object: frozenset[str]
    new_clause: frozenset[str]
    auxiliary: frozenset[str]
    parts: frozenset[str]
    of_them: frozenset[str]
    ones: frozenset[str]
    times: frozenset[str]
    from_then: frozenset[str]
    subjects: frozenset[str]
    spelling: frozenset[str]


_words = word_table(_Words, "left_open.toml")


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
    lists = _words()
    norm = [word.strip(".,;:!?").lower() for word in text.split()]
    if norm[:1] == ["is"] and norm[1:2] and norm[1] in lists.of_another:
        return True  # "i'm his twin"
    if _only_spells(norm):
        return True
    return _bare(norm, people) or bool(_OWNED.match(text)) or _dangles(norm, people)


def _only_spells(norm: Sequence[str]) -> bool:
    """Whether a text says how a name is written and not whose: "without an h", "joe with an e"."""
    if not _SHORTEST <= len(norm) <= _LONGEST_BARE or len(norm[-1].removesuffix("s")) != 1:
        return False
    return not _words().spelling.isdisjoint(norm[:2])


def opens_with_part(norm: Sequence[str]) -> bool:
    """Whether a clause is about some of those spoken of before: "one of them", "the other one"."""
    lists = _words()
    if norm[0] == "never" and norm[1:2] in (["mind"], ("mind",)):
        return True  # "never mind tom" lets go of what was spoken of
    if len(norm) < _SHORTEST:
        return False
    if norm[0] in lists.parts and norm[1] == "of" and norm[2] in lists.of_them:
        return True
    if norm[0] != "the" or norm[1] not in lists.ones:
        return False
    behind = norm[3] if norm[2] in ("one", "ones", "two") and len(norm) > 3 else norm[2]
    return behind in lists.auxiliary or behind == "'s"


def tells_only_when(norm: Sequence[str], people: PeopleLexicon) -> bool:
    """Whether a clause names a time or a condition and nothing that is so then.

    Args:
        norm: Words of the clause: "when i ask for code", but "when mum died dad moved".
        people: Relations and names.
    """
    lists = _words()
    at = 0
    while at < len(norm) and norm[at] in lists.from_then:
        at += 1
    if len(norm) - at < _SHORTEST or norm[at] not in lists.times:
        return False
    behind = norm[at + 2 :]
    return lists.subjects.isdisjoint(behind) and not any(
        word in people.names or (word,) in people.forms for word in behind
    )


def _bare(norm: Sequence[str], people: PeopleLexicon) -> bool:
    """Whether nothing is said of somebody: "brother is", "wife is not", "little brother"."""
    lists = _words()
    said = list(norm)
    if said[-1:] == ["not"]:
        said.pop()
    if len(said) <= _LONGEST_BARE and len(said) > 1 and said[-1] in lists.auxiliary:
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
    lists = _words()
    for i, word in enumerate(norm):
        if word not in lists.objects or not _NEAREST <= i <= _FARTHEST:
            continue
        if word == "her" and i + 1 < len(norm) and norm[i + 1] not in lists.behind_object:
            continue
        front = list(norm[:i])
        if not lists.new_clause.isdisjoint(front[1:]):
            continue
        people_named = [w for w in front if w in people.names or (w,) in people.forms]
        own_name = (front[0],) in people.forms and front[1] in people.names  # "sister ann"
        if len(people_named) > (2 if own_name else 1):
            continue
        return True
    return False
