"""People: who is asked about, and which memories speak of them.

A memory in the user's words names a person as the user does ("the missus", "ines"): it speaks of
whoever it names or calls by a word of kinship, and of its subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from bmo.gate.tables import read_table
from bmo.language import LANGUAGES, spoken
from bmo.turn import StoredFact

ANYBODY = "user.person"
"""Subject of somebody whose relation is not known, before the name."""

_ENDINGS = ("", "s", "n", "en", "es")

_LEAST_NAME = 3
"""Letters of the shortest name or word of kinship that is looked for."""


def asked_about(text: str, language: str, topic: str, known: Mapping[str, str]) -> tuple[str, ...]:
    """Subjects that a turn is about, those with a known name first.

    Args:
        text: The turn's words, as ``spoken`` gives them.
        language: Of the turn: "ma" is a mother in English and "my" in French.
        topic: Who or what is asked about as a whole, or "".
        known: Lower-case name -> subject of the people memory knows.
    """
    names = [name for name in known if len(name) >= _LEAST_NAME]
    called = {name: [f" {spoken(name)}{ending} " for ending in _ENDINGS] for name in names}
    found = [known[name] for name in names if any(one in f" {text} " for one in called[name])]
    for subject in dict.fromkeys(_kin_in(text.split(), language)):
        found += [subject, *(one for one in known.values() if _belongs(one, subject))]
    for subject in [one.partition(":")[0] for one in found if ":" in one]:
        if sum(_belongs(one, subject) for one in known.values()) == 1:
            found.append(subject)  # the only sister is meant by "my sister" and by her name
    if topic and not found:
        found.append(f"{ANYBODY}:{topic.split(' ', 1)[-1]}")
    return tuple(dict.fromkeys(found))


def speaks_of(memory: StoredFact, subjects: Sequence[str]) -> bool:
    """Whether a memory is about one of ``subjects``, or names them.

    Args:
        memory: A memory.
        subjects: "user.sister", "user.sister:ines", "user.person:ines".
    """
    if any(_belongs(memory.subject, subject) for subject in subjects):
        return True
    words = _names(tuple(subjects))
    text = spoken(f"{memory.text} {memory.said} {memory.asked}")
    return words is not None and words.search(f" {text} ") is not None


def _belongs(subject: str, asked: str) -> bool:
    return subject == asked or subject.startswith((f"{asked}:", f"{asked}."))


def _kin_in(said: list[str], language: str) -> list[str]:
    """Subjects of the relations whose words stand in a turn, in the order of its words."""
    by_last = _kin_by_last(language)
    return [
        f"user.{relation}"
        for place, word in enumerate(said)
        for words, relation in by_last.get(word, ())
        if said[max(0, place + 1 - len(words)) : place] == list(words[:-1])
    ]


@cache
def _kin_by_last(language: str) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Every form of a last word of kinship -> the words and the relation."""
    forms: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, relation in _kin(language):
        for ending in _ENDINGS:
            forms.setdefault(words[-1] + ending, []).append((words, relation))
    return forms


@cache
def _kin(language: str) -> list[tuple[tuple[str, ...], str]]:
    """A language's words of kinship, each with its relation."""
    return [
        (tuple(spoken(phrase).split()), relation)
        for relation, phrases in read_table("kin.toml").get(language, {}).items()
        for phrase in phrases
    ]


@lru_cache(maxsize=256)
def _names(subjects: tuple[str, ...]) -> re.Pattern[str] | None:
    """Everything that the subjects may be called, as one expression."""
    called: set[str] = set()
    for subject in subjects:
        relation, _, name = subject.partition(":")
        relation = relation.rpartition(".")[2]
        if name:
            called.add(spoken(name))
        else:
            called.update(
                " ".join(words)
                for language in LANGUAGES
                for words, of in _kin(language)
                if of == relation
            )
    called = {one for one in called if len(one) >= _LEAST_NAME}
    if not called:
        return None
    spelt = "|".join(re.escape(one) for one in sorted(called))
    return re.compile(f" (?:{spelt})(?:s|n|en|es)? ")
