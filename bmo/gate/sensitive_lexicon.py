"""The words that introduce sensitive data, of all languages together, from ``packs/*``.

The lexicons of the languages are merged: people say "pin" and "password" in all of them, and a
secret must not be written because the language was guessed wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import re2

from bmo.gate.digit_runs import NumberWords, tokenise
from bmo.gate.pack_tables import read_table
from bmo.language.by_piece import PiecesThat

LANGUAGES = ("en", "de", "fr", "es")
_SHAPES = 0
"""Place of the shapes in ``Lexicon.telling``; the words that introduce digits are behind it."""


class Found(NamedTuple):
    """A sensitive stretch of text: character offsets, what it is, and whether it is a secret."""

    start: int
    end: int
    kind: str
    secret: bool


@dataclass(frozen=True, slots=True)
class Trigger:
    """Words that introduce a value.

    Attributes:
        kind: What is introduced ("pin", "card", ...).
        secret: Never written, as opposed to an identifier.
        free_words: The value is any words (a password), not digits.
        loose: Any few words may stand before the value, not only a copula.
        digits: The fewest digits of a value.
        near: The fewest digits of a value that follows at once.
        mixed: The value may be letters and digits ("X4820193").
        needs: Another kind that must be found in the same turn, or "".
        words: The trigger's tokens.
        not_after: Tokens before it that make it something else.
        not_before: Tokens after it that make it something else.
    """

    kind: str
    secret: bool
    free_words: bool
    loose: bool
    digits: int
    near: int
    mixed: bool
    needs: str
    words: tuple[str, ...]
    not_after: frozenset[str]
    not_before: frozenset[str]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Triggers by their first token (longest first), function words, number words, prefilter.

    Attributes:
        triggers: First token -> triggers, the longest first.
        words: Function words by purpose.
        numbers: Number words of all languages.
        mails: What "@" is called.
        harmless: The pieces of texts that have no part in anything sensitive.
        telling: One RE2 set of the shapes of secrets and of the words that introduce them.
        number: Any digit or number word.
        fewest_digits: So many digits has every number that a trigger introduces.
    """

    triggers: dict[str, tuple[Trigger, ...]]
    words: dict[str, frozenset[str]]
    numbers: NumberWords
    mails: tuple[str, ...]
    harmless: PiecesThat
    telling: Any
    number: Any
    fewest_digits: int

    def may_hold(self, text: str, pieces: Sequence[str]) -> bool:
        """Whether the text needs a closer look; false for nearly every ordinary turn.

        Args:
            text: A turn's words.
            pieces: What stands between its spaces.
        """
        if self.harmless.hold_all(pieces):
            return False
        raw = text.encode("utf-8", "replace")
        seen = self.telling.Match(raw)
        if seen is None:
            return False
        return _SHAPES in seen or self.number.search(raw) is not None


FEWEST_BEFORE = 4
"""Digits of a number that stands before its trigger ("4071 is my pin")."""


@cache
def load_pack(language: str) -> dict[str, Any]:
    """One language's ``sensitive.toml`` as it stands, with its examples."""
    return read_table(language, "sensitive.toml")


@cache
def load_lexicon() -> Lexicon:
    """All languages merged and compiled; read once per process."""
    packs = [load_pack(language) for language in LANGUAGES]
    triggers: dict[str, list[Trigger]] = {}
    phrases: set[str] = set()
    passwords: set[str] = set()
    for pack in packs:
        for item in pack["trigger"]:
            for phrase in item["words"]:
                trigger = _trigger(item, phrase)
                triggers.setdefault(trigger.words[0], []).append(trigger)
                (passwords if trigger.free_words else phrases).add(phrase)
    names = packs[0]["words"].keys()
    words = {name: frozenset(_collect(packs, "words", name)) for name in names}
    numbers = _number_words(packs)
    every = [trigger for found in triggers.values() for trigger in found]
    return Lexicon(
        triggers={
            first: tuple(sorted(_unified(found), key=lambda t: -len(t.words)))
            for first, found in triggers.items()
        },
        words=words,
        numbers=numbers,
        mails=tuple(_collect(packs, "words", "at")),
        harmless=PiecesThat(_Harmless([*_numbers(numbers), *passwords, *_DOTS])),
        telling=_telling(_shapes(passwords, numbers), _phrase(phrases)),
        number=_linear(r"\pN|" + _phrase(_numbers(numbers))),
        fewest_digits=min(min(t.near, t.digits, FEWEST_BEFORE) for t in every),
    )


def _trigger(item: dict[str, Any], phrase: str) -> Trigger:
    digits = item.get("digits", 3)
    return Trigger(
        kind=item["kind"],
        secret=item["class"] == "secret",
        free_words=item.get("value") == "words",
        loose=item.get("link") == "loose",
        digits=digits,
        near=item.get("near", digits),
        mixed=item.get("mixed", item["kind"] == "code"),
        needs=item.get("needs", ""),
        words=tuple(token.text for token in tokenise(phrase)),
        not_after=frozenset(item.get("not_after", ())),
        not_before=frozenset(item.get("not_before", ())),
    )


