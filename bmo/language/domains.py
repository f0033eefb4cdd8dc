"""Topics of a text, by its words: what the read gate compares and memories are filed under."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import resources

from bmo.language.words import words

_LEAST_STEM = 3


def domains_of(text: str) -> tuple[str, ...]:
    """The topics of a text, the one with most words first; usually none or one.

    Args:
        text: Words in any of the languages.
    """
    exact, stems = _tables()
    found: Counter[str] = Counter()
    for word in words(text):
        topic = exact.get(word)
        for length in range(len(word), _LEAST_STEM - 1, -1):
            topic = topic or stems.get(word[:length])
        if topic:
            found[topic] += 1
    return tuple(topic for topic, _ in sorted(found.items(), key=lambda one: (-one[1], one[0])))


def domain_of(text: str) -> str | None:
    """The topic that a memory with this text is filed under, or None."""
    return next(iter(domains_of(text)), None)


def topics() -> frozenset[str]:
    """Every topic there is a word for."""
    exact, stems = _tables()
    return frozenset((*exact.values(), *stems.values()))


@cache
def _tables() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Whole words, and beginnings of words ("allerg*"), each with its topic."""
    source = resources.files("bmo.language") / "data" / "domains.toml"
    exact: dict[str, str] = {}
    stems: dict[str, str] = {}
    for topic, listed in tomllib.loads(source.read_text(encoding="utf-8")).items():
        for word in listed.split():
            (stems if word.endswith("*") else exact)[word.removesuffix("*")] = topic
    return exact, stems
