"""The category of a memory that the judge found: its odds, and what the words themselves tell."""

from __future__ import annotations

import re
from itertools import pairwise

from bmo.gate.asked_question import last_question, who_does
from bmo.turn import Assessment, Category

TURN_WEIGHT = 0.35
"""Weight of the whole turn's odds beside those of the memory's own clauses: a clause alone may
have lost what it is about ("she hates it")."""

_CHOSEN = frozenset(
    (
        "decide decided choose chose chosen pick picked settle settled agree agreed switch switched"
    ).split()
)
_WENT = ("go", "went", "gone")
_WHICH = frozenset({"which", "what", "who", "where"})
_TEAM = frozenset({"you", "the", "your", "team", "we"})
_STANDING = re.compile(r"Wants the assistant (?:never|always|not|to)\b")


def is_standing(text: str) -> bool:
    """Whether a memory is a standing instruction to the assistant."""
    return _STANDING.match(text) is not None


def asks_for_a_choice(assistant_before: str) -> bool:
    """Whether the assistant's last question is what was decided ("which one did you go for?")."""
    question = last_question(assistant_before)
    if question[:1] and question[0] not in _WHICH:
        return False
    told = {"did", "have", "has"} & set(question)
    went = any(a in _WENT and b in ("for", "with") for a, b in pairwise(question))
    chosen = went or not _CHOSEN.isdisjoint(question)
    return bool(told) and chosen and not _TEAM.isdisjoint(question)


def asks_for_someone(assistant_before: str) -> bool:
    """Whether the assistant's last question is who does something ("who does the rota?")."""
    return bool(who_does(last_question(assistant_before)))


def category_of(
    text: str,
    subject: str,
    own: Assessment,
    whole: Assessment,
    *,
    settles_choice: bool = False,
    names_someone: bool = False,
) -> Category:
    """Where a memory belongs.

    Args:
        text: Canonical text.
        subject: As in ``Fact.subject``.
        own: The judge on the memory's clauses.
        whole: The judge on the whole turn.
        settles_choice: The memory answers what was decided.
        names_someone: It answers who does something.
    """
    if is_standing(text):
        likely = max(own.categories, key=lambda name: own.categories[name])
        return likely if likely in ("policies", "preferences") else "preferences"
    if settles_choice:
        return "decisions"
    if subject.startswith("user.") or names_someone:
        return "relationships"  # what is true of one's people is kept with them
    return max(
        own.categories,
        key=lambda name: own.categories[name] + TURN_WEIGHT * whole.categories[name],
    )
