"""By which name the assistant addresses the user: "Hello, Margaret." speaks of nobody else.

A pronoun of the user's turn looks for a person among the assistant's words. The name the user is
called by there is the one person of whom the user never says "she".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from bmo.gate.pack_tables import read_table
from bmo.gate.people import people_lexicon
from bmo.turn import Fact

_NAME = r"([A-Z][^\W\d_]+(?:['’-][^\W\d_]+)*)"
_AT_END = re.compile(r"(\w+), " + _NAME + r"\s*(?:[.!?]|$)")


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """What ``addressed_names.toml`` says.

    Attributes:
        greeted: A greeting with a name: "Good morning, Margaret!".
        at_front: A name and what asks or tells its bearer something: "Margaret, do you need it?".
        said_of: Words before a comma behind which a name is spoken of.
    """

    greeted: re.Pattern[str]
    at_front: re.Pattern[str]
    said_of: frozenset[str]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    raw = read_table("en", "addressed_names.toml")
    before, greetings, behind, asking, asked, telling = (
        f"(?:{'|'.join(map(re.escape, raw[name]))})"
        for name in (
            "before_greeting",
            "greetings",
            "behind_greeting",
            "asking",
            "asked",
            "telling",
        )
    )
    greeted = (
        rf"(?:^|[.!?…]\s+|\boh )(?:{before} )?{greetings}(?: {behind})?,? {_NAME}"
        r"(?=\s*(?:[.!?,;:–—-]|$))"
    )
    at_front = rf"(?:^|[.!?]\s+){_NAME}, (?:{asking}\s+{asked}|{telling})\b"
    return _Lexicon(
        re.compile(greeted, re.IGNORECASE),
        re.compile(at_front, re.IGNORECASE),
        frozenset(raw["said_of"]),
    )


def addressed(before: str) -> frozenset[str]:
    """Names, lower-case, by which the assistant addresses the user in its words before a turn.

    Args:
        before: The assistant's words; names written large.
    """
    lexicon = _lexicon()
    if "," not in before and not lexicon.greeted.search(before):
        return frozenset()
    kin = people_lexicon("en").last
    found = {name for name in lexicon.greeted.findall(before) if name[:1].isupper()}
    found.update(name for name in lexicon.at_front.findall(before) if name[:1].isupper())
    for word, name in _AT_END.findall(before):
        said = word.lower()
        # "your sister, Elaine?" and "Noah, Maya." name others.
        if said not in kin and said not in lexicon.said_of and not word[:1].isupper():
            found.add(name)
    return frozenset(name.lower() for name in found)


def own_names(facts: Iterable[Fact]) -> frozenset[str]:
    """The user's own names, lower-case, among facts.

    Args:
        facts: Facts of the user and others.
    """
    return frozenset(
        fact.value.lower()
        for fact in facts
        if fact.subject == "user" and fact.slot in ("name", "nickname", "called") and fact.value
    )
