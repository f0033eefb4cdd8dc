"""Whom the turn before spoke of: "the wife's home today", "she's called maureen".

A turn that was only held, or the assistant's "your cat", still says whom the next pronoun means.
"""

from __future__ import annotations

from bmo.gate.people import PeopleLexicon, Relation
from bmo.language import words

_OWN = frozenset({"my", "our", "the"})
_YOURS = frozenset({"your"})
_COUNTS = frozenset("two three four five six both little old new".split())


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
        first = i + 2 if norm[i + 1 : i + 2] and norm[i + 1] in _COUNTS else i + 1
        relation = people.relation_at(norm, first, len(norm))
        if relation is None or (word == "the" and norm[relation[1] : relation[1] + 1] == ["of"]):
            continue
        if relation[0] not in found:
            found.append(relation[0])
    return found


def brings_up(text: str) -> bool:
    """Whether a turn brings up somebody of whom no relation is told: "a new lad called ollie"."""
    return introduces(words(text, "en").norm)


def introduces(norm: list[str]) -> bool:
    """The same of words in normal form.

    "He" behind them is that one, and nobody of whom the talk knew before.
    """
    if SOMEBODY.isdisjoint(norm):
        return False
    for i, word in enumerate(norm):
        if word in SOMEBODY and _is_new(norm, i):
            return True
    return False


def _is_new(norm: list[str], i: int) -> bool:
    """Whether "a", "some" or "this" stands before somebody, no possessive, and no "i am"."""
    for at in range(i - 1, max(i - 4, -1), -1):
        if norm[at] in ("a", "an", "some", "another"):
            told = norm[at - 1 : at] if at else []
            return told not in (["am"], ["is"], ["was"], ["be"], ["as"], ["have"], ["got"], ["'s"])
        if norm[at] in ("my", "our", "the", "his", "her", "their", "your"):
            return False
    return False


SOMEBODY = frozenset(
    (
        "apprentice bloke chap client colleague customer doctor fella fellow girl guy lady lad "
        "lass lodger man nurse patient person physio plumber pupil student tenant volunteer woman"
    ).split()
)
"""Nouns for somebody of no relation."""
