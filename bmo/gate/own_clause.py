"""Answers that are clauses of their own: "harman wants me to put in a coffee machine".

A clause with its own subject and finite verb fills no gap of the question before it; it says what
it says without the question.
"""

from __future__ import annotations

from collections.abc import Sequence

from bmo.gate.people import people_lexicon
from bmo.gate.third_person import is_base_verb

_FINITE = frozenset("is was has does will would can could did had isn't wasn't".split())
_OBJECTS = frozenset("me us it him her them my our his their a an the to that".split())
_DOINGS = frozenset("works lives goes comes stays".split())
_PLACES = frozenset("at in for on with as".split())
_NO_SUBJECT = frozenset(
    (
        "a an the some any no two three four five to at in on for with from of by about and or but "
        "what which how where when why who that this these those just only mostly usually either "
        "not very really yes yeah no nope well so it i we"
    ).split()
)
_LONGEST_SUBJECT = 3


def is_own_clause(norm: Sequence[str]) -> bool:
    """Whether words open with somebody or something of one to three words and what they do.

    Args:
        norm: The answer's words.
    """
    if len(norm) < 3 or (norm[0] in _NO_SUBJECT):
        return False
    owned = norm[0] in ("my", "our")
    names = people_lexicon("en").names
    for at in range(2 if owned else 1, min(_LONGEST_SUBJECT, len(norm) - 1)):
        verb, behind = norm[at], norm[at + 1]
        named = owned or norm[0] in names
        if verb in _FINITE and named:
            return True
        if not verb.endswith("s") or not _is_third_person(verb):
            continue
        if behind in _OBJECTS or ((named or verb in _DOINGS) and behind in _PLACES):
            return True
    return False


def _is_third_person(verb: str) -> bool:
    """Whether a word is a verb's form of the third person ("wants", "goes", "tries")."""
    stems = [verb[:-1], verb[:-2] if verb.endswith("es") else ""]
    stems.append(f"{verb[:-3]}y" if verb.endswith("ies") else "")
    return any(stem and is_base_verb(stem) for stem in stems)
