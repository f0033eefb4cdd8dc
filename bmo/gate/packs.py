"""Rule packs: rules as data, read from ``packs/<language>/*.toml`` and compiled once.

Format: ``docs/rules-and-languages.md``. Each rule has an id, a slot, patterns with typed captures,
templates, examples and counter-examples; ``tests/unit/gate/test_rule_packs.py`` runs all of them.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bmo.language import LanguageCode
from bmo.language.verb_group import Aspect, Change
from bmo.turn import Cardinality, Category, Kind, Polarity, RetractScope, Signal, Tense

Subjects = Literal["user", "person", "pet", "team", "thing"]
"""Whom a rule's S or P may stand for."""


INJECTION_FILE = "injection.toml"
"""Its rules are of another kind and read by ``bmo/gate/injection.py``."""


class PackError(ValueError):
    """A pack is wrong; the message names file, rule and what is wrong with it."""


class RuleData(BaseModel):
    """One ``[[rule]]`` of a pack, as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(pattern=r"[a-z0-9_.]+")
    slot: str | None = None
    category: Category = "personal_facts"
    kind: Kind = "fact"
    cardinality: Cardinality = "many"
    signal: Signal | None = None
    on: tuple[Subjects, ...] = ("user", "person", "pet")
    patterns: tuple[str, ...]
    text: str = ""
    about: str = ""
    doubtful: bool = False
    negative: str = ""
    past: str = ""
    polarity: Polarity | None = None
    needs: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    value: str = "{v}"
    subject: str = ""
    list: bool = False
    noun_text: bool = False
    names: bool = False
    scan: str = ""
    weak: bool = False
    known: tuple[str, ...] = ()
    rest: bool = False
    ends: bool = False
    sensitive: bool = False
    domain: str | None = None
    replaced: str = ""
    retracts: RetractScope | None = None
    tail: dict[str, str] = Field(default_factory=dict)
    also: tuple[str, ...] = ()
    priority: int = 50
    examples: tuple[tuple[str, ...], ...] = ()
    non_examples: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Rule:
    """A compiled rule.

    Attributes:
        data: As written.
        patterns: Compiled patterns, in order.
        confidence: Measured precision, or the default for a rule that never fired.
        order: Place in the pack, for ties of priority.
        on: ``data.on``, for the inner loop.
        weak: ``data.weak``.
    """

    data: RuleData
    patterns: tuple[Pattern, ...]
    confidence: float
    order: int
    on: frozenset[str]
    weak: bool


class SaidHow(NamedTuple):
    """What a head's verb group says, as far as a rule's needs and templates look at it."""

    polarity: Polarity
    tense: Tense
    aspect: Aspect
    modal: str
    change: Change
    is_be: bool
    is_keeping: bool
    habits: bool
    hardly: bool
    plural: bool


Index = dict[tuple[str, ...], list[tuple[int, int, Rule, Pattern]]]
"""First one to three words of a head -> patterns that may match, as (-priority, order, ...)."""


@dataclass(frozen=True, slots=True)
class Pack:
    """All rules of a language.

    Attributes:
        language: Which.
        rules: In pack order.
        index: Rules keyed by the first words of their patterns.
        openers: The first words of the keys of ``index``.
        lexicons: Word lists of ``lexicons.toml``, as tuples of words.
        stops: Words that are no names (lexicon ``not_names``).
        proper: Single words that are always written with a capital.
        transient: Words that tie a clause to the moment; wide rules are silent beside them.
        merged: Lists of ``index`` that were merged before, of the rules that have a template for
            what is said: by verb group, then by subject, whether wide rules speak, and the
            longest key.
        version: First eight hexadecimal digits of the SHA-256 over all files of the language.
    """

    language: LanguageCode
    rules: tuple[Rule, ...]
    index: Index
    openers: frozenset[str]
    lexicons: Mapping[str, frozenset[tuple[str, ...]]]
    stops: frozenset[str]
    proper: frozenset[str]
    transient: frozenset[str]
    version: str
    merged: dict[
        SaidHow | None,
        dict[tuple[frozenset[str], bool, tuple[str, ...]], list[tuple[Rule, Pattern]]],
    ] = field(default_factory=dict)


_ELEMENT = re.compile(
    r"\{(\w+):([A-Za-z_]+)\}|\{(\w+)=([a-z_]+)\}|<([a-z_]+)>|\(([^()]*)\)(\?)?|(\S+)"
)
_REST = r"(?:\S+ )+"
_KEY_WORDS = 3
_MOST_PLACES = 12
"""At more places an entry is not looked for before the expression is."""
SKIPPED_BEFORE_ENTRY = frozenset({"a", "an", "the", "very", "really", "quite", "pretty", "so"})
"""Words that a capture of a lexicon's entry passes over."""
DEFAULT_CONFIDENCE = 0.9
"""For a rule that no labelled line has fired yet."""
DOUBTFUL = 0.75
"""The same for a rule that says itself that it is a wide one (``doubtful``)."""


