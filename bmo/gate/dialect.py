"""Spoken "me" for "my": "me back's been bad", "every day of me life", "me mate gaz".

It is written as "my" before words that say what is one's own, and nowhere else: "give me time" and
"me and sam" stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from bmo.gate.people import PeopleLexicon
from bmo.gate.word_tables import word_table
from bmo.language import Words


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``dialect.toml``; what each is for stands there beside its words."""

    ones_own: frozenset[str]
    to_whom: frozenset[str]
    titles: frozenset[str]
    before_own: frozenset[str]


_words = word_table(_Words, "dialect.toml")


CUES = frozenset({"me"})
"""Without one of these ``with_my`` changes nothing."""


def with_my(words: Words, people: PeopleLexicon) -> Words:
    """The words with "my" where a dialect says "me"; ``words`` itself where none does.

    Args:
        words: Repaired English words of a turn.
        people: Relations, which are one's own as well.
    """
    norm = words.norm
    size = len(norm)
    places = [
        i
        for i in range(size - 1)
        if norm[i] == "me" and not words.after[i] and _is_own(norm, i, people)
    ]
    if not places:
        return words
    changed = list(norm)
    for i in places:
        changed[i] = "my"
    return Words(words.text, changed, words.start, words.end, words.after, words.before)


def _is_own(norm: list[str], i: int, people: PeopleLexicon) -> bool:
    lists = _words()
    owned = norm[i + 1]
    before = norm[i - 1] if i else ""
    if owned in lists.ones_own:
        return before not in lists.to_whom or before in lists.before_own
    return (
        owned not in lists.titles
        and (owned,) in people.forms
        and (before == "with" or before not in lists.to_whom)
    )
