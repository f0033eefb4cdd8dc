"""The names of credentials in a text: "my password", "der code", "le mot de passe".

They are data: ``tables/secrets.toml``, with what a value of each may look like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from bmo.gate.numerals import secret_table, spoken

_WORD = re.compile(r"[^\W_]+")
_CODED = re.compile(r"[\d_#@$%&*+=^]|[a-z][A-Z]|\w-\w+-\w")
"""What numbers and mixed values have, if they are not said in words."""


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
    """Names by their words run together.

    Attributes:
        rows: By these words.
        longest: The most words of a name by its first one.
        endings: Names that letters may stand before.
        telling: A text without one of these words has no name whose value may be any word; each
            with the words beside which alone it is one.
        coded: The same of all other names.
    """

    rows: dict[str, list[CredentialName]]
    longest: dict[str, int]
    endings: dict[str, list[CredentialName]]
    telling: dict[str, set[str]]
    coded: set[str]


@cache
def _names() -> _Names:
    names = _Names({}, {}, {}, {}, set())
    for row in secret_table()["name"]:
        beside = tuple(row.get("beside", ()))
        name = CredentialName(row["kind"], row["value"], row.get("least", 4), beside)
        for phrase in row["words"]:
            parts = _WORD.findall(phrase)
            key = "".join(parts)
            rows = names.rows.setdefault(key, [])
            rows.insert(0 if beside else len(rows), name)
            if name.value == "any":
                for word in (max(parts, key=len), key):
                    names.telling.setdefault(word, set()).update(beside or ("",))
            elif name.value != "none":
                names.coded.update((max(parts, key=len), key))
            if phrase[0] == "*":
                names.endings.setdefault(key, []).append(name)
            for first in (parts[0], key, "wi" if key.startswith("wifi") else key):
                names.longest[first] = max(names.longest.get(first, 1), len(parts) + 1)
    return names


def names_in(lower: str) -> Iterator[NamedAt]:
    """Every name of a credential in a text, the longest where several begin with one word."""
    names = _names()
    words = [(m.start(), m.end(), m.group()) for m in _WORD.finditer(lower)]
    fits = {beside: beside in lower for beside in _beside_words()}
    at = 0
    while at < len(words):
        start, _, word = words[at]
        key, size, name = "", 1, None
        for ahead in range(min(names.longest.get(word, 0), len(words) - at)):
            key += words[at + ahead][2]
            rows = names.rows.get(key, ())
            for row in rows:
                if not row.beside or any(fits[b] for b in row.beside):
                    size, name = ahead + 1, row
                    break
        if name is None and len(word) > 6:
            rows = next((r for e, r in names.endings.items() if word.endswith(e)), ())
            name = rows[0] if rows else None
        if name:
            yield NamedAt(start, words[at + size - 1][1], name)
        at += size


@cache
def _beside_words() -> frozenset[str]:
    return frozenset(b for rows in _names().rows.values() for row in rows for b in row.beside)


def may_name(text: str, lower: str, words: Sequence[str]) -> bool:
    """Whether a text may hold a secret beside the name of one: false of most, in microseconds.

    Args:
        text: What somebody said or typed.
        lower: The same in lower case.
        words: Its words in lower case.
    """
    names = _names()
    telling = names.telling.keys() & words
    if any(beside in lower for word in telling for beside in names.telling[word]):
        return True
    if any(ending in lower for ending in names.endings):
        return True
    return not names.coded.isdisjoint(words) and bool(_CODED.search(text) or spoken(words))


def names_a_credential(word: str) -> bool:
    """Whether a word alone is the name of a credential."""
    return any(name.value != "none" for name in _names().rows.get(word, ()))
