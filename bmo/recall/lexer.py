"""From words to codes: what lets every trigger be a regular expression over one string.

A turn is cut into lower-case words without apostrophes. Every word that a rule pack knows has a
set of classes ("kin", "question", ...), and every distinct set of classes has one character. A
turn becomes a string with one character a word; a trigger pattern such as ``{q} ... my {kin}``
compiles to an ordinary regular expression over such strings. So a pack with hundreds of words a
class costs no more to match than one with three (``re`` tests a character class by bitmap).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MAX_CHARACTERS = 2000
"""What lies beyond is not read: nobody asks a question that long, and time stays bounded."""

MAX_WORDS = 120
"""Words read of one turn: the last ones, where a spoken question usually stands."""

MAX_SMALLTALK_WORDS = 8
"""A longer row of smalltalk words is read like any other turn."""

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_ELISION = re.compile(r"[-'’]")
_FIRST_CODE = 0xE000
"""Codes live in Unicode's private use area, so that no pattern character can be one of them."""

UNKNOWN = chr(_FIRST_CODE)

ABOUT_SOMEBODY = frozenset({"self", "kin", "ownkin", "barekin", "pet", "pronoun"})
"""Classes of words that say that a turn is about the speaker or somebody of theirs ..."""

OF_ONESELF = ABOUT_SOMEBODY - {"pronoun"}
"""... and of those that say so by themselves."""


@dataclass(frozen=True, slots=True)
class Words:
    """A turn, cut and coded.

    Attributes:
        words: Lower-case words, phrases of the pack joined by "_" ("blood_group").
        codes: One character a word.
        classes: Every class that occurs.
        asked: True when the text holds a question mark.
        smalltalk_only: True when there is nothing but the lexicon's "smalltalk" words.
    """

    words: tuple[str, ...]
    codes: str
    classes: frozenset[str]
    asked: bool
    smalltalk_only: bool = False


def cut(text: str, *, elision: bool = False) -> list[str]:
    """Lower-case words of ``text`` without apostrophes ("what's" becomes "whats").

    Args:
        text: Anything; only its first ``MAX_CHARACTERS`` are read.
        elision: The language joins short words by an apostrophe or a hyphen ("qu'est-ce",
            "j'aime"): they are cut there.
    """
    words = _WORD.findall(text[:MAX_CHARACTERS].lower())
    if elision:
        return [part for word in words for part in _ELISION.split(word) if part]
    return [word.replace("'", "").replace("’", "") for word in words]


class Lexer:
    """Words to codes for one language."""

    def __init__(
        self,
        classes: Mapping[str, Iterable[str]],
        expand: Mapping[str, Iterable[str]],
        literals: Iterable[str],
        openers: Iterable[str] = (),
        closers: Iterable[str] = (),
        *,
        elision: bool = False,
    ) -> None:
        """Builds the tables.

        Args:
            classes: Class name -> words and phrases in it.
            expand: Contraction -> words ("whats" -> ["what", "is"]).
            openers: Words that open a turn and say nothing ("um", "okay so"); they are dropped.
            closers: The same for its end ("please", "then").
            elision: See ``cut``.
            literals: Words that patterns name themselves; each becomes a class of its own.
        """
        self._elision = elision
        self._openers = frozenset(openers)
        self._closers = frozenset(closers)
        word_classes: dict[str, set[str]] = {}
        self._phrases: dict[str, list[tuple[str, ...]]] = {}
        for name, entries in classes.items():
            for entry in entries:
                parts = cut(entry, elision=elision)
                if not parts:
                    continue
                if len(parts) > 1:
                    options = self._phrases.setdefault(parts[0], [])
                    if tuple(parts) not in options:
                        options.append(tuple(parts))
                word_classes.setdefault("_".join(parts), set()).add(name)
        for options in self._phrases.values():
            options.sort(key=len, reverse=True)
        for word in literals:
            word_classes.setdefault(word, set()).add("=" + word)
        self._expand = {word: tuple(parts) for word, parts in expand.items()}
        sets = sorted({frozenset(names) for names in word_classes.values()}, key=sorted)
        self._code_of_set = {names: chr(_FIRST_CODE + 1 + n) for n, names in enumerate(sets)}
        self._set_of_code = {code: names for names, code in self._code_of_set.items()}
        self._code = {w: self._code_of_set[frozenset(n)] for w, n in word_classes.items()}
        codes_of: dict[str, list[str]] = {}
        for names, code in self._code_of_set.items():
            for name in names:
                codes_of.setdefault(name, []).append(code)
        self._codes_of = {name: "".join(sorted(codes)) for name, codes in codes_of.items()}
        self._smalltalk = frozenset(self.codes_of("smalltalk"))

    def codes_of(self, name: str) -> str:
        """Every code whose set of classes has ``name``, sorted; "" for an unknown class."""
        return self._codes_of.get(name, "")

    def classes_of(self, word: str) -> frozenset[str]:
        """The classes of one word."""
        return self._set_of_code.get(self._code.get(word, UNKNOWN), frozenset())

    def knows(self, word: str) -> bool:
        """Whether the lexicon has ``word``."""
        return word in self._code or word in self._expand

    def read(self, text: str) -> Words:
        """Cuts and codes ``text``; only the last ``MAX_WORDS`` words are kept."""
        raw = cut(text, elision=self._elision)[-MAX_WORDS:]
        flat: list[str] = []
        for word in raw:
            parts = self._expand.get(word)
            if parts is None:
                flat.append(word)
            else:
                flat.extend(parts)
        words = self._trimmed(self._join_phrases(flat))
        code = self._code
        codes = "".join([code.get(word, UNKNOWN) for word in words])
        sets = self._set_of_code
        classes: set[str] = set()
        for char in set(codes):
            if char != UNKNOWN:
                classes |= sets[char]
        only = (
            bool(words)
            and len(words) <= MAX_SMALLTALK_WORDS
            and all(char in self._smalltalk for char in codes)
        )
        return Words(tuple(words), codes, frozenset(classes), "?" in text, only)

    def _trimmed(self, words: list[str]) -> list[str]:
        start, end = 0, len(words)
        while start < end - 1 and words[start] in self._openers:
            start += 1
        while end > start + 1 and words[end - 1] in self._closers:
            end -= 1
        return words[start:end]

    def _join_phrases(self, flat: list[str]) -> list[str]:
        phrases = self._phrases
        joined: list[str] = []
        position = 0
        while position < len(flat):
            word = flat[position]
            for option in phrases.get(word, ()):
                if tuple(flat[position : position + len(option)]) == option:
                    word = "_".join(option)
                    position += len(option) - 1
                    break
            joined.append(word)
            position += 1
        return joined
