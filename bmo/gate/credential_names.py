"""The names of credentials in a text: "my password", "der code", "le mot de passe".

They are data: ``tables/secrets.toml``, with what a value of each may look like.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import re2

from bmo.gate.tables import read_table

_WORD = re.compile(r"[^\W_]+")


class CredentialName(NamedTuple):
    """What a credential is called in ``Scan.kinds``, and how its value looks (see the table)."""

    kind: str
    value: str
    least: int
    beside: tuple[str, ...]


class NamedAt(NamedTuple):
    """The name of a credential in a text."""

    start: int
    end: int
    name: CredentialName


class _Names(NamedTuple):
    """All names by their words run together, and one pattern that finds the longest of them."""

    rows: dict[str, list[CredentialName]]
    endings: dict[str, list[CredentialName]]
    pattern: Any


def _as_said(phrase: str) -> set[str]:
    """A phrase, and with "me" for "my", as many say it."""
    return {phrase, " ".join("me" if word == "my" else word for word in phrase.split(" "))}


@cache
def _names() -> _Names:
    rows: dict[str, list[CredentialName]] = {}
    endings: dict[str, list[CredentialName]] = {}
    forms = set()
    for row in read_table("secrets.toml")["name"]:
        beside = tuple(row.get("beside", ()))
        name = CredentialName(row["kind"], row["value"], row.get("least", 4), beside)
        for phrase in (said for word in row["words"] for said in _as_said(word)):
            parts = _WORD.findall(phrase)
            key = "".join(parts)
            same = rows.setdefault(key, [])
            same.insert(0 if beside else len(same), name)
            if phrase[0] == "*":
                endings.setdefault(key, []).append(name)
            form = " *".join(parts).replace("wifi", "wi *fi")
            forms.add(rf"[\pL\pN]*{form}" if phrase[0] == "*" else form)
    options = re2.Options()
    options.longest_match = True
    options.max_mem = 64 << 20
    return _Names(rows, endings, re2.compile(f" (?:{'|'.join(sorted(forms))}) ", options))


def names_in(lower: str, words: Sequence[str]) -> Iterator[NamedAt]:
    """Every name of a credential in a text, the longest where several begin with one word.

    Args:
        lower: What somebody said or typed, in lower case.
        words: Its words.
    """
    names = _names()
    spaced, padded = f" {'  '.join(words)} ", f" {lower} "
    if names.pattern.search(spaced) is None:  # most texts
        return
    starts = [0, *accumulate(len(word) + 2 for word in words)]
    spans = [match.span() for match in _WORD.finditer(lower)]
    for match in names.pattern.finditer(spaced):
        first, last = bisect_left(starts, match.start()), bisect_left(starts, match.end()) - 1
        key = "".join(words[first : last + 1])
        rows = names.rows.get(key) or next(r for e, r in names.endings.items() if key.endswith(e))
        for name in rows:
            if not name.beside or any(beside in padded for beside in name.beside):
                yield NamedAt(spans[first][0], spans[last][1], name)
                break


def names_a_credential(word: str) -> bool:
    """Whether a word alone is the name of a credential."""
    return any(name.value != "none" for name in _names().rows.get(word, ()))
