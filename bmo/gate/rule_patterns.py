"""Patterns of rules: ``S (live|be living) in {v:PLACE}`` as a regular expression and its keys.

Format: ``docs/rules-and-languages.md``. Beside the expression stands what tells without it that a
head cannot match: the first words, words that must stand in it, where a lexicon's entry begins.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Lexicons = Mapping[str, frozenset[tuple[str, ...]]]
"""Word lists of a pack by name, their entries as words."""

_ELEMENT = re.compile(
    r"\{(\w+):([A-Za-z_]+)\}|\{(\w+)=([a-z_]+)\}|<([a-z_]+)>|\(([^()]*)\)(\?)?|(\S+)"
)
_REST = r"(?:\S+ )+"
_KEY_WORDS = 3
_MOST_PLACES = 12
"""At more places an entry is not looked for before the expression is."""
SKIPPED_BEFORE_ENTRY = frozenset({"a", "an", "the", "very", "really", "quite", "pretty", "so"})
"""Words that a capture of a lexicon's entry passes over."""


class PackError(ValueError):
    """A pack is wrong; the message names file, rule and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One compiled pattern.

    Attributes:
        source: As written.
        regex: Matches a clause's head string (words joined by spaces, one behind each).
        captures: (name, type) in order.
        entry_at: Where in the head the entry of a lexicon may begin that the first capture takes;
            empty when that may be anywhere.
        entry_words: The first words of that lexicon's entries, each with the words of which one
            must follow, or none where the word alone is an entry.
        needed: Words of which one stands in every head that matches; empty when none is certain.
    """

    source: str
    regex: re.Pattern[str]
    captures: tuple[tuple[str, str], ...]
    entry_at: tuple[int, ...] = ()
    entry_words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    needed: frozenset[str] = frozenset()


def compile_pattern(source: str, lexicons: Lexicons) -> tuple[Pattern, set[tuple[str, ...]]]:
    """Compiles a pattern and says under which first words it is to be found.

    Args:
        source: For example ``S (live|be living) in {v:PLACE}``.
        lexicons: Word lists that ``<name>`` refers to.

    Returns:
        The pattern and its index keys.

    Raises:
        PackError: A lexicon is unknown, or nothing stands before the first capture.
    """
    parts: list[str] = []
    captures: list[tuple[str, str]] = []
    keys = _Keys()
    exact: int | None = 0  # words before this element, while that is certain
    places = {0}  # numbers of words that may stand before this element, while they are few
    entry_at, entry_words = tuple[int, ...](), dict[str, frozenset[str]]()
    needed = frozenset[str]()
    elements = list(_ELEMENT.finditer(source))
    for position, element in enumerate(elements):
        name, kind, entry, source_list, lexicon, group, optional, literal = element.groups()
        checked = exact is not None and exact < _KEY_WORDS  # by the index, before the expression
        if name is not None:
            last = position == len(elements) - 1
            parts.append(f"(?P<{name}>{_REST if last else _REST + '?'})")
            if not captures and places and kind.islower() and _closed(lexicons.get(kind)):
                entry_at = tuple(sorted(places))
                entry_words = _first_words(lexicons[kind])
            places = set()
            captures.append((name, kind))
            keys.close(_closed(lexicons.get(kind)) if kind.islower() else None)
            exact = None
            continue
        if entry is not None:
            entries = _choices(source_list, None, None, lexicons)
            if not checked:
                needed = _rarer(needed, entries)
            parts.append(f"(?P<{entry}>{_alternatives(entries)})")
            captures.append((entry, source_list))
            keys.extend(entries, False)
            exact, places = None, set()
            continue
        if literal == "$":
            parts.append(r"\Z")
            keys.close(None)
            continue
        choices = _choices(lexicon, group, literal, lexicons)
        if not (optional or checked):
            needed = _rarer(needed, choices)
        keys.extend(choices, bool(optional))
        single = all(len(c) == 1 and not c[0].startswith("-") for c in choices)
        if lexicon is not None and single and checked:  # long alternatives compile slowly
            parts.append(r"\S+ ")
        else:
            body = _alternatives(choices)
            parts.append(f"(?:{body}){optional or ''}" if len(choices) > 1 or optional else body)
        exact = exact + 1 if exact is not None and single and not optional else None
        behind = {place + len(choice) for place in places for choice in choices}
        places = behind | places if optional else behind
        places = places if len(places) <= _MOST_PLACES else set()
    found = keys.finished()
    if () in found:
        raise PackError(f"pattern {source!r} begins with a capture: put a word before it")
    regex = re.compile("".join(parts))
    return Pattern(source, regex, tuple(captures), entry_at, entry_words, needed), found


