"""What a question has in common with a memory by its words: a name, a word that tells, or none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bmo.turn import StoredFact

NAMED_BY_MOST: Final = 4
"""Memories that may hold a word of a name which tells them from the others."""

_LIGHT: Final = frozenset(
    "use want like need get make take give put keep try find start help look think show".split()
)
"""Verbs that say nothing of what is done to what: "what tools do we use"."""


def is_named(fact: StoredFact, counts: Mapping[str, int]) -> bool:
    """Whether the question has a name of something in the memory, which few memories hold.

    Args:
        fact: A memory; its entities are the names.
        counts: Words of the question that memories hold -> in how many they are.
    """
    from bmo.ledger.values import content_words

    names = (content_words([name]) for name in fact.entities)
    return any(
        words and words <= counts.keys() and min(counts[word] for word in words) <= NAMED_BY_MOST
        for words in names
    )


def share_a_word(fact: StoredFact, counts: Mapping[str, int]) -> bool:
    """Whether the memory holds a word of the question that names or tells something.

    Args:
        fact: A memory.
        counts: See ``is_named``.
    """
    from bmo.ledger.values import content_words

    held = content_words([fact.text, fact.value, *fact.entities])
    return not held.isdisjoint(counts.keys() - _LIGHT)
