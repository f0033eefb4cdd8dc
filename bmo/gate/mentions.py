"""What a text mentions: whether it is about what some words mean.

By the words themselves, by all that people call a relation ("dad" for "father"), or by the name of
whoever is meant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from itertools import pairwise

from bmo.gate.tables import given_names, kin_words, read_table, words_of
from bmo.language import LANGUAGES, words
from bmo.turn import StoredFact

_LEAST_STEM = 3
"""Letters of a word of kinship that may have an ending: "das" and "pas" are no fathers."""


def content(text: str) -> frozenset[str]:
    """The words of a text that say what it is about."""
    return frozenset(words(text)) - words_of("orders.toml", "function")


def mentions(wanted: frozenset[str], text: str) -> bool:
    """Whether a text has all of some content words, endings aside ("sisters" for "sister").

    A word of kinship is in all that people call the relation, and those that it is said of.
    """
    kin = read_table("kin.toml")["ambiguous"]
    said = [
        word
        for before, word in pairwise(("", *words(text)))
        if word not in kin["words"] or before in kin["owners"]
    ]
    return all(any(_same(word, other) for other in said) for word in wanted)


def concerns(wanted: frozenset[str], names: Collection[str], text: str) -> bool:
    """Whether a text has all of some content words, or a name of whom they mean (``names_of``)."""
    named = bool(names) and not frozenset(words(text)).isdisjoint(names)
    return named or (bool(wanted) and mentions(wanted, text))


def names_of(wanted: frozenset[str], memories: Iterable[StoredFact]) -> frozenset[str]:
    """What those are called whom words mean, as memories tell it ("my dad" -> "erik")."""
    told = ((m.subject, f"{m.text} {m.said} {m.value}") for m in memories)
    return frozenset(
        name
        for subject, text in told
        if wanted and mentions(wanted, text)
        for name in _names(wanted, subject, text)
    )


def person_in(text: str) -> str:
    """The first word of a text that names a person or says what one is to the user, or ""."""
    return next((word for word in words(text) if word in given_names() or _relation(word)), "")


def _names(wanted: frozenset[str], subject: str, text: str) -> set[str]:
    """What those are called of whom a word of kinship is said: "daughter" in "my daughter mia"."""
    relation, _, name = subject.rpartition(".")[2].partition(":")
    kin = [word for word in wanted if _relation(word)]
    found = {name} if name and any(_same(word, relation) for word in kin) else set()
    said = words(text)
    for word, following in pairwise(said):
        if following in given_names() and any(_same(one, word) for one in kin):
            found.add(following)
    return found


def _same(wanted: str, said: str) -> bool:
    if wanted == said:
        return True
    relation = _relation(wanted)
    if relation:
        return _relation(said) in (relation, *read_table("kin.toml")["wider"].get(relation, ()))
    short, long = sorted((wanted.removesuffix("'s"), said.removesuffix("'s")), key=len)
    return len(short) >= 2 and long.startswith(short) and len(long) - len(short) <= 2


@lru_cache(maxsize=4096)
def _relation(word: str) -> str:
    """What a relation is called in English, by what people call it ("dads" -> "father"), or ""."""
    endings = (word.removesuffix(ending) for ending in ("'s", "s", "n", "en", "es", "e"))
    stems = (word, *(stem for stem in endings if len(stem) >= _LEAST_STEM))
    return next((_kin()[stem] for stem in stems if stem in _kin()), "")


@cache
def _kin() -> Mapping[str, str]:
    called = {name: kin for language in LANGUAGES for name, kin in kin_words(language).items()}
    called |= {kin: kin for kin in called.values()}
    function = words_of("orders.toml", "function")
    return {name: kin for name, kin in called.items() if " " not in name and name not in function}
