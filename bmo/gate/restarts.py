"""A sentence begun twice: "osian has he's got himself a job" is "osian has got himself a job".

The name is told first and the sentence opened again with its pronoun, behind it ("my brother is
he's a plumber") or as an afterthought of the sentence before ("he's stopped, osian has, he's got
..."). One of the two subjects and verbs is enough, and the name says more.
"""

from __future__ import annotations

from bmo.language import Words

_TWICE = frozenset({"has", "is", "was", "does", "did", "have", "are", "were", "'s"})
PRONOUNS = frozenset({"he", "she", "they"})
"""Without one of these ``without_restart`` changes nothing."""
_NO_NAMES = frozenset(
    (
        "he she it they i we you that this what who which where how why there all one is was has"
    ).split()
)
_SAME = {
    "'s": frozenset({"is", "has", "'s"}),
    "is": frozenset({"is", "'s"}),
    "has": frozenset({"has", "is", "'s"}),  # "he's got" is written out as "he is got"
}


def without_restart(words: Words) -> Words:
    """The words without the second beginning; ``words`` itself where there is none.

    Args:
        words: Repaired English words of a turn.
    """
    norm = words.norm
    if _TWICE.isdisjoint(norm):
        return words
    dropped: set[int] = set()
    for i in range(1, len(norm) - 3):
        verb = norm[i]
        if verb not in _TWICE or norm[i + 1] not in PRONOUNS or words.after[i][:1] in ("?", "."):
            continue
        if norm[i + 2] not in _SAME.get(verb, (verb,)):
            continue
        if norm[i - 1].isalpha() and norm[i - 1] not in _NO_NAMES:
            dropped |= {i + 1, i + 2}
    return words.select([i for i in range(len(norm)) if i not in dropped]) if dropped else words
