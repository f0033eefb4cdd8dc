"""What a clause of a canonical memory is about, told from its words. Pure.

A canonical memory has no subject word for the person: what begins with a verb is about them, what
begins with a relation is about somebody of theirs, and anything else names its own subject or is
no sentence at all.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Literal

from bmo.gate import people_lexicon
from bmo.language import base_form, past_lemma
from bmo.language.lexicon import surface_lexicon
from bmo.language.verb_forms import PAST, VERB_LISTS

Kind = Literal["own", "theirs", "statement", "fragment"]
"""About the person ("Lives in Leeds"); about somebody or something of theirs ("Brother Sam is
4"); a sentence with a subject of its own ("The team uses Go"); no sentence ("First time alone")."""

_NOUN_WORDS = 4
"""Words in which the verb of a noun phrase that looks like a verb comes ("Days off are")."""
_THE_AND_NAME = re.compile(r"^[A-Z][a-z]+ is (?:called|named) [A-Z]")
_POSSESSIVE = ("'s", "’s")


@cache
def phrases() -> dict[str, Any]:
    """The words of ``phrases.toml``."""
    text = (files("bmo.chat") / "phrases.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def phrase_set(name: str) -> frozenset[str]:
    """One list of ``phrases.toml``, for words without case."""
    return frozenset(phrase.casefold() for phrase in phrases()[name])


def kind_of(clause: str) -> Kind:
    """What a clause of a canonical memory is about.

    Args:
        clause: A memory, or what stands between two semicolons of one; not empty.
    """
    words = clause.split()
    if is_about_the_person(clause):
        return "own"
    if begins_with_relation(clause) or _THE_AND_NAME.match(clause):
        return "theirs"
    first = _bare(words[0])
    if not _has_verb(words) and not _is_told_of_one(words):
        return "fragment"
    if first.removesuffix("'s") in phrase_set("own_things"):
        return "theirs"
    return "statement"


def begins_with_relation(text: str) -> bool:
    """Whether a memory begins with somebody or something that is the person's ("New boss")."""
    words = [_bare(word).removesuffix("'s") for word in text.split()[:2]]
    relations = phrase_set("relations")
    return (
        words[0] in relations
        or words[0].removesuffix("s") in relations
        or (
            len(words) > 1
            and words[0] in phrase_set("of_a_relation")
            and (words[1] in relations or words[1].removesuffix("s") in relations)
        )
    )


def is_about_the_person(text: str) -> bool:
    """Whether a memory begins with the person's verb ("Lives in ...") and not with somebody.

    Args:
        text: A canonical memory, or a clause of one; not empty.
    """
    words = text.split()
    at = verb_place(words)
    if at is None:
        return False
    verb, behind = _bare(words[at]), [_bare(word) for word in words[at + 1 :]]
    if not words[at][-1].isalnum():
        return False
    if verb in phrases()["verbs"]:
        return True
    if verb in phrase_set("past_verbs"):
        aside = verb not in phrase_set("also_adjectives") or not _subject_ends(behind)
        return aside and not (behind and behind[0] in phrase_set("finite_verbs"))
    if is_name(words[at]) or not behind:
        return at > 0 and _is_third_person(verb)
    if behind[0] in phrase_set("finite_verbs") or behind[0] in phrase_set("plural_verbs"):
        return False
    if verb.endswith("ed"):
        return len(verb) > 3 and bool(past_lemma(verb))
    return _is_third_person(verb) and (is_known_verb(verb) or not _subject_ends(behind))


def verb_place(words: Sequence[str]) -> int | None:
    """Index of the first word that is no adverb; None where all are."""
    for i, word in enumerate(words):
        if _bare(word) not in phrase_set("adverbs"):
            return i
    return None


def is_known_verb(word: str) -> bool:
    """Whether a word in -s is the third person of a verb of the tables."""
    return base_form(word) in _known_verbs() and word.endswith("s")


def is_name(word: str) -> bool:
    """Whether a word is a given name."""
    return _bare(word).removesuffix("'s") in people_lexicon("en").names


def leans(clause: str) -> bool:
    """Whether a clause begins with a pronoun whose noun is in no memory ("His name's Bo")."""
    return _bare(clause.split()[0]).partition("'")[0] in phrase_set("leaning")


@cache
def _known_verbs() -> frozenset[str]:
    lists = (VERB_LISTS["ends_in_e"], PAST.values(), surface_lexicon("en").carried_verbs)
    return frozenset(word for words in lists for word in words) - phrase_set("also_nouns")


def _is_third_person(word: str) -> bool:
    """Whether a word has the ending of a third person and is no other word in -s."""
    if not word.endswith("s") or word.endswith(("ss", "'s", "us", "is")):
        return False
    return word not in phrase_set("no_verbs") and word[:-1] not in phrase_set("relations")


def _subject_ends(behind: Sequence[str]) -> bool:
    """Whether a finite verb follows soon: what stands before it is its subject."""
    for word in behind[:_NOUN_WORDS]:
        if word in phrase_set("clause_openers"):
            return False
        if word in phrase_set("finite_verbs") or word in phrase_set("plural_verbs"):
            return True
    return False


def _has_verb(words: Sequence[str]) -> bool:
    """Whether some words have a finite verb."""
    for before, word in pairwise(words):
        plain = _bare(word)
        if plain in phrase_set("finite_verbs") or plain in phrase_set("plural_verbs"):
            return True
        if plain in phrases()["verbs"] or plain.endswith("n't") or is_known_verb(plain):
            return True
        if past_lemma(plain) and _bare(before) not in phrase_set("before_nouns"):
            return True
        if before.endswith(_POSSESSIVE) and (
            plain in phrase_set("before_nouns") | phrase_set("behind_is")
            or plain.endswith(("ing", "ed"))
            or plain.isdigit()
        ):
            return True
    return _bare(words[0]).partition("'")[0] in phrase_set("leaning") and "'" in words[0]


def _is_told_of_one(words: Sequence[str]) -> bool:
    """Whether words begin with somebody and a form in -s or in -ed, or order something."""
    first = _bare(words[0])
    if first in ("always", "never"):
        return len(words) > 1
    if words[0].endswith(_POSSESSIVE) and len(words) == 2:
        return True  # "Paul's vegetarian"
    if first in phrase_set("clause_openers"):
        return len(words) > 3  # "when it rains, the cellar floods"
    if first not in ("the", "everyone", "everybody", "nobody", "people") and not is_name(words[0]):
        return False
    behind = [_bare(word) for word in words[1 : 2 + _NOUN_WORDS]]
    if behind[:1] == ["and"]:
        return len(behind) > 2  # "Bram and Lotte split up"
    often = not phrase_set("adverbs").isdisjoint(behind)  # "the spare drivers always wait"
    return often or any(
        (_is_third_person(word) or word in phrase_set("past_verbs") or word in PAST)
        and word not in phrase_set("before_nouns")
        for word in behind
    )


def _bare(word: str) -> str:
    return word.casefold().replace("’", "'").strip('.,;:!?"()')
