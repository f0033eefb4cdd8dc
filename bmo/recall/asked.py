"""A turn as the read gate looks at it, and what can be told of it by its words alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from bmo.recall.addressing import address
from bmo.recall.classify import Classification
from bmo.recall.lexer import ABOUT_SOMEBODY, Words
from bmo.recall.packs import Pack, Reading
from bmo.recall.subjects import belongs
from bmo.turn import Depth, Turn

_OF_MEMORY = frozenset({"remembering", "stored", "said", "suggest"})

_AUXILIARIES = frozenset({"be", "do", "have", "modal"})

_OPENS = "opens"
"""Class of first words of a question that yes or no answers, in packs whose auxiliaries open
statements as well."""

_FOR_ME: Final = frozenset(
    {("for", "me"), ("for", "us"), ("für", "mich"), ("für", "uns"), ("pour", "moi"), ("para", "mí")}
)
"""Pairs of words by which a question is about whom the answer must suit."""

_CONTACT = "phone"
"""The slot that a command to call or write to somebody asks for beside the name."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One call of the gate: the turn, read, and what is known around it.

    Attributes:
        turn: The turn.
        reading: What the language's rules make of its words.
        pack: Those rules.
        kind: How large a request it is, and of what sort.
        depth: The turn's own depth ("everything you know"), or that of the settings.
        conversation_turns: User turns of the conversation so far.
        subjects: Lower-case name -> subject of who is known; None where that is not known.
    """

    turn: Turn
    reading: Reading
    pack: Pack
    kind: Classification
    depth: Depth
    conversation_turns: int
    subjects: Mapping[str, str] | None


def is_question(ask: Ask) -> bool:
    """Whether a turn has a question mark or the first word of a question.

    A question word further back may as well be a conjunction ("no that is when we met").
    """
    words = ask.reading.words
    if words.asked:
        return True
    first, *rest = words.words
    classes = ask.pack.lexer.classes_of(first)
    if "q" in classes or opens_as_question(ask):
        return True
    # "cant meet them at weekends", "were calling her addie": no apostrophe tells these apart.
    states = rest[:1] == ["not"] or (first == "were" and rest and rest[0].endswith("ing"))
    return bool(classes & _AUXILIARIES) and not states


def opens_as_question(ask: Ask) -> bool:
    """Whether a turn begins as a question that yes or no answers does ("puede venir ...").

    Only in languages whose packs have a class for it; "puede que" says maybe.
    """
    first, *rest = ask.reading.words.words
    return _OPENS in ask.pack.lexer.classes_of(first) and rest[:1] != ["que"]


def is_for_me(words: Words) -> bool:
    """Whether a turn asks what something is for the speaker ("is that wise for me")."""
    return not _FOR_ME.isdisjoint(pairwise(words.words))


def names_somebody(words: Words, subjects: Mapping[str, str]) -> bool:
    """Whether a known name is among the words, or its possessive without an apostrophe."""
    return bool(subjects) and any(
        word in subjects or word.removesuffix("s") in subjects for word in words.words
    )


def asks_of_somebody(ask: Ask) -> bool:
    """Whether a turn begins as a question does and has a known name ("is eva still pregnant").

    Recognisers write no question mark, and no possessive or question word says that it asks.
    """
    words = ask.reading.words.words
    if len(words) < 3 or not ask.subjects:
        return False
    if ask.pack.language != "en":
        return opens_as_question(ask)
    classes = ask.pack.lexer.classes_of(words[0])
    return bool(classes & _AUXILIARIES) and words[1] in ask.subjects


def calls_nobody_known(ask: Ask) -> bool:
    """Whether a command calls somebody ("ring my solicitor") of whom memory knows nothing."""
    if ask.subjects is None:
        return False
    found = address(ask.reading, ask.turn.text, ask.pack, ask.subjects)
    if "callverb" not in ask.reading.words.classes and _CONTACT not in found.slots:
        return False
    people = [subject for subject in found.subjects if subject not in ("user", "team")]
    known = ask.subjects.values()
    return not any(belongs(k, person) for k in known for person in people)


def about_the_assistant(words: Words) -> bool:
    """Whether a question speaks of BMO and of nobody else, and not of what BMO remembers."""
    return "you" in words.classes and words.classes.isdisjoint(ABOUT_SOMEBODY | _OF_MEMORY)
