"""What a user asks of memory itself, in few words: to erase for good, to go off the record."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Literal

from bmo.language import clean

Wish = Literal["yes", "no", "off_record", "on_record"]

_ASIDES = frozenset(
    {"bmo", "hey", "um", "uh", "please", "now", "oh", "well", "so", "just", "ok", "okay", "right"}
)


_OFF_FOR_ONE = ("off", "the", "record")


@lru_cache(maxsize=1)
def _phrases() -> dict[str, Wish]:
    source = resources.files("bmo.memory") / "answers.toml"
    raw: dict[Wish, list[str]] = tomllib.loads(source.read_text("utf-8"))  # type: ignore[assignment]  # the file's four keys
    return {spoken(phrase): wish for wish, phrases in raw.items() for phrase in phrases}


def spoken(text: str) -> str:
    """The words of a transcript without case and punctuation: what LiveKit compares as well."""
    kept = clean(text).replace("'", "").replace("’", "")
    return " ".join("".join(c if c.isalnum() else " " for c in kept.casefold()).split())


def keeps_nothing(text: str) -> bool:
    """Whether an utterance begins with "off the record" and goes on: it alone is not kept."""
    words = [word for word in spoken(text[:200]).split() if word not in _ASIDES]
    return len(words) > len(_OFF_FOR_ONE) and tuple(words[: len(_OFF_FOR_ONE)]) == _OFF_FOR_ONE


def wish_of(text: str) -> Wish | None:
    """What the whole utterance asks for, or None.

    Args:
        text: The user's words; names and fillers around the phrase are passed over.
    """
    if len(text) > 120:
        return None
    words = spoken(text)
    found = _phrases().get(words)
    if found is None:
        found = _phrases().get(" ".join(w for w in words.split() if w not in _ASIDES))
    return found
