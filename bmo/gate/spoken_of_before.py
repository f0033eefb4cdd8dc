"""Whom the turn before spoke of: "the wife's home today", "she's called maureen".

A turn that was only held, or the assistant's "your cat", still says whom the next pronoun means.
"""

from __future__ import annotations

from bmo.gate.people import PeopleLexicon, Relation
from bmo.language import words

_OWN = frozenset({"my", "our", "the"})
_YOURS = frozenset({"your"})


def relations_in(text: str, people: PeopleLexicon, *, by_assistant: bool) -> list[Relation]:
    """The relations of the user that a text speaks of, each once.

    Args:
        text: A turn of the user's, or the assistant's words.
        people: What relations are called.
        by_assistant: Whether the assistant said it ("your sister").
    """
    owners = _YOURS if by_assistant else _OWN
    norm = words(text, "en").norm
    if owners.isdisjoint(norm):
        return []
    found: list[Relation] = []
    for i, word in enumerate(norm):
        if word not in owners:
            continue
        relation = people.relation_at(norm, i + 1, len(norm))
        if relation is None or (word == "the" and norm[relation[1] : relation[1] + 1] == ["of"]):
            continue
        if relation[0] not in found:
            found.append(relation[0])
    return found
