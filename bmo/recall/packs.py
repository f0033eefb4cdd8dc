"""Rule packs: the read gate's words, triggers and needs of one language, read from TOML.

A pack is a folder ``packs/<language>`` with ``lexicon.toml`` (classes of words), ``triggers.toml``
(when memory is needed and when not) and ``needs.toml`` (what shows which need). What a need depends
on is the same in every language and stands in ``packs/slots.toml``. A rule carries examples and
counter-examples; the tests run them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from bmo.recall.lexer import Lexer, Words, cut
from bmo.recall.pack_files import (
    NeedRow,
    Outcome,
    PackError,
    PackFiles,
    PatternRow,
    RuleRow,
    read_files,
    read_function_words,
)
from bmo.recall.patterns import Pattern, PatternError, compile_pattern, literals_of
from bmo.turn import Category, Depth

LANGUAGES: tuple[str, ...] = ("en", "de", "fr", "es")
"""Languages with a pack; the first is used when nothing says which."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One trigger rule, compiled.

    Attributes:
        id: Its name in the pack.
        trigger: What a plan says of it (``RecallPlan.trigger``).
        outcome: recall, skip, or weigh: recall where some memory fits ("im ordering lunch").
        patterns: Any of these fires the rule ...
        unless: ... if none of these matches.
        include_all: The question is wide ("what do you know about me").
        categories: Categories it is wide in ("... about my family"); empty means all.
        examples: Texts that must come to this rule.
        counter_examples: Texts that must not.
    """

    id: str
    trigger: str
    outcome: Outcome
    patterns: tuple[Pattern, ...]
    unless: tuple[Pattern, ...]
    include_all: bool
    categories: tuple[Category, ...]
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

    def compile(self) -> None:
        """Compiles all patterns (50 ms a language), so that no turn has to."""
        for _, pattern in (*self._always, *(p for row in self._by_class.values() for p in row)):
            pattern.compile()

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


def _plurals(classes: dict[str, list[str]], names: Iterable[str], endings: Iterable[str]) -> None:
    for name in names:
        words = classes[name]
        words += [w + ending for w in list(words) for ending in endings if not w.endswith(ending)]


@cache
def load_pack(language: str) -> Pack:
    """Reads and compiles the pack of ``language``; one copy a process.

    Raises:
        PackError: A file is malformed, or a pattern names an unknown class.
    """
    files = read_files(language)
    lexer = _lexer(files)
    depths = tuple(
        DepthRule(
            row.depth,
            *_compiled(row, row.depth, files, lexer),
            tuple(row.examples),
            tuple(row.counter_examples),
        )
        for row in files.triggers.depth
    )
    rules = tuple(_rule(row, files, lexer) for row in files.triggers.rule)
    needs = tuple(_need(row, files, lexer) for row in files.needs.need)
    compiled: list[DepthRule | Rule | Need] = [*depths, *rules, *needs]
    sets = [patterns for row in compiled for patterns in (row.patterns, row.unless)]
    return Pack(
        language=language,
        lexer=lexer,
        depths=depths,
        rules=rules,
        needs=needs,
        relations={word: tuple(to) for word, to in files.needs.relations.items()},
        gloss=dict(files.needs.gloss),
        version=files.version,
        index=PatternIndex(sets),
    )


def _lexer(files: PackFiles) -> Lexer:
    """The lexer of a language: its classes, their plurals, and the phrases of its patterns."""
    lexicon = files.lexicon
    classes = {name: row.split() for name, row in lexicon.classes.items()}
    _plurals(
        classes,
        lexicon.plural.get("classes", "").split(),
        lexicon.plural.get("endings", "s").split(),
    )
    spaced = {name: [word.replace("_", " ") for word in row] for name, row in classes.items()}
    literals: set[str] = set()
    for row in files.rows():
        for pattern in (*row.patterns, *row.unless):
            literals |= literals_of(pattern)
    spaced["_phrases"] = [word.replace("_", " ") for word in literals if "_" in word]
    spaced["_relations"] = [word.replace("_", " ") for word in files.needs.relations]
    return Lexer(
        spaced,
        {word: row.split() for word, row in lexicon.expand.items()},
        literals,
        classes.get("filler", ()),
        classes.get("closer", ()),
        elision=lexicon.elision,
    )


def _compiled(
    row: PatternRow, name: str, files: PackFiles, lexer: Lexer
) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]]:
    """The patterns of a row, and those that silence it."""
    try:
        return (
            tuple(compile_pattern(pattern, lexer) for pattern in row.patterns),
            tuple(compile_pattern(pattern, lexer) for pattern in row.unless),
        )
    except PatternError as error:
        raise PackError(f"{files.where}, rule {name!r}: {error}") from error


def _rule(row: RuleRow, files: PackFiles, lexer: Lexer) -> Rule:
    patterns, unless = _compiled(row, row.id, files, lexer)
    return Rule(
        id=row.id,
        trigger=row.trigger,
        outcome=row.outcome,
        patterns=patterns,
        unless=unless,
        include_all=row.include_all,
        categories=tuple(row.categories),
        examples=tuple(row.examples),
        counter_examples=tuple(row.counter_examples),
    )


def _need(row: NeedRow, files: PackFiles, lexer: Lexer) -> Need:
    patterns, unless = _compiled(row, row.id, files, lexer)
    shared = files.slots[row.id]
    return Need(
        id=row.id,
        slots=tuple(shared.slots),
        soft=tuple(shared.soft),
        categories=tuple(shared.categories),
        subjects=tuple(shared.subjects),
        domains=tuple(shared.domains),
        gloss=shared.gloss,
        past=shared.past,
        wide=shared.wide,
        patterns=patterns,
        unless=unless,
        examples=tuple(row.examples),
        counter_examples=tuple(row.counter_examples),
    )


@cache
def function_words() -> dict[str, int]:
    """Word -> bit set of the languages (``LANGUAGES`` order) whose function word it is."""
    bits: dict[str, int] = {}
    for n, language in enumerate(LANGUAGES):
        for word in read_function_words(language):
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
