"""Topics: what a question and a memory may have in common without sharing a word.

A small embedder sees little between "what could I order at an Italian place" and "no gluten"; the
table ``packs/topics.toml`` says that one asks about food and the other tells of food. It is one
table for all languages: memories that no rule translates keep the words they were said in.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from pydantic import BaseModel, ConfigDict

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SHORTEST_STEM: Final = 3
_COMPOUND: Final = 7
"""Letters from which a word may be a compound that holds another."""


class TopicRow(BaseModel):
    """One topic of the table, as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[tuple[str, str], ...] = ()
    like: tuple[str, ...] = ()
    asked: str = ""
    told: str = ""
    both: str = ""


@dataclass(frozen=True, slots=True)
class _Side:
    """Words, beginnings and inner parts of one side (asked or told) -> topics."""

    words: Mapping[str, frozenset[str]]
    stems: Mapping[str, frozenset[str]]
    inner: Mapping[str, frozenset[str]]

    def of(self, word: str) -> frozenset[str]:
        """The topics of a lower-case word."""
        found = self.words.get(word, frozenset())
        for length in range(_SHORTEST_STEM, len(word) + 1):
            found |= self.stems.get(word[:length], frozenset())
        if len(word) >= _COMPOUND:
            for part, topics in self.inner.items():
                if part in word:
                    found |= topics
        return found


def topics_asked(text: str) -> frozenset[str]:
    """Topics that a turn asks about."""
    return _of(_sides()[0], text)


@lru_cache(maxsize=4096)
def topics_told(text: str) -> frozenset[str]:
    """Topics that a memory tells of."""
    return _of(_sides()[1], text)


def _of(side: _Side, text: str) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for word in _WORD.findall(text.casefold()):
        found |= side.of(word)
    return found


@cache
def topic_rows() -> Mapping[str, TopicRow]:
    """The table: topic -> its words and examples."""
    path = resources.files("bmo.recall").joinpath("packs", "topics.toml")
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {topic: TopicRow.model_validate(row) for topic, row in table.items()}


@cache
def _sides() -> tuple[_Side, _Side]:
    rows = topic_rows()
    asked = _side(
        (topic, f"{part.asked} {part.both}")
        for topic, row in rows.items()
        for part in (row, *(rows[other] for other in row.like))
    )
    told = _side((topic, f"{row.told} {row.both}") for topic, row in rows.items())
    return asked, told


def _side(lists: Iterable[tuple[str, str]]) -> _Side:
    words: dict[str, frozenset[str]] = {}
    stems: dict[str, frozenset[str]] = {}
    inner: dict[str, frozenset[str]] = {}
    for topic, entries in lists:
        for entry in entries.casefold().split():
            bare = entry.strip("*")
            table = inner if entry[0] == "*" else stems if entry[-1] == "*" else words
            table[bare] = table.get(bare, frozenset()) | {topic}
    return _Side(words, stems, inner)
