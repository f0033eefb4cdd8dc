"""Rule packs: rules as data, read from ``packs/<language>/*.toml`` and compiled once.

Format: ``docs/rules-and-languages.md``. Each rule has an id, a slot, patterns with typed captures,
templates, examples and counter-examples; ``tests/unit/gate/test_rule_packs.py`` runs all of them.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bmo.gate.rule_patterns import PackError, Pattern, compile_pattern
from bmo.language import LanguageCode
from bmo.language.verb_group import Aspect, Change
from bmo.turn import Cardinality, Category, Kind, Polarity, RetractScope, Signal, Tense

Subjects = Literal["user", "person", "pet", "team", "thing"]
"""Whom a rule's S or P may stand for."""


INJECTION_FILE = "injection.toml"
"""Its rules are of another kind and read by ``bmo/gate/injection.py``."""


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


DEFAULT_CONFIDENCE = 0.9
"""For a rule that no labelled line has fired yet."""
DOUBTFUL = 0.75
"""The same for a rule that says itself that it is a wide one (``doubtful``)."""


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
