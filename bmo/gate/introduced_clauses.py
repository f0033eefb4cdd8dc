"""A self-introduction that goes on without a subject: "im ngozi, just moved to cardiff".

What follows the name is written as a clause of its own with its "i" ("i just moved to cardiff"),
so that it is neither part of the name's clause nor lost.
"""

from __future__ import annotations

from bmo.gate.people import people_lexicon
from bmo.language import Words, past_lemma
from bmo.language.lexicon import surface_lexicon

_NAMING = (("i", "am"), ("name", "is"), ("name", "'s"), ("this", "is"), ("it", "is"))
_BEFORE_NAME = frozenset(second for _, second in _NAMING)
_OF_ONESELF = frozenset(_NAMING[:3])
_ADVERBS = frozenset("just recently only newly currently originally still also now".split())
_STATES = frozenset("based born from married new originally retired".split())
_NO_STATEMENT = frozenset("calling ringing phoning checking wondering hoping thanks".split())
"""Why somebody speaks now: nothing that lasts."""
_LONGEST_NAME = 3


def with_subjects_behind_name(spoken: Words) -> Words:
    """The words with "i" before what a self-introduction says behind the name.

    Args:
        spoken: Repaired English words of a turn in which a given name stands.

    Returns:
        ``spoken`` itself where nothing follows a name that has lost its subject.
    """
    norm = spoken.norm
    for i in [i for i in range(min(len(norm) - 3, _OPENING)) if norm[i + 1] in _BEFORE_NAME]:
        if tuple(norm[i : i + 2]) not in _NAMING:
            continue
        end = _name_end(spoken, i + 2)
        if not end or end >= len(norm):
            continue
        front = _front(norm, end, tuple(norm[i : i + 2]) in _OF_ONESELF)
        if front:
            return _written(spoken, end, front)
    return spoken


_OPENING = 12
"""Words within which somebody says who they are."""


def _name_end(spoken: Words, first: int) -> int:
    """The index behind a given name and surnames at ``first``, or 0."""
    norm, after = spoken.norm, spoken.after
    known = norm[first] in people_lexicon("en").names
    if not known and not (spoken.raw(first)[:1].isupper() and after[first][:1] == ","):
        return 0
    end = first + 1
    while end < len(norm) and end - first < _LONGEST_NAME and not after[end - 1]:
        if not spoken.raw(end)[:1].isupper() or norm[end] == "i":
            break
        end += 1
    return end


def _front(norm: list[str], at: int, of_oneself: bool) -> list[str]:
    """What a clause without a subject at ``at`` has lost; [] where it is none.

    "It's bob from accounting" may be somebody else.
    """
    verb = at
    while verb < len(norm) - 1 and norm[verb] in _ADVERBS:
        verb += 1
    if verb >= len(norm) - 1:
        return []
    word = norm[verb]
    if word in _NO_STATEMENT or (norm[verb - 1] == "just" and word.endswith("ing")):
        return []
    if not of_oneself and word == "from":
        return []
    if word in _STATES or (norm[verb - 1] == "originally" and word == "from"):
        return ["i", "am"]
    if word == "been":
        return ["i", "have"]
    if word.endswith("ing") and word in _DOING:
        return ["i", "am"]
    if past_lemma(word) and word not in surface_lexicon("en").finite_verbs | _NO_PAST:
        return ["i"]
    return ["i"] if word in _SUBJECTLESS else []


_DOING = frozenset(
    (
        "doing learning living looking running studying teaching training trying working writing"
    ).split()
)
_NO_PAST = frozenset("called named put let set read cut".split())
_SUBJECTLESS = frozenset(
    (
        "drive got grew have left live lost made moved run started study teach took went work "
        "turned retired"
    ).split()
)


def _written(spoken: Words, at: int, front: list[str]) -> Words:
    start, end = spoken.start, spoken.end
    after = list(spoken.after)
    after[at - 1] = "."
    size = len(front)
    return Words(
        spoken.text,
        [*spoken.norm[:at], *front, *spoken.norm[at:]],
        [*start[:at], *[start[at]] * size, *start[at:]],
        [*end[:at], *[end[at]] * size, *end[at:]],
        [*after[:at], *[""] * size, *after[at:]],
        spoken.before,
    )
