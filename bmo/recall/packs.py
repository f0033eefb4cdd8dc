"""Rule packs: the read gate's words, triggers and needs of one language, read from TOML.

A pack is a folder ``packs/<language>`` with ``lexicon.toml`` (classes of words), ``triggers.toml``
(when memory is needed and when not) and ``needs.toml`` (what shows which need). What a need depends
on is the same in every language and stands in ``packs/slots.toml``. A rule carries examples and
counter-examples; the tests run them all.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bmo.recall.lexer import Lexer, Words, cut
from bmo.recall.patterns import Pattern, PatternError, compile_pattern, literals_of
from bmo.turn import Category, Depth

LANGUAGES: tuple[str, ...] = ("en", "de", "fr", "es")
"""Languages with a pack; the first is used when nothing says which."""

Outcome = Literal["recall", "skip"]


class PackError(ValueError):
    """A pack cannot be read; the message names file, rule and fault."""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _DepthRow(_File):
    depth: Depth
    patterns: list[str]
    unless: list[str] = []
    examples: list[str]
    counter_examples: list[str] = []


class _RuleRow(_File):
    id: str
    trigger: str
    outcome: Outcome
    patterns: list[str]
    unless: list[str] = []
    include_all: bool = False
    examples: list[str]
    counter_examples: list[str] = []


class _TriggerFile(_File):
    depth: list[_DepthRow] = []
    rule: list[_RuleRow]


class _LexiconFile(_File):
    function_words: dict[str, str]
    elision: bool = False
    expand: dict[str, str] = {}
    classes: dict[str, str]
    plural: dict[str, str] = {}


class _NeedRow(_File):
    id: str
    patterns: list[str]
    unless: list[str] = []
    examples: list[str] = []
    counter_examples: list[str] = []


class _SlotRow(_File):
    slots: list[str] = []
    soft: list[str] = []
    categories: list[Category] = []
    subjects: list[str] = []
    domains: list[str] = []
    gloss: str = ""
    past: bool = False
    wide: bool = False


class _NeedFile(_File):
    need: list[_NeedRow]
    relations: dict[str, list[str]] = Field(default_factory=dict)
    gloss: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """One trigger rule, compiled.

    Attributes:
        id: Its name in the pack.
        trigger: What a plan says of it (``RecallPlan.trigger``).
        outcome: recall or skip.
        patterns: Any of these fires the rule ...
        unless: ... if none of these matches.
        include_all: The question is wide ("what do you know about me").
        examples: Texts that must come to this rule.
        counter_examples: Texts that must not.
    """

    id: str
    trigger: str
    outcome: Outcome
    patterns: tuple[Pattern, ...]
    unless: tuple[Pattern, ...]
    include_all: bool
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]

    def matches(self, words: Words) -> bool:
        """Whether the rule fires on ``words``."""
        return _any(self.patterns, words) and not _any(self.unless, words)


@dataclass(frozen=True, slots=True)
class DepthRule:
    """A wish about how much memory to use, by voice."""

    depth: Depth
    patterns: tuple[Pattern, ...]
    unless: tuple[Pattern, ...]
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]

    def matches(self, words: Words) -> bool:
        """Whether the wish is in ``words``."""
        return _any(self.patterns, words) and not _any(self.unless, words)


@dataclass(frozen=True, slots=True)
class Need:
    """Which slots a question or request depends on.

    Attributes:
        id: Its name in the pack.
        slots: Slots that answer it, most important first.
        soft: Slots that may matter, if the fact is near in meaning.
        categories: Categories to search beside them; empty means all.
        subjects: Relations asked about beside those the words name ("partner").
        domains: Topics.
        gloss: English words added to the search text: canonical memories are English.
        past: Ended facts are wanted.
        wide: Slots of everybody, not of the user alone ("dinner for all of us").
        patterns: Any of these fires it ...
        unless: ... if none of these matches.
        examples: Texts that must have it.
        counter_examples: Texts that must not.
    """

    id: str
    slots: tuple[str, ...]
    soft: tuple[str, ...]
    categories: tuple[Category, ...]
    subjects: tuple[str, ...]
    domains: tuple[str, ...]
    gloss: str
    past: bool
    wide: bool
    patterns: tuple[Pattern, ...]
    unless: tuple[Pattern, ...]
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]

    def matches(self, words: Words) -> bool:
        """Whether ``words`` depend on these slots."""
        return _any(self.patterns, words) and not _any(self.unless, words)


class PatternIndex:
    """Finds the patterns worth trying on a turn without looking at the hundreds that are not."""

    def __init__(self, sets: Iterable[tuple[Pattern, ...]]) -> None:
        """Indexes sets of patterns by a class that must occur for them to match."""
        self._by_class: dict[str, list[tuple[int, Pattern]]] = {}
        self._always: list[tuple[int, Pattern]] = []
        for number, patterns in enumerate(sets):
            for pattern in patterns:
                if not pattern.anchor:
                    self._always.append((number, pattern))
                for name in pattern.anchor:
                    self._by_class.setdefault(name, []).append((number, pattern))

    def worth_trying(self, words: Words) -> dict[int, list[Pattern]]:
        """Number of the set -> its patterns whose classes all occur in ``words``."""
        ready: dict[int, list[Pattern]] = {}
        classes = words.classes
        for number, pattern in self._always:
            ready.setdefault(number, []).append(pattern)
        for name in classes:
            for number, pattern in self._by_class.get(name, ()):
                if pattern.needs <= classes:
                    ready.setdefault(number, []).append(pattern)
        return ready


@dataclass(frozen=True, slots=True)
class Pack:
    """All of one language, compiled.

    Attributes:
        language: ISO 639-1 code.
        lexer: Cuts and codes turns.
        depths: Wishes about depth.
        rules: Triggers, in order.
        needs: Slots by question.
        relations: Word of a relation -> the relations memories may be stored under, best first.
        gloss: Word -> English word for the search text.
        version: Changes with any file of the pack.
        index: Of the patterns and the unless-patterns of depths, rules and needs, in this order.
    """

    language: str
    lexer: Lexer
    depths: tuple[DepthRule, ...]
    rules: tuple[Rule, ...]
    needs: tuple[Need, ...]
    relations: Mapping[str, tuple[str, ...]]
    gloss: Mapping[str, str]
    version: str
    index: PatternIndex


class Reading:
    """One turn against one pack: which rules fire on it."""

    __slots__ = ("_pack", "_ready", "words")

    def __init__(self, pack: Pack, text: str) -> None:
        """Cuts ``text`` and finds the patterns worth trying."""
        self.words = pack.lexer.read(text)
        self._pack = pack
        self._ready = pack.index.worth_trying(self.words)

    def depth(self) -> Depth | None:
        """A wish about depth, or None."""
        depths = self._pack.depths
        return next((wish.depth for n, wish in enumerate(depths) if self._fires(n)), None)

    def rule(self) -> Rule | None:
        """The first trigger rule that fires, or None where all are silent."""
        start = len(self._pack.depths)
        rules = enumerate(self._pack.rules, start)
        return next((rule for n, rule in rules if self._fires(n)), None)

    def needs(self) -> list[Need]:
        """The needs that the turn shows."""
        start = len(self._pack.depths) + len(self._pack.rules)
        return [need for n, need in enumerate(self._pack.needs, start) if self._fires(n)]

    def _fires(self, number: int) -> bool:
        ready, words = self._ready, self.words
        patterns = ready.get(2 * number)
        return (
            patterns is not None
            and _found(patterns, words)
            and not _found(ready.get(2 * number + 1, ()), words)
        )


def _found(patterns: Iterable[Pattern], words: Words) -> bool:
    codes = words.codes
    return any(pattern.found_in(codes) for pattern in patterns)


def _any(patterns: Iterable[Pattern], words: Words) -> bool:
    classes = words.classes
    codes = words.codes
    for pattern in patterns:
        if pattern.needs <= classes and pattern.found_in(codes):
            return True
    return False


def _text(language: str, name: str) -> str:
    path = resources.files("bmo.recall").joinpath("packs", language, name)
    return path.read_text(encoding="utf-8")


def _plurals(classes: dict[str, list[str]], names: Iterable[str], endings: Iterable[str]) -> None:
    for name in names:
        words = classes[name]
        words += [w + ending for w in list(words) for ending in endings if not w.endswith(ending)]


@cache
def _shared_slots() -> dict[str, _SlotRow]:
    path = resources.files("bmo.recall").joinpath("packs", "slots.toml")
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _SlotRow.model_validate(row) for name, row in rows.items()}


@cache
def load_pack(language: str) -> Pack:
    """Reads and compiles the pack of ``language``; one copy a process.

    Raises:
        PackError: A file is malformed, or a pattern names an unknown class.
    """
    texts = {n: _text(language, f"{n}.toml") for n in ("lexicon", "triggers", "needs")}
    where = f"bmo/recall/packs/{language}"
    try:
        lexicon = _LexiconFile.model_validate(tomllib.loads(texts["lexicon"]))
        triggers = _TriggerFile.model_validate(tomllib.loads(texts["triggers"]))
        needs = _NeedFile.model_validate(tomllib.loads(texts["needs"]))
        shared = _shared_slots()
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise PackError(f"{where} cannot be read: {error}") from error
    unknown = [row.id for row in needs.need if row.id not in shared]
    if unknown:
        raise PackError(f"{where}/needs.toml: needs {unknown!r} are not in packs/slots.toml")
    classes = {name: row.split() for name, row in lexicon.classes.items()}
    _plurals(
        classes,
        lexicon.plural.get("classes", "").split(),
        lexicon.plural.get("endings", "s").split(),
    )
    spaced = {n: [w.replace("_", " ") for w in row] for n, row in classes.items()}
    rows: list[_RuleRow | _DepthRow | _NeedRow] = [*triggers.rule, *triggers.depth, *needs.need]
    literals: set[str] = set()
    for row in rows:
        for pattern in (*row.patterns, *row.unless):
            literals |= literals_of(pattern)
    phrases = [w.replace("_", " ") for w in literals if "_" in w]
    spaced["_phrases"] = phrases
    spaced["_relations"] = [w.replace("_", " ") for w in needs.relations]
    expand = {word: row.split() for word, row in lexicon.expand.items()}
    lexer = Lexer(
        spaced,
        expand,
        literals,
        classes.get("filler", ()),
        classes.get("closer", ()),
        elision=lexicon.elision,
    )

    def compiled(patterns: list[str], rule: str) -> tuple[Pattern, ...]:
        try:
            return tuple(compile_pattern(p, lexer) for p in patterns)
        except PatternError as error:
            raise PackError(f"{where}, rule {rule!r}: {error}") from error

    depths = tuple(
        DepthRule(
            r.depth,
            compiled(r.patterns, r.depth),
            compiled(r.unless, r.depth),
            tuple(r.examples),
            tuple(r.counter_examples),
        )
        for r in triggers.depth
    )
    rules = tuple(
        Rule(
            id=r.id,
            trigger=r.trigger,
            outcome=r.outcome,
            patterns=compiled(r.patterns, r.id),
            unless=compiled(r.unless, r.id),
            include_all=r.include_all,
            examples=tuple(r.examples),
            counter_examples=tuple(r.counter_examples),
        )
        for r in triggers.rule
    )
    needed = tuple(
        Need(
            id=r.id,
            slots=tuple(shared[r.id].slots),
            soft=tuple(shared[r.id].soft),
            categories=tuple(shared[r.id].categories),
            subjects=tuple(shared[r.id].subjects),
            domains=tuple(shared[r.id].domains),
            gloss=shared[r.id].gloss,
            past=shared[r.id].past,
            wide=shared[r.id].wide,
            patterns=compiled(r.patterns, r.id),
            unless=compiled(r.unless, r.id),
            examples=tuple(r.examples),
            counter_examples=tuple(r.counter_examples),
        )
        for r in needs.need
    )
    compiled_rows: list[DepthRule | Rule | Need] = [*depths, *rules, *needed]
    sets = [s for row in compiled_rows for s in (row.patterns, row.unless)]
    return Pack(
        language=language,
        lexer=lexer,
        depths=depths,
        rules=rules,
        needs=needed,
        relations={w: tuple(to) for w, to in needs.relations.items()},
        gloss=dict(needs.gloss),
        version=hashlib.sha256("".join(texts.values()).encode()).hexdigest()[:8],
        index=PatternIndex(sets),
    )


@cache
def function_words() -> dict[str, int]:
    """Word -> bit set of the languages (``LANGUAGES`` order) whose function word it is."""
    bits: dict[str, int] = {}
    for n, language in enumerate(LANGUAGES):
        lexicon = _LexiconFile.model_validate(tomllib.loads(_text(language, "lexicon.toml")))
        for word in lexicon.function_words["words"].split():
            bits[word] = bits.get(word, 0) | (1 << n)
    return bits


def guess_language(text: str) -> str:
    """The pack whose function words ``text`` has most of.

    Languages that tie are told apart by how many of the words their lexicons know; after that the
    order of ``LANGUAGES`` decides.
    """
    bits = function_words()
    votes = [0] * len(LANGUAGES)
    words = cut(text, elision=True)[:60]
    for word in words:
        seen = bits.get(word)
        if seen:
            for n in range(len(votes)):
                votes[n] += seen >> n & 1
    most = max(votes)
    tied = [language for language, vote in zip(LANGUAGES, votes, strict=True) if vote == most]
    if len(tied) == 1 or not words:
        return tied[0]
    known = {lang: sum(load_pack(lang).lexer.knows(word) for word in words) for lang in tied}
    return max(tied, key=lambda language: known[language])
