"""Somebody put in front by "it is ... that": "it's his wife that comes, marlene".

The clause is written as it would be told: "his wife marlene comes"; then the rules read whose wife
she is, her name, and what she does.
"""

from __future__ import annotations

from bmo.gate.people import PeopleLexicon
from bmo.language import Words

CUES = frozenset({"that", "who"})
"""Words without which no such clause is there."""
_OWNERS = frozenset({"my", "our", "his", "her", "their"})
_BE = frozenset({"is", "was", "'s"})
_HARD = frozenset(".!?;")
_OBJECT_CLAUSE = frozenset("i you we he she they it my the a".split())
_LONGEST_CLAUSE = 14


def without_cleft(spoken: Words, people: PeopleLexicon) -> Words:
    """The words with the first such clause told plainly; ``spoken`` where there is none.

    Args:
        spoken: Repaired English words of a turn with a word for a relation.
        people: Relations and given names.
    """
    norm = spoken.norm
    if CUES.isdisjoint(norm) or _OWNERS.isdisjoint(norm):
        return spoken
    for at in range(len(norm) - 5):
        if norm[at] != "it" or norm[at + 1] not in _BE or norm[at + 2] not in _OWNERS:
            continue
        found = people.relation_at(norm, at + 3, len(norm))
        if found is None or found[1] + 1 >= len(norm):
            continue
        that = found[1]
        named = that if norm[that] in people.names else -1
        if named >= 0:
            that += 1
        if norm[that] not in CUES or spoken.after[that] or norm[that + 1] in _OBJECT_CLAUSE:
            continue  # "it is my sister that i miss"
        last = that + 1
        while last < len(norm) - 1 and _HARD.isdisjoint(spoken.after[last]):
            last += 1
        if last - at > _LONGEST_CLAUSE:
            continue
        moved = named < 0 and norm[last] in people.names and spoken.after[last - 1] == ","
        verb = range(that + 1, last if moved else last + 1)
        kept = [*range(at), *range(at + 2, that), *([last] if moved else []), *verb]
        told = spoken.select([*kept, *range(last + 1, len(norm))])
        if moved:
            told.after[kept.index(last)] = ""
            told.after[len(kept) - 1] = spoken.after[last] or "."
        return told
    return spoken