def _unified(triggers: list[Trigger]) -> list[Trigger]:
    """One trigger for each phrase: languages share "pin" and "code", and their exceptions."""
    by_words: dict[tuple[str, ...], Trigger] = {}
    for trigger in triggers:
        first = by_words.setdefault(trigger.words, trigger)
        by_words[trigger.words] = replace(
            first,
            not_after=first.not_after | trigger.not_after,
            not_before=first.not_before | trigger.not_before,
        )
    return list(by_words.values())


def _collect(packs: Iterable[dict[str, Any]], table: str, name: str) -> list[str]:
    return [word for pack in packs for word in pack[table].get(name, ())]


def _number_words(packs: list[dict[str, Any]]) -> NumberWords:
    digits: dict[str, str] = {}
    teens: dict[str, str] = {}
    tens: dict[str, str] = {}
    repeats: dict[str, int] = {}
    quantities: dict[str, int] = {}
    for pack in packs:
        numbers = pack["numbers"]
        digits |= numbers["digits"]
        teens |= numbers["teens"]
        tens |= numbers["tens"]
        repeats |= numbers["repeats"]
        quantities |= numbers["quantities"]
        joiner = numbers.get("compound_joiner")
        if joiner:  # German writes 42 as one word, unit first
            for unit, digit in numbers["digits"].items():
                for ten, decade in numbers["tens"].items():
                    if digit != "0":
                        tens[f"{unit}{joiner}{ten}"] = decade + digit
    inner = frozenset(_collect(packs, "numbers", "inner"))
    return NumberWords(
        digits=digits,
        teens=teens,
        tens=tens,
        repeats=repeats,
        quantities=quantities,
        joiners=frozenset(_collect(packs, "numbers", "joiners")),
        inner=inner,
        fillers=frozenset(_collect(packs, "numbers", "fillers")),
        tails=frozenset(_collect(packs, "numbers", "tails")),
        starters=frozenset([*digits, *teens, *tens, *repeats]) - inner,
    )


def _linear(pattern: str) -> Any:
    """A pattern that RE2 runs in linear time, whatever the text."""
    return re2.compile(pattern, _options())


def _telling(shapes: str, introduced: str) -> Any:
    """One RE2 set: what is sensitive by its shape, and words that introduce digits."""
    both = re2.Set.SearchSet(_options())
    both.Add(shapes)
    both.Add(introduced)
    both.Compile()
    return both


def _options() -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.max_mem = 64 << 20
    return options


def _alternatives(phrases: Iterable[str]) -> str:
    return "|".join(sorted((re.escape(phrase) for phrase in phrases), key=len, reverse=True))


def _phrase(phrases: Iterable[str]) -> str:
    """Any of the phrases as whole words."""
    return rf"(?:^|[^\pL\pN])(?:{_alternatives(phrases)})(?:[^\pL\pN]|$)"


def _shapes(passwords: Iterable[str], numbers: NumberWords) -> str:
    """What every text matches that holds a password, or a secret known by its shape."""
    spoken = _alternatives(_numbers(numbers))
    return (
        _phrase(passwords) + r"|@|-----BEGIN"
        r"|[\w+/=.-]{20,}"
        r"|(?:password|passwd|pwd|secret|token|apikey|api_key)[a-z_]*\s*[=:]"
        r"|\pN(?:[ .()/-]*\pN){6,}"
        rf"|(?:(?:{spoken})[ ,-]+(?:\pL+[ ,-]+)?){{6,}}"
        r"|[a-z]{2}[ -]?\d\d(?:[ -]?[a-z0-9]){11,}"
        rf"|(?:^|\s)\S+ (?:at|arroba|arobase|ät) \S+ (?:{'|'.join(_DOTS)}) \S+"
    )


_DOTS = ("dot", "punkt", "point", "punto")
"""What people call the dot of a mail address."""


def _numbers(words: NumberWords) -> list[str]:
    """Every word that is a number by itself."""
    return [*words.digits, *words.teens, *words.tens]


class _Harmless:
    """Whether a piece may stand in any text without making it worth a closer look.

    All that the RE2 set sees has a piece that is none: a digit or a number word (also what is
    introduced by words needs one), a name of a password, the dot of a mail address, a mark that
    prose does not put within or around words, or a very long word. What looks like a letter of the
    alphabet and is none ("\N{KELVIN SIGN}") is not harmless either.
    """

    _PROSE = re.compile(r"[\"'(]?[a-z]+(?:['-][a-z]+)*[.,;!?\"')]{0,3}|[-&]?", re.I | re.A)
    _WORD = re.compile(r"[^\W\d_]+")
    _LONGEST = 19

    def __init__(self, phrases: Iterable[str]) -> None:
        """Knows the words of which one is in all that is sensitive: the longest of each phrase."""
        self._telling = frozenset(max(self._WORD.findall(phrase), key=len) for phrase in phrases)

    def __call__(self, piece: str) -> bool:
        """Whether the piece is harmless."""
        return (
            len(piece) <= self._LONGEST
            and self._PROSE.fullmatch(piece) is not None
            and self._telling.isdisjoint(self._WORD.findall(piece.lower()))
        )