def compile_pattern(
    source: str, lexicons: Mapping[str, frozenset[tuple[str, ...]]]
) -> tuple[Pattern, set[tuple[str, ...]]]:
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
        if position and not optional:
            needed = _rarer(needed, choices)
        keys.extend(choices, bool(optional))
        single = all(len(c) == 1 and not c[0].startswith("-") for c in choices)
        if lexicon is not None and single and exact is not None and exact < _KEY_WORDS:
            # The index has checked this word already, and long alternatives compile slowly.
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
    lexicons: Mapping[str, frozenset[tuple[str, ...]]],
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


def read_lexicons(texts: Mapping[str, str]) -> dict[str, frozenset[tuple[str, ...]]]:
    """Reads the word lists of ``lexicons.toml`` (each a string of words or a list of phrases)."""
    lexicons: dict[str, frozenset[tuple[str, ...]]] = {}
    for text in texts.values():
        for name, value in tomllib.loads(text).items():
            phrases = value.split() if isinstance(value, str) else value
            lexicons[name] = frozenset(tuple(p.split()) for p in phrases)
    return lexicons


def _files(language: LanguageCode) -> dict[str, str]:
    folder = resources.files("bmo.gate") / "packs" / language
    if not folder.is_dir():
        return {}
    return {
        item.name: item.read_text("utf-8")
        for item in sorted(folder.iterdir(), key=lambda item: item.name)
        if item.name.endswith((".toml", ".txt"))
    }


@cache
def load_pack(language: LanguageCode) -> Pack:
    """Reads and compiles the rules of ``language``.

    Raises:
        PackError: A rule is malformed; the message names file and rule.
    """
    files = _files(language)
    lexicons = read_lexicons({n: t for n, t in files.items() if n.startswith("lexicons")})
    measured: dict[str, float] = {}
    if "confidence.toml" in files:
        measured = tomllib.loads(files["confidence.toml"])["confidence"]
    rules: list[Rule] = []
    index: Index = {}
    seen: dict[str, str] = {}
    for file, text in files.items():
        if file == INJECTION_FILE or "[[rule]]" not in text:
            continue  # tables of other readers, which would take as long to parse
        try:
            raw_rules = tomllib.loads(text).get("rule", [])
        except tomllib.TOMLDecodeError as error:
            raise PackError(f"{language}/{file}: {error}") from None
        for raw in raw_rules:
            rule = _compile_rule(raw, f"{language}/{file}", lexicons, measured, len(rules), index)
            if rule.data.id in seen:
                raise PackError(
                    f"{language}/{file}: rule {rule.data.id!r} is in {seen[rule.data.id]} too"
                )
            seen[rule.data.id] = file
            rules.append(rule)
    for entries in index.values():
        entries.sort(key=lambda entry: entry[:2])
    return Pack(
        language,
        tuple(rules),
        index,
        frozenset(key[0] for key in index),
        lexicons,
        _single_words(lexicons, "not_names"),
        _single_words(lexicons, "languages", "nationality", "proper", "months", "weekdays"),
        _single_words(lexicons, "transient"),
        pack_version(language),
    )


def _single_words(
    lexicons: Mapping[str, frozenset[tuple[str, ...]]], *names: str
) -> frozenset[str]:
    return frozenset(w[0] for name in names for w in lexicons.get(name, ()) if len(w) == 1)


@cache
def pack_version(language: LanguageCode) -> str:
    """First eight hexadecimal digits of the SHA-256 over all files of a language."""
    text = "\0".join(f"{name}\0{content}" for name, content in _files(language).items())
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _compile_rule(
    raw: object,
    where: str,
    lexicons: Mapping[str, frozenset[tuple[str, ...]]],
    measured: Mapping[str, float],
    order: int,
    index: Index,
) -> Rule:
    try:
        data = RuleData.model_validate(raw)
    except ValidationError as error:
        name = raw.get("id", "?") if isinstance(raw, dict) else "?"
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise PackError(f"{where}: rule {name!r}: {problems}") from None
    compiled: list[tuple[Pattern, set[tuple[str, ...]]]] = []
    for source in data.patterns:
        try:
            compiled.append(compile_pattern(source, lexicons))
        except (PackError, re.error) as error:
            raise PackError(f"{where}: rule {data.id!r}: {error}") from None
    rule = Rule(
        data,
        tuple(pattern for pattern, _ in compiled),
        measured.get(data.id, DOUBTFUL if data.doubtful else DEFAULT_CONFIDENCE),
        order,
        frozenset(data.on),
        data.weak,
    )
    for position, (pattern, keys) in enumerate(compiled):
        for key in keys:
            index.setdefault(key, []).append(
                (-data.priority, order * 100 + position, rule, pattern)
            )
    return rule


def pack_folder(language: LanguageCode) -> Path:
    """Where the packs of ``language`` lie on disk (for the scripts that write into them)."""
    return Path(str(resources.files("bmo.gate") / "packs" / language))
