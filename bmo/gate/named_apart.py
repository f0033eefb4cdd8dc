"""Two of a kind who are named one by one: "two dogs one is called rex and the other bella".

The rules of names read "two dogs rex and bella" and "a cat called monty and a cat called sooty";
what is said of "the one" and "the other" is written so. The constructions are data
(``packs/<language>/named_apart.toml``): regular expressions over a turn's words, with ``{kind}``
for whoever there are two of, ``{a}`` and ``{b}`` for their names, ``{of_a}`` and ``{of_b}`` for
what is said of each.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from bmo.gate.ellipsis import written_with
from bmo.gate.pack_tables import read_table
from bmo.gate.people import PeopleLexicon
from bmo.language import LanguageCode, Words

_NAME = r"[^\W\d_]{2,}"
_GROUPS = {
    "{kind}": r"(?P<kind>[^\W\d_]+)",
    "{kind2}": r"(?P<kind2>[^\W\d_]+)",
    "{a}": f"(?P<a>{_NAME})",
    "{b}": f"(?P<b>{_NAME})",
    "{with}": r"(?P<with>[^\W\d_]+)",
    "{article}": r"(?P<article>[^\W\d_]+)",
    "{article2}": r"(?P<article2>[^\W\d_]+)",
    "{of_a}": r"(?P<of_a>[^\W\d_]+(?: [^\W\d_]+){1,6}?)",
    "{of_b}": r"(?P<of_b>[^\W\d_]+(?: [^\W\d_]+){1,6})",
}


@dataclass(frozen=True, eq=False)
class NamedApart:
    """``packs/<language>/named_apart.toml``.

    Attributes:
        tells: Words of which one stands in every construction.
        rewrites: What is said, and what is read in its place: words, or ``{group}``.
        no_names: Words that are no name where one is looked for.
    """

    tells: frozenset[str]
    rewrites: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
    no_names: frozenset[str]


@cache
def named_apart(language: LanguageCode) -> NamedApart | None:
    """The constructions of ``language``; None where the pack has none."""
    raw = read_table(language, "named_apart.toml")
    if not raw:
        return None
    rewrites = []
    for rewrite in raw["rewrite"]:
        pattern = rewrite["said"]
        for group, expression in _GROUPS.items():
            pattern = pattern.replace(group, expression)
        rewrites.append(
            (re.compile(rf"(?<!\S)(?:{pattern})(?!\S)"), tuple(rewrite["read"].split()))
        )
    return NamedApart(frozenset(raw["tells"]), tuple(rewrites), frozenset(raw["no_names"]))


def telling_words(language: LanguageCode) -> frozenset[str]:
    """Words of which one stands wherever two are named one by one."""
    table = named_apart(language)
    return table.tells if table is not None else frozenset()


def with_both_named(spoken: Words, people: PeopleLexicon, language: LanguageCode) -> Words:
    """The words with both names where the rules look for them; else as they are.

    Args:
        spoken: Repaired words of a turn.
        people: Relations of ``language``.
        language: Whose constructions apply.
    """
    table = named_apart(language)
    if table is None or not spoken.norm:
        return spoken
    line = " ".join(spoken.norm)
    for pattern, read in table.rewrites:
        hit = pattern.search(line)
        if hit is None or not table.no_names.isdisjoint((hit["a"], hit["b"])):
            continue
        kinds = [kind for group, kind in hit.groupdict().items() if group.startswith("kind")]
        if all(people.relation_at([kind], 0, 1) is not None for kind in kinds):
            return _read(spoken, hit, read)
    return spoken


def _read(spoken: Words, hit: re.Match[str], read: Sequence[str]) -> Words:
    """The words with what is read in the place of what was said; "." ends a clause."""
    ends = list(accumulate(len(word) + 1 for word in spoken.norm))

    def places(group: str | int) -> range:
        first, last = hit.start(group), hit.end(group) - 1
        return range(bisect_right(ends, first), bisect_right(ends, last) + 1)

    said = places(0)
    put: list[int | str] = list(range(said.start))
    closing: set[int] = set()
    for part in read:
        if part == ".":
            closing.add(len(put) - 1)
        elif part.startswith("{"):
            put += places(part[1:-1])
        else:
            put.append(part)
    put += range(said.stop, len(spoken))
    told = written_with(spoken, put)
    marks = [spoken.after[part] if isinstance(part, int) else "" for part in put]
    for place in closing:
        marks[place] = "."
    return Words(told.text, told.norm, told.start, told.end, marks, spoken.before)
