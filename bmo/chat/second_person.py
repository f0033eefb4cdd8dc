"""A canonical memory as a sentence for the person it is about. Pure."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from bmo.gate import people_lexicon

UNTIL = re.compile(r"^(?P<text>.+?) \(until (?P<day>[\d-]+), no longer true\)$")
"""A memory that has ended, as it stands in a block."""
NAMED = re.compile(r"^Has an? (?P<who>[\w' -]+?) (?:named|called) (?P<name>[^,;]{1,40})$")
"""Somebody's name."""
OWN_NAME = re.compile(r"^(?:Is (?:named|called)|Name is|Goes by)\s+(?P<name>\w[\w' -]{0,30})$")
"""The person's own name."""
_CALLED = re.compile(r"^[A-Z][a-z]+ is (?:called|named) [A-Z]")
_ASSISTANT = re.compile(r"\bthe assistant(?=\b(?!'s))")
_THEM = re.compile(r"\bthem\b")
_POSSESSIVE = re.compile(r"^[^\W\d_]+['’]s ")
_OTHERS_JOB = re.compile(r"\b(?:lost|left|quit) their job\b")
_OWN = (
    (re.compile(r"\btheirs\b"), "yours"),
    (re.compile(r"\btheir\b"), "your"),
    (re.compile(r"\bthemselves\b"), "yourself"),
)


@cache
def phrases() -> dict[str, Any]:
    """The words of ``phrases.toml``."""
    text = (files("bmo.chat") / "phrases.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def phrase_set(name: str) -> frozenset[str]:
    """One list of ``phrases.toml``, for words without case."""
    return frozenset(phrase.casefold() for phrase in phrases()[name])


def second_person(memory: str) -> str:
    """A canonical memory as a sentence for the person it is about.

    Args:
        memory: Third person without a subject word for the user ("Is allergic to nuts").

    Returns:
        A sentence ("You are allergic to nuts.").
    """
    ended = UNTIL.match(memory.strip())
    if ended:
        return f"Until {ended['day']}: {second_person(ended['text'])}"
    if memory[:1].islower():
        # No canonical memory but the person's own words, as MEM0_SETTING=NORMAL keeps them.
        return f"You said: {memory.strip()!r}."
    text = memory.strip().rstrip(".")
    if not text.strip():
        return ""
    if _ASSISTANT.search(text):
        text = _THEM.sub("you", _ASSISTANT.sub("me", text).replace("the assistant's", "my"))
    if _OTHERS_JOB.search(text) is None or not _begins_with_relation(text):
        for pattern, own in _OWN:
            text = pattern.sub(own, text)
    own_name = OWN_NAME.match(text)
    if own_name:
        return f"Your name is {own_name['name'].strip()}."
    named = NAMED.match(text)
    if named and " " not in named["name"].strip():
        return f"Your {named['who']} is named {named['name'].strip()}."
    if _begins_with_relation(text) or _CALLED.match(text):
        return f"Your {text[0].lower()}{_THEM.sub('you', text[1:])}."
    if is_about_the_person(text):
        return _of_the_person(text)
    if _POSSESSIVE.match(text) and _THEM.search(text) and not _is_name(text.split()[0]):
        return f"Your {text[0].lower()}{_THEM.sub('you', text[1:])}."  # "Knee's been giving them"
    return f"{text}."


def _begins_with_relation(text: str) -> bool:
    words = [word.casefold().removesuffix("'s").removesuffix("’s") for word in text.split()[:2]]
    of_one = phrase_set("of_a_relation")
    return words[0] in phrase_set("relations") or (
        len(words) > 1 and words[0] in of_one and words[1] in phrase_set("relations")
    )


def is_about_the_person(text: str) -> bool:
    """Whether a memory begins with the person's verb ("Lives in ...") and not with somebody.

    A canonical memory has no subject word for the person: what begins with no verb begins with
    its subject.

    Args:
        text: A canonical memory, not empty.
    """
    words = text.split()
    verb, adverbial = _verb_of(words)
    following = words[words.index(verb) + 1].casefold() if verb != words[-1] else ""
    if not verb[-1].isalnum() or following in phrase_set("finite_verbs"):
        return False
    plain = verb.casefold()
    if plain in phrases()["verbs"] or plain in phrase_set("past_verbs"):
        return True
    if verb[:1].isupper() and _is_name(verb):
        return False
    inflected = plain.endswith("s") or (plain.endswith("ed") and len(plain) > 3)
    return inflected and not plain.endswith(("'s", "’s", "ss")) and (len(words) > 1 or adverbial)


def _verb_of(words: list[str]) -> tuple[str, bool]:
    """The first word that is no adverb, and whether adverbs stand before it."""
    for i, word in enumerate(words):
        if word.casefold() not in phrase_set("adverbs"):
            return word, i > 0
    return words[-1], False


def _of_the_person(text: str) -> str:
    words = text.split()
    adverbs = []
    while len(words) > 1 and words[0].casefold() in phrase_set("adverbs"):
        adverbs.append(words.pop(0).casefold())
    words[0] = _second_person_verb(words[0].casefold())
    return f"You {' '.join([*adverbs, *words])}."


def _is_name(word: str) -> bool:
    bare = word.casefold().removesuffix("'s").removesuffix("’s")
    return bare in people_lexicon("en").names


def _second_person_verb(verb: str) -> str:
    irregular: dict[str, str] = phrases()["verbs"]
    if verb in irregular:
        return irregular[verb]
    if not verb.endswith("s") or verb.endswith("ss"):
        return verb
    if verb.endswith("ies"):
        return verb[:-1] if len(verb) <= 4 else f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]
