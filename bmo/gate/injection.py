"""Injection firewall: text that tries to steer the assistant through its memory.

Such text is held, never stored or recalled: orders to ignore instructions, roles forced on the
assistant, rules planted for the benefit of third parties, orders quoted from mails and pages,
prompt extraction, markup that imitates the conversation's own. A person's own standing wishes
("always answer in celsius") pass.

The rules are data (``packs/<language>/injection.toml``). All languages' rules look at every turn,
in one RE2 set: linear in the length of the text, whatever the text is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import re2

from bmo.gate.pack_tables import read_table
from bmo.gate.pattern_needs import Need, NeededWords, pattern_needs

InjectionKind = Literal[
    "override",
    "role",
    "plant",
    "quoted",
    "extraction",
    "markup",
    "link",
    "steering",
    "obfuscation",
]
"""What an attack tries: see the rules' files."""

LANGUAGES = ("en", "de", "fr", "es")
MAX_SCANNED = 20_000
"""Characters that are looked at; the gate itself reads no more than 2,000."""

# Only ASCII marks end a word: typographic ones are mapped to ASCII first, which keeps the
# automaton a tenth of the size that Unicode classes give it.
_MARK = r"\x00-/:-@\[-`{-\x7f"
_EDGE_LEFT = rf"(?:^|[{_MARK}])"
_EDGE_RIGHT = rf"(?:[{_MARK}]|$)"
_BLANK = r"[\x00- \"-\-/:->@\[-`{-\x7f]{1,4}"
_GAP = rf"(?:[{_MARK}](?:[^.?!]|[.?!]\S)*)?[{_MARK}]"
_LOOSE_GAP = r"(?:[^.?!]|[.?!]\S)*"
_TO_ASCII = {
    **dict.fromkeys(map(ord, "‘’‚‛´′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»‹›″"), '"'),
    **dict.fromkeys(map(ord, "–—―"), "-"),
    **dict.fromkeys(map(ord, "\u00a0¿¡"), " "),
    ord("…"): ".",
}
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_TAG_CHARACTERS = re.compile("[\U000e0020-\U000e007e]")
_FEWEST_SPELLED = 14
FEWEST_LETTERS = _FEWEST_SPELLED - 1
"""Words of one character in what is spelled out: all but its first, to which a mark may cling."""
_SPELLED = re.compile(rf"(?:(?<!\w)\w [\s]*+){{{_FEWEST_SPELLED},}}")
_MARKS = frozenset(".?!\n")
_SENTENCE_END = re.compile(r"[.?!\n]+(?=\s|$)")


class InjectionRulesError(ValueError):
    """A rule of ``injection.toml`` is wrong; the message names file, rule and what is wrong."""


@dataclass(frozen=True, slots=True)
class InjectionFinding:
    """Why a text is taken for an attack.

    Attributes:
        kind: What it tries.
        rule_id: The rule that saw it ("plant.recommend").
        start: Character offset where the match starts in the text without invisible characters.
        end: Offset after it.
    """

    kind: InjectionKind
    rule_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a match means, and the exceptions that excuse the sentence it stands in."""

    id: str
    kind: InjectionKind
    unless: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Rules:
    """All patterns behind RE2's literal filter, and which rule each belongs to.

    The filter looks for the words that a pattern cannot do without, and only then runs the
    pattern: 4 us a turn where one set of all patterns took 125 us until its states were built.
    """

    patterns: Any
    owners: tuple[_Rule, ...]
    needed: NeededWords


def scan(text: str, *, pieces: Sequence[str] | None = None) -> InjectionFinding | None:
    """Looks for an attack.

    Args:
        text: A turn's words; the first ``MAX_SCANNED`` characters are looked at.
        pieces: What stands between the text's spaces, where the caller has split it already.

    Returns:
        The first finding in rule order, or None. Ordinary turns cost a few microseconds.
    """
    if len(text) > MAX_SCANNED:
        text, pieces = text[:MAX_SCANNED], None
    if not text.isascii():
        pieces = None
        if _TAG_CHARACTERS.search(text):
            return InjectionFinding("obfuscation", "obfuscation.tags", 0, len(text))
        text = _INVISIBLE.sub("", text).translate(_TO_ASCII)
        text = text.encode("utf-8", "replace").decode("utf-8")
    if pieces is None:
        pieces = text.split(" ")
    if may_be_spelled(text, pieces):
        spelled = _SPELLED.search(text)
        if spelled:
            return InjectionFinding("obfuscation", "obfuscation.spelled", *spelled.span())
    rules = _load_rules()
    if text.isascii() and not rules.needed.may_match(pieces):
        return None  # most turns
    fired = rules.patterns.Match(text.lower())
    if not fired:
        return None
    for index in sorted(fired):
        rule = rules.owners[index]
        sentences = _Sentences(text)
        for match in rules.patterns.re(index).finditer(text):
            if not rule.unless or not sentences.excuse(rule, match.span()):
                return InjectionFinding(rule.kind, rule.id, match.start(), match.end())
    return None


def is_harmless(piece: str) -> bool:
    """Whether no attack begins to look like one because of this piece of a text."""
    needed = _load_rules().needed
    return piece.isascii() and needed.certain and needed.plain.hold_all((piece,))


def may_be_spelled(text: str, pieces: Sequence[str]) -> bool:
    """Whether a text has so many words of one character that an attack may be spelled out."""
    return len(pieces) > _FEWEST_SPELLED and _letters(text, pieces) >= FEWEST_LETTERS


def _letters(text: str, pieces: Sequence[str]) -> int:
    """How many words of one character a text has; what is spelled has all but its first so."""
    words = pieces if text.isprintable() else text.split()  # it may have other blanks than spaces
    return list(map(len, words)).count(1)


class _Sentences:
    """The sentences in which one rule's matches stand, and whether its exceptions excuse them.

    What was seen of each is kept: a bound on time for what is said for ever.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.known: dict[tuple[int, int], bool] = {}
        self.last: tuple[int, int] | None = None
        self.place = (0, 0)

    def excuse(self, rule: _Rule, found: tuple[int, int]) -> bool:
        """Whether one of the rule's exceptions matches in the sentence of the match."""
        place = self._around(found)
        if place not in self.known:
            sentence = self.text[slice(*place)]
            self.known[place] = any(p.search(sentence) is not None for p in rule.unless)
        return self.known[place]

    def _around(self, found: tuple[int, int]) -> tuple[int, int]:
        """Where the sentence of a match begins and ends; matches come in order."""
        start, end = found
        text, last = self.text, self.last
        self.last = found
        if last is not None and last[1] <= start and end - 1 < self.place[1]:
            if text[start - 1] not in _MARKS and _MARKS.isdisjoint(text[slice(*last)]):
                return self.place  # no sentence has ended since
        begin = 0
        for border in _SENTENCE_END.finditer(text, 0, start):
            begin = border.end()
        border_after = _SENTENCE_END.search(text, max(start, end - 1))
        self.place = (begin, border_after.start() if border_after else len(text))
        return self.place


