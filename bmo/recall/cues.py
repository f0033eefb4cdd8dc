"""Cues: what a turn says of memory in so many words, read from ``cues.toml``.

One set of patterns serves all languages: each is a phrase that only one of them has.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import re2

from bmo.language import MAX_CHARACTERS, spoken

_OWN = ("my ", "our ", "mein", "unser", "mon ", "ma ", "mes ", "notre ", "nos ", "mi ", "mis ")
"""How a topic begins that is the speaker's own, in any of the languages."""

_WHOLE = frozenset({"about_me", "about", "prompt", "own_fact"})
"""Cues of several words, which are told without their accents too; "ou" alone is no "où"."""
_BARE = dict(zip("áéíóúñèêàùç", "aeiouneeauc", strict=True))
_ACCENTED = re.compile(rf"[{''.join(_BARE)}](?![^\[]*\])")


@dataclass(frozen=True, slots=True)
class Cues:
    """What one turn says.

    Attributes:
        text: The words alone: lower-case, without punctuation and apostrophes.
        seen: Names of the cues ("about_me", "prompt", "past", "full", "question" ...).
        slots: Plain slots that a certain question about oneself asks for.
        topic: Who or what is asked about as a whole ("my sister", "ines"), or "".
        marked: Whether a question mark ends it.
    """

    text: str
    seen: frozenset[str]
    slots: tuple[str, ...]
    topic: str
    marked: bool

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.marked or "question" in self.seen

    @property
    def about_own(self) -> bool:
        """Whether its topic is somebody or something of the speaker's."""
        return self.topic.startswith(_OWN) or self.topic == "my"


def read_cues(text: str) -> Cues:
    """Reads a turn.

    Args:
        text: The user's words, in any of the languages.
    """
    rules = _rules()
    plain = spoken(text[:MAX_CHARACTERS])
    padded = f" {plain} "
    hits = rules.patterns.Match(padded) or ()
    seen = frozenset(rules.owners[hit] for hit in hits)
    slots = tuple(dict.fromkeys(slot for hit in sorted(hits) for slot in rules.slots.get(hit, ())))
    topic = ""
    if "about" in seen:
        found = next(
            filter(None, (rules.topics[n].search(padded) for n in hits & rules.topics.keys())), None
        )
        topic = found.group("topic").strip() if found else ""
    return Cues(plain, seen, slots, topic, text.rstrip().endswith("?"))


@dataclass(frozen=True, slots=True)
class _Rules:
    patterns: Any
    owners: tuple[str, ...]
    slots: Mapping[int, tuple[str, ...]]
    topics: Mapping[int, Any]


@cache
def _rules() -> _Rules:
    source = resources.files("bmo.recall") / "cues.toml"
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 64 << 20
    patterns = re2.Set.SearchSet(options)
    owners: list[str] = []
    slots: dict[int, tuple[str, ...]] = {}
    topics: dict[int, Any] = {}
    for owner, pattern, of_slots in _rows(table):
        spaced = _spaced(_unaccented(pattern) if owner in _WHOLE else pattern)
        if owner == "about":
            topics[len(owners)] = re2.compile(spaced, options)
        if of_slots:
            slots[len(owners)] = of_slots
        patterns.Add(spaced)
        owners.append(owner)
    patterns.Compile()
    return _Rules(patterns, tuple(owners), slots, topics)


def _rows(table: Mapping[str, Any]) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    for owner in ("about_me", "about", "prompt"):
        yield from ((owner, pattern, ()) for pattern in table[owner])
    for row in table["own_fact"]:
        yield from (("own_fact", pattern, tuple(row["slots"])) for pattern in row["patterns"])
    for group in ("depth", "asks"):
        for owner, listed in table[group].items():
            yield from ((owner, pattern, ()) for pattern in listed)


def _unaccented(pattern: str) -> str:
    """The pattern for words with and without their accents: "cómo me llamo", "como me llamo"."""
    return _ACCENTED.sub(lambda found: f"[{found[0]}{_BARE[found[0]]}]", pattern)


def _spaced(pattern: str) -> str:
    """The pattern over padded words: it begins and ends at a space, or at an end of the turn."""
    begin, end = pattern.startswith("^"), pattern.endswith("$")
    body = pattern.removeprefix("^").removesuffix("$").replace(r"\w", "[^ ]")
    return (
        ("^ " if begin else " ")
        + f"(?:{body})"
        + (" $" if end else "(?: |$)" if not body.endswith(" ") else "")
    )
