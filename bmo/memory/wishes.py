"""What a user asks of memory itself, in few words: to erase for good, to go off the record."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal, get_args

from bmo.language import spoken

Wish = Literal["yes", "no", "off_record", "on_record"]

_ASIDES = frozenset(
    {"bmo", "hey", "um", "uh", "please", "now", "oh", "well", "so", "just", "ok", "okay", "right"}
)


_LATEST = 32
"""Utterances whose answers are kept: a turn is asked about four times."""

_ENDS = frozenset({"bmo", "thanks", "ok", "okay", "danke", "merci", "gracias"})

_SAID_BY_OTHERS = frozenset({"was", "is", "were", "it", "went", "go", "going", "talk", "speak"})
"""Before "off the record" at the end these tell of something ("he said it off the record")."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """The phrases of ``answers.toml``, made ready: this runs several times a turn on event loops.

    Attributes:
        wishes: Whole utterance -> what it asks for.
        for_a_while: How long it is to last, each as it is said and without asides.
        ends: The latter alone.
        unkept_before: What makes an utterance unkept at its begin, by the first word.
        unkept_after: The same at its end, by the last word.
    """

    wishes: Mapping[str, Wish]
    for_a_while: tuple[tuple[str, str], ...]
    ends: tuple[str, ...]
    unkept_before: Mapping[str, tuple[list[str], ...]]
    unkept_after: Mapping[str, tuple[list[str], ...]]


@lru_cache(maxsize=1)
def _answers() -> _Answers:
    source = resources.files("bmo.memory") / "answers.toml"
    raw: dict[str, list[str]] = tomllib.loads(source.read_text("utf-8"))
    said = {kind: [spoken(phrase) for phrase in phrases] for kind, phrases in raw.items()}
    lasting = tuple((f" {each}", f" {_without_asides(each)}") for each in said["for_a_while"])
    return _Answers(
        wishes={phrase: wish for wish in get_args(Wish) for phrase in said[wish]},
        for_a_while=lasting,
        ends=tuple(bare for _, bare in lasting),
        unkept_before=_by_word(said["unkept_before"], 0),
        unkept_after=_by_word(said["unkept_after"], -1),
    )


def _by_word(phrases: Iterable[str], place: int) -> Mapping[str, tuple[list[str], ...]]:
    found: dict[str, tuple[list[str], ...]] = {}
    for phrase in phrases:
        words = phrase.split()
        found[words[place]] = (*found.get(words[place], ()), words)
    return found


@lru_cache(maxsize=_LATEST)
def keeps_nothing(text: str) -> bool:
    """Whether an utterance says of itself that it is not to be kept: it alone is not.

    Before the rest ("off the record i am ...", "don't remember this i am ...") or behind it
    ("i am ... but don't write that down").

    Args:
        text: The user's words.
    """
    if wish_of(text) is not None:
        return False  # "off the record for a minute" is about what comes
    answers = _answers()
    first = [word for word in spoken(text[:200]).split() if word not in _ASIDES]
    for words in answers.unkept_before.get(first[0], ()) if first else ():
        if len(first) > len(words) and first[: len(words)] == words:
            return True
    last = [word for word in spoken(text[-200:]).split() if word not in _ENDS]
    for words in answers.unkept_after.get(last[-1], ()) if last else ():
        if len(last) > len(words) and last[-len(words) :] == words:
            return last[-len(words) - 1] not in _SAID_BY_OTHERS
    return False


@lru_cache(maxsize=_LATEST)
def wish_of(text: str) -> Wish | None:
    """What the whole utterance asks for, or None.

    Args:
        text: The user's words; names and fillers around the phrase are passed over.
    """
    if len(text) > 120:
        return None
    words = spoken(text)
    bare = _without_asides(words)
    wishes = _answers().wishes
    return wishes.get(words) or wishes.get(bare) or _off_record_for_a_while(words, bare)


def _off_record_for_a_while(words: str, bare: str) -> Wish | None:
    """Off the record, said with how long it is to last; it lasts until it is taken back."""
    answers = _answers()
    if not bare.endswith(answers.ends):
        return None
    for said, end in answers.for_a_while:
        if said in words and answers.wishes.get(bare.removesuffix(end)) == "off_record":
            return "off_record"
    return None


def _without_asides(words: str) -> str:
    return " ".join(word for word in words.split() if word not in _ASIDES)
