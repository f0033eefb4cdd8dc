"""What a user asks of memory itself, in few words: to erase for good, to go off the record."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Literal, get_args

from bmo.language import clean

Wish = Literal["yes", "no", "off_record", "on_record"]

_ASIDES = frozenset(
    {"bmo", "hey", "um", "uh", "please", "now", "oh", "well", "so", "just", "ok", "okay", "right"}
)


_ENDS = frozenset({"bmo", "thanks", "ok", "okay", "danke", "merci", "gracias"})

_SAID_BY_OTHERS = frozenset({"was", "is", "were", "it", "went", "go", "going", "talk", "speak"})
"""Before "off the record" at the end these tell of something ("he said it off the record")."""


@lru_cache(maxsize=1)
def _answers() -> dict[str, list[str]]:
    source = resources.files("bmo.memory") / "answers.toml"
    raw: dict[str, list[str]] = tomllib.loads(source.read_text("utf-8"))
    return {kind: [spoken(phrase) for phrase in phrases] for kind, phrases in raw.items()}


@lru_cache(maxsize=1)
def _phrases() -> dict[str, Wish]:
    return {phrase: wish for wish in get_args(Wish) for phrase in _answers()[wish]}


def spoken(text: str) -> str:
    """The words of a transcript without case and punctuation: what LiveKit compares as well."""
    kept = clean(text).replace("'", "").replace("’", "")
    return " ".join("".join(c if c.isalnum() else " " for c in kept.casefold()).split())


def keeps_nothing(text: str) -> bool:
    """Whether an utterance says of itself that it is not to be kept: it alone is not.

    Before the rest ("off the record i am ...", "don't remember this i am ...") or behind it
    ("i am ... but don't write that down").

    Args:
        text: The user's words.
    """
    if wish_of(text) is not None:
        return False  # "off the record for a minute" is about what comes
    first = [word for word in spoken(text[:200]).split() if word not in _ASIDES]
    for phrase in _answers()["unkept_before"]:
        words = phrase.split()
        if len(first) > len(words) and first[: len(words)] == words:
            return True
    last = [word for word in spoken(text[-200:]).split() if word not in _ENDS]
    for phrase in _answers()["unkept_after"]:
        words = phrase.split()
        if len(last) > len(words) and last[-len(words) :] == words:
            return last[-len(words) - 1] not in _SAID_BY_OTHERS
    return False


def wish_of(text: str) -> Wish | None:
    """What the whole utterance asks for, or None.

    Args:
        text: The user's words; names and fillers around the phrase are passed over.
    """
    if len(text) > 120:
        return None
    words = spoken(text)
    found = _phrases().get(words) or _phrases().get(_without_asides(words))
    return found or _off_record_for_a_while(words)


def _off_record_for_a_while(words: str) -> Wish | None:
    """Off the record, said with how long it is to last; it lasts until it is taken back."""
    for phrase in _answers()["for_a_while"]:
        rest = _without_asides(words).removesuffix(f" {_without_asides(phrase)}")
        if f" {phrase}" in words and _phrases().get(rest) == "off_record":
            return "off_record"
    return None


def _without_asides(words: str) -> str:
    return " ".join(word for word in words.split() if word not in _ASIDES)
