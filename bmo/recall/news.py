"""News of a matter: a newer memory that says an older one of the same matter is so no longer.

What changed is often told in other words than those it replaces ("gone over to Highland Fuels for
the oil now"), so the older memory is still live and may be nearer to a question. Where it is
given, the newer one belongs beside it: both have their dates.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from bmo.recall.packs import function_words
from bmo.recall.relevance import words_of
from bmo.turn import StoredFact

HELD_BY: Final = 4
"""Memories that may hold a word by which two of them are of one matter, at most."""


@dataclass(frozen=True, slots=True)
class _Cues:
    """The table ``packs/changes.toml``."""

    words: re.Pattern[str]
    empty: frozenset[str]
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[tuple[str, str], ...]


def news_of(
    given: Iterable[StoredFact], among: Sequence[StoredFact], names: Collection[str] = ()
) -> dict[str, StoredFact]:
    """The newest news of each memory.

    Args:
        given: Memories that are given.
        among: Those that may be news of them.
        names: Lower-case names of who is asked about: sharing these is no common matter.

    Returns:
        Id of a memory that is given -> the newest memory that tells what became of its matter.
    """
    held = Counter(word for fact in among for word in _matter(fact))
    telling = [fact for fact in among if tells_change(fact.text)]
    found: dict[str, StoredFact] = {}
    for old in given:
        newer = [
            fact
            for fact in telling
            if fact.valid_from > old.valid_from and _of_one_matter(old, fact, held, names)
        ]
        if newer:
            found[old.id] = max(newer, key=lambda fact: (fact.valid_from, fact.id))
    return found


@lru_cache(maxsize=4096)
def tells_change(text: str) -> bool:
    """Whether a memory's text says that something is no longer as it was."""
    return cues().words.search(text.casefold()) is not None


def _of_one_matter(
    old: StoredFact, new: StoredFact, held: Mapping[str, int], names: Collection[str]
) -> bool:
    shared = (_matter(old) & _matter(new)).difference(names)
    return any(held[word] <= HELD_BY for word in shared)


def _matter(fact: StoredFact) -> frozenset[str]:
    """Words of a memory that tell what it is about."""
    return words_of(fact) - cues().empty - function_words().keys()


@cache
def cues() -> _Cues:
    """The table of words that tell a change, read once a process."""
    from bmo.ledger.values import content_words

    text = (
        resources.files("bmo.recall").joinpath("packs", "changes.toml").read_text(encoding="utf-8")
    )
    raw = tomllib.loads(text)
    words = "|".join(re.escape(cue) for cue in sorted(raw["words"], key=len, reverse=True))
    return _Cues(
        re.compile(rf"(?<!\w)(?:{words})(?!\w)"),
        frozenset(raw["empty"].split()) | content_words([raw["empty"], *raw["words"]]),
        tuple((old, new) for old, new in raw["examples"]),
        tuple((old, new) for old, new in raw["counter_examples"]),
    )