def load_pack(language: str) -> dict[str, Any]:
    """One language's ``injection.toml`` as it stands, with its examples.

    Raises:
        InjectionRulesError: The file is not valid TOML.
    """
    try:
        return read_table(language, "injection.toml")
    except tomllib.TOMLDecodeError as error:
        raise InjectionRulesError(f"{language}/injection.toml: {error}") from None


@cache
def _load_rules() -> _Rules:
    """All languages' rules, compiled once per process."""
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = 64 << 20
    patterns = re2.Filter()
    owners: list[_Rule] = []
    needs: list[list[Need]] = []
    for language in LANGUAGES:
        pack = load_pack(language)
        for raw in pack["rule"]:
            where = f"{language}/injection.toml: rule {raw.get('id')!r}"
            if raw.get("kind") not in get_args(InjectionKind):
                raise InjectionRulesError(f"{where}: unknown kind {raw.get('kind')!r}")
            try:
                unless = tuple(
                    re2.compile(expand(source, pack["words"]), options)
                    for source in raw.get("unless", ())
                )
                for source in raw["patterns"]:
                    written = source if raw.get("raw") else expand(source, pack["words"])
                    patterns.Add(written, options)
                    needs.append(needs_of(source, pack["words"], raw=raw.get("raw", False)))
                    owners.append(_Rule(raw["id"], raw["kind"], unless))
            except (re2.error, KeyError) as error:
                raise InjectionRulesError(f"{where}: {error}") from None
    patterns.Compile()
    return _Rules(patterns, tuple(owners), NeededWords(needs))


def expand(pattern: str, words: dict[str, str]) -> str:
    """A pattern as written in the pack, as an RE2 pattern.

    Args:
        pattern: With blanks, "...", apostrophes and ``{word classes}`` as the pack explains them.
        words: The word classes.
    """
    named, left, right = _named(pattern, words)
    body = "".join(_pieces(named))
    return f"{_EDGE_LEFT if left else ''}(?:{body}){_EDGE_RIGHT if right else ''}"


def needs_of(pattern: str, words: dict[str, str], *, raw: bool) -> list[Need]:
    """What a text must hold for a pattern to match, as ``pattern_needs`` has it.

    Args:
        pattern: As written in the pack.
        words: The word classes.
        raw: The pattern is RE2's own language.
    """
    if raw:
        return pattern_needs(pattern, left=False, right=False, dialect=False)
    named, left, right = _named(pattern, words)
    return pattern_needs(named, left=left, right=right, dialect=True)


def _named(pattern: str, words: dict[str, str]) -> tuple[str, bool, bool]:
    """A pattern with its word classes spelled out, and whether it wants whole words at its ends."""
    named = re.sub(r"\{([a-z]+)\}", lambda found: words[found[1]], pattern).rstrip(" ")
    right = not named.endswith((" )+", " )*", "$", " )", "]*$"))
    return named, not named.startswith("(?:^"), right


def _pieces(pattern: str) -> Iterator[str]:
    """The pattern's parts with blanks, gaps and apostrophes spelled out; classes are left."""
    index = 0
    while index < len(pattern):
        char = pattern[index]
        if char == "[":
            end = pattern.index("]", index + 2) + 1
            yield pattern[index:end]
            index = end
        elif pattern.startswith(" ... ", index):
            yield _GAP
            index += 5
        elif pattern.startswith("...", index):
            yield _LOOSE_GAP
            index += 3
            if pattern.startswith(" ", index):
                index += 1
        elif char == " ":
            end = index + 1
            quantified = pattern[end : end + 1] in ("?", "*")
            yield f"(?:{_BLANK})" if quantified else _BLANK
            index = end
        elif char == "'":
            yield "['`]?"
            index += 1
        elif char == "\\":
            yield pattern[index : index + 2]
            index += 2
        else:
            yield char
            index += 1
