"""What a user asks of memory itself, in few words: to erase for good, to go off the record."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal, get_args

import re2

from bmo.gate.orders import read_order
from bmo.language import clean, spoken

Wish = Literal["yes", "no", "off_record", "on_record", "record_state"]

_ASIDES = frozenset(
    "bmo hey um uh please now oh well so just ok okay right then love duck pet mate thanks bitte "
    "danke also gut bon alors merci bueno vale gracias".split()
)


_LATEST = 32
"""Utterances whose answers are kept: a turn is asked about four times."""


@cache
def _table() -> Mapping[str, Any]:
    source = resources.files("bmo.memory") / "answers.toml"
    return tomllib.loads(source.read_text("utf-8"))


@cache
def _phrases(kind: str) -> tuple[str, ...]:
    """The phrases of a kind, as they are compared."""
    return tuple(map(spoken, _table().get(kind, ())))


@cache
def _patterns() -> Mapping[Wish, Any]:
    """What is said in more ways than a list can hold, by what it asks for."""
    return {wish: re2.compile("|".join(said)) for wish, said in _table()["patterns"].items()}


@cache
def _lasting() -> tuple[tuple[str, str], ...]:
    """How long something is to last: as it is said, and without asides."""
    return tuple((f" {s}", f" {_without_asides(s)}") for s in _phrases("for_a_while"))


@cache
def _wishes() -> Mapping[str, Wish]:
    """Whole utterance -> what it asks for."""
    return {phrase: wish for wish in get_args(Wish) for phrase in _phrases(wish)}


@lru_cache(maxsize=_LATEST)
def keeps_nothing(text: str) -> bool:
    """Whether an utterance says of itself that it is not to be kept: it alone is not.

    Before the rest ("off the record i am ...", "don't remember this i am ...") or behind it
    ("i am ... but don't write that down", see ``bmo/gate/orders.py``).
    """
    if wish_of(text) is not None:
        return False  # "off the record for a minute" is about what comes
    first = _without_asides(spoken(text[:200]))
    if any(first.startswith(f"{phrase} ") for phrase in _phrases("unkept_before")):
        return True
    order = read_order(clean(text))
    return order is not None and order.kind == "unkept"


@lru_cache(maxsize=_LATEST)
def wish_of(text: str) -> Wish | None:
    """What the whole utterance asks for, or None.

    Names and fillers around the phrase are passed over.
    """
    if len(text) > 120:
        return None
    words = spoken(text)
    bare = _without_asides(words)
    listed = _wishes().get(words) or _wishes().get(bare) or _off_record_for_a_while(words, bare)
    patterns = _patterns().items()
    return listed or next((wish for wish, said in patterns if said.fullmatch(bare)), None)


def _off_record_for_a_while(words: str, bare: str) -> Wish | None:
    """Off the record, said with how long it is to last; it lasts until it is taken back."""
    for said, end in _lasting():
        if bare.endswith(end) and said in words:
            if _wishes().get(bare.removesuffix(end)) == "off_record":
                return "off_record"
    return None


def _without_asides(words: str) -> str:
    return " ".join(word for word in words.split() if word not in _ASIDES)
