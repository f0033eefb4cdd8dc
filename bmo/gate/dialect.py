"""Spoken "me" for "my": "me back's been bad", "every day of me life", "me mate gaz".

It is written as "my" before words that say what is one's own, and nowhere else: "give me time" and
"me and sam" stay.
"""

from __future__ import annotations

from bmo.gate.people import PeopleLexicon
from bmo.language import Words

CUES = frozenset({"me"})
"""Without one of these ``with_my`` changes nothing."""
_ONES_OWN = frozenset(
    (
        "ankle arm arms back bed belly bike boat breakfast car chest coat cup diary dinner ear "
        "ears elbow eye eyes feet fingers foot garden glasses hair hand hands hat head health "
        "hearing "
        "heart hip hips house job knee knees leg legs life lunch lungs neck nerves own phone "
        "pension pills pipe shed shoulder shoulders sight sleep stick stomach tablets tea teeth "
        "toe van wallet work wrist"
    ).split()
)
_TO_WHOM = frozenset(
    (
        "asking calling giving getting making leaving sending showing teaching telling name named "
        "ask asked bring brought buy bought call called cook cooked cost find found for from gave "
        "get gets give gives giving got hand handed heard help helped leave left lend lent let "
        "made make makes offer offered owe owes pour poured save saved send sent show showed "
        "teach taught tell tells to told took wish with"
    ).split()
)
"""Words behind which "me" is whom something is given or told."""
_TITLES = frozenset({"boss", "doctor", "coach", "teacher", "chief"})
"""What somebody may be called: "call me boss"."""
_BEFORE_OWN = frozenset({"of", "in", "on", "with", "to", "for", "at", "from", "since", "about"})


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
    owned = norm[i + 1]
    before = norm[i - 1] if i else ""
    if owned in _ONES_OWN:
        return before not in _TO_WHOM or before in _BEFORE_OWN
    return owned not in _TITLES and (owned,) in people.forms and before not in _TO_WHOM - {"with"}
