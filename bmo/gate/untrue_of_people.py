"""What nobody says of the person a pronoun was taken for: a breed of a person, news of the dead.

"He's a whippet" behind a word about one's husband is about the dog; and whoever has died lives,
works and wants nothing new, whatever "he" was taken for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bmo.gate.packs import load_pack
from bmo.language import past_lemma

PRONOUNS = frozenset({"he", "she", "his", "her", "they", "their"})
_WAS = frozenset("was were had did used would could".split())
_KIND_ENDS = frozenset("cross mix puppy pup dog cat kitten type breed who that with and".split())
_LONGEST_FRONT = 5
"""Words up to the breed ("is a lovely little black")."""


def tells_kind(norm: Sequence[str]) -> bool:
    """Whether a clause says of "he" or "she" what animal it is ("he is a whippet").

    Args:
        norm: Words of the clause.
    """
    if norm[0] not in ("he", "she") or list(norm[1:3]) not in (["is", "a"], ["is", "an"]):
        return False
    kinds = load_pack("en").lexicons.get("animal_kind", frozenset())
    for at in range(3, min(len(norm), 3 + _LONGEST_FRONT)):
        for size in (2, 1):
            behind = at + size
            if tuple(norm[at:behind]) in kinds and behind <= len(norm):
                return behind == len(norm) or norm[behind] in _KIND_ENDS
    return False


def untrue_of(
    subject: str, norm: Sequence[str], departed: Collection[str], *, pet: bool, past: bool = False
) -> bool:
    """Whether what a clause tells by a pronoun cannot be true of whom it was taken for.

    Args:
        subject: Whom it was taken for.
        norm: Words of the clause.
        departed: Subjects of those who have died.
        pet: It is an animal.
        past: It tells of the past, as far as its language's rules say.
    """
    if not subject.startswith("user."):
        return False
    if not pet and tells_kind(norm):
        return True
    if subject not in departed:
        return False
    told_of_the_past = past or any(word in _WAS or past_lemma(word) for word in norm[1:])
    return not told_of_the_past
