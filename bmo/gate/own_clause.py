"""Answers that are clauses of their own: "harman wants me to put in a coffee machine".

A clause with its own subject and finite verb fills no gap of the question before it; it says what
it says without the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bmo.gate.people import people_lexicon
from bmo.gate.third_person import is_base_verb
from bmo.gate.word_tables import word_table


@dataclass(frozen=True, slots=True)
class _Words:
    """The lists of ``own_clause.toml``; what each is for stands there beside its words."""

    finite: frozenset[str]
    objects: frozenset[str]
    doings: frozenset[str]
    places: frozenset[str]
    no_subject: frozenset[str]


_words = word_table(_Words, "own_clause.toml")


_LONGEST_SUBJECT = 3


def is_own_clause(norm: Sequence[str]) -> bool:
    """Whether words open with somebody or something of one to three words and what they do.

    Args:
        norm: The answer's words.
    """
    lists = _words()
    if len(norm) < 3 or (norm[0] in lists.no_subject):
        return False
    owned = norm[0] in ("my", "our")
    names = people_lexicon("en").names
    for at in range(2 if owned else 1, min(_LONGEST_SUBJECT, len(norm) - 1)):
        verb, behind = norm[at], norm[at + 1]
        named = owned or norm[0] in names
        if verb in lists.finite and named:
            return True
        if not verb.endswith("s") or not _is_third_person(verb):
            continue
        if behind in lists.objects or ((named or verb in lists.doings) and behind in lists.places):
            return True
    return False


def _is_third_person(verb: str) -> bool:
    """Whether a word is a verb's form of the third person ("wants", "goes", "tries")."""
    stems = [verb[:-1], verb[:-2] if verb.endswith("es") else ""]
    stems.append(f"{verb[:-3]}y" if verb.endswith("ies") else "")
    return any(stem and is_base_verb(stem) for stem in stems)