def _first_words(entries: frozenset[tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """The first words of entries, as ``Pattern.entry_words``."""
    seconds: dict[str, set[str]] = {}
    for entry in entries:
        seconds.setdefault(entry[0], set()).add("".join(entry[1:2]))
    return {
        word: frozenset() if "" in follow else frozenset(follow) for word, follow in seconds.items()
    }


def _rarer(known: frozenset[str], choices: Sequence[tuple[str, ...]]) -> frozenset[str]:
    """The first words of phrases of which one must stand in a head, if they tell more."""
    if any(not choice or choice[0].startswith("-") for choice in choices):
        return known
    words = frozenset(choice[0] for choice in choices)
    if not known:
        return words
    return min(known, words, key=lambda found: (not _COMMON.isdisjoint(found), len(found)))


_COMMON = frozenset(
    "S P a an and at be do for get go have in is it like my of on the to was we with you".split()
)


def _closed(entries: frozenset[tuple[str, ...]] | None) -> frozenset[tuple[str, ...]] | None:
    """A lexicon's entries, or None for one with endings ("-allergie"), which any word may open."""
    if not entries or any(entry[0].startswith("-") for entry in entries):
        return None
    return entries


def _alternatives(choices: Sequence[tuple[str, ...]]) -> str:
    return "|".join(_written(c) for c in sorted(choices, key=len, reverse=True))


def _written(choice: tuple[str, ...]) -> str:
    """A phrase as a regular expression; "-allergie" is every word with that ending."""
    if choice and choice[0].startswith("-"):
        return r"\S+" + re.escape(choice[0][1:]) + " "
    return re.escape(" ".join(choice)) + " "


class _Keys:
    """The first one to three words a pattern can begin with."""

    def __init__(self) -> None:
        self._open: set[tuple[str, ...]] = {()}
        self._closed: set[tuple[str, ...]] = set()

    def extend(self, choices: Sequence[tuple[str, ...]], optional: bool) -> None:
        """Adds what may follow; nothing is certain behind an ending of a word."""
        if any(choice and choice[0].startswith("-") for choice in choices):
            self.close(None)
            return
        longer: set[tuple[str, ...]] = set()
        for head in self._open:
            for choice in choices:
                key = head + choice
                if len(key) >= _KEY_WORDS:
                    self._closed.add(key[:_KEY_WORDS])
                else:
                    longer.add(key)
        self._open = longer | self._open if optional else longer

    def close(self, entries: frozenset[tuple[str, ...]] | None) -> None:
        """A capture follows: any word, or the first words of a lexicon's entries."""
        if entries is None:
            self._closed |= self._open
        else:
            words = {entry[0] for entry in entries} | SKIPPED_BEFORE_ENTRY
            self._closed |= {(*head, word) for head in self._open for word in words}
        self._open = set()

    def finished(self) -> set[tuple[str, ...]]:
        """All keys, without those that a shorter one covers."""
        keys = self._closed | self._open
        return {k for k in keys if not any(k[:n] in keys for n in range(1, len(k)))}


def _choices(
    lexicon: str | None,
    group: str | None,
    literal: str | None,
    lexicons: Lexicons,
) -> list[tuple[str, ...]]:
    if lexicon is not None:
        if lexicon not in lexicons:
            raise PackError(f"lexicon <{lexicon}> is not in lexicons.toml")
        return sorted(lexicons[lexicon])
    if group is not None:
        choices: list[tuple[str, ...]] = []
        for choice in group.split("|"):
            if choice.startswith("<"):
                choices += _choices(choice.strip("<> "), None, None, lexicons)
            else:
                choices.append(tuple(choice.split()))
        return choices
    return [(literal or "",)]
