"""Bare corrections: "no, leeds", "no wait, tuesday", "not tom, tim", "nein, in köln".

Nothing but the right value is said; what it stands for is a value of the same kind that the user
has just told or that the assistant has just repeated. Words are data
(``packs/<language>/corrections.toml``).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib import resources
from itertools import pairwise

from bmo.gate.corrections import value_words, with_value
from bmo.gate.packs import load_pack
from bmo.gate.people import people_lexicon
from bmo.gate.value_kinds import alike, calendar_kind, may_replace
from bmo.language import LanguageCode
from bmo.language.lexicon import Phrases, match_phrase, phrase_table
from bmo.language.times import NUMBER_WORDS, ORDINALS, WEEKDAYS
from bmo.turn import DialogueContext, Fact

_LONGEST = 9
_VALUE_WORDS = 3
_LATEST = 6
"""Latest facts of the session that a bare value may be about."""
_Kinds = tuple[tuple[str, ...], ...]
_KINDS: _Kinds = (
    ("cities",), ("occupations",), ("languages",), ("nationality",), ("technologies",), ("diet",),
    ("color", "colours"), ("instrument",), ("sport",), ("field",), ("religion",), ("handedness",),
    ("pronoun_set",),
)  # fmt: skip
"""Lexicons whose entries are values of one kind."""
_REFUSED: _Kinds = (
    ("allergens", "food_group", "food_more", "drink_group"), ("medication",), ("conditions",),
    ("body_part",),
)  # fmt: skip
"""The same of things that are refused as well: "no sugar" says nothing of what was told."""
_SUBJECTS = frozenset("i we he she they you it that this there".split())
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class _Words:
    openers: Phrases
    leads: Phrases
    tails: tuple[tuple[str, ...], ...]
    not_before: frozenset[str]
    not_behind: frozenset[str]
    but: Phrases
    never: frozenset[str]
    offers: frozenset[str]
    closers: tuple[tuple[str, ...], ...]
    sure: frozenset[str]
    sides: frozenset[str]

    def is_closed(self, said: Sequence[str]) -> bool:
        """Whether the words behind a value say that it puts something right ("almonds i mean")."""
        return any(
            len(said) > len(closer) and tuple(said[-len(closer) :]) == closer
            for closer in self.closers
        )

    def kind(self, value: Sequence[str]) -> str:
        """Whether a value is a day, a month, a number, its ordinal or a side; "" for others."""
        if len(value) == 1 and value[0] in self.sides:
            return "side"
        if len(value) == 1 and value[0] in ORDINALS:
            return "ordinal"
        return calendar_kind(value)


@lru_cache(maxsize=4)
def _words_of(language: LanguageCode) -> _Words:
    source = resources.files("bmo.gate") / "packs" / language / "corrections.toml"
    raw = tomllib.loads(source.read_text("utf-8"))
    return _Words(
        openers=phrase_table(raw["openers"]),
        leads=phrase_table(raw["leads"]),
        tails=tuple(sorted((tuple(t.split()) for t in raw["tails"]), key=len, reverse=True)),
        not_before=frozenset(raw["not_before"]),
        not_behind=frozenset(raw["not_behind"]),
        but=phrase_table(raw["but"]),
        never=frozenset(raw["never"].split()),
        offers=frozenset(raw["offers"].split()),
        closers=tuple(tuple(closer.split()) for closer in raw.get("closers", ())),
        sure=frozenset(raw.get("sure", "").split()),
        sides=frozenset(raw.get("sides", "").split()),
    )


def bare_correction(
    norm: Sequence[str],
    context: DialogueContext,
    assistant_before: str,
    language: LanguageCode,
    at: datetime,
) -> Fact | None:
    """The fact that a bare value puts right, with that value.

    Args:
        norm: The turn's words in normal form, before repair.
        context: The session's facts, newest first.
        assistant_before: What the assistant said last.
        language: Whose words apply.
        at: When it was said, for dates.

    Returns:
        None when nothing is corrected, or nothing of the kind was told or repeated.
    """
    if not context.recent_facts or len(norm) > _LONGEST:
        return None
    words = _words_of(language)
    if norm[0] not in words.openers and words.not_before.isdisjoint(norm[:3]):
        if words.not_behind.isdisjoint(norm[1:3]) and not words.is_closed(norm):
            return None
    said = list(norm)
    for wrong, right in _pairs(said, words):
        if right.partition(" ")[0] in _SUBJECTS:
            continue  # "we're not in leeds but in otley" has "we are" for no value
        found = _named(wrong, context)
        if found is not None and may_replace(found, wrong, right, language):
            return with_value(found, wrong, right, at)
    behind = _behind(words.openers, said, 0)
    if not behind and not words.is_closed(said):
        return None
    right_words = _value(said[behind:], words)
    if not right_words or _is_no_value(right_words, said[:behind], words):
        return None
    if "?" in assistant_before and not words.offers.isdisjoint(_tokens(assistant_before)):
        return None
    kinds = _KINDS if behind and said[behind - 1] == "no" else (*_KINDS, *_REFUSED)
    correction = _Correction(right_words, kinds, language, words)
    return _in_place_of(correction, context, assistant_before, at)


@dataclass(frozen=True, slots=True)
class _Correction:
    """A bare value: its words, the kinds it may be of, and the language's words."""

    right: list[str]
    kinds: _Kinds
    language: LanguageCode
    words: _Words


def _is_no_value(right: list[str], front: list[str], words: _Words) -> bool:
    """Whether what was said is a phrase of its own; "no, right" is, "i said right" is a side."""
    if len(right) > 1 and words.kind(right[:1]):
        return not words.never.isdisjoint(right[1:])
    sides = words.sides if not words.sure.isdisjoint(front) else frozenset()
    return not (words.never - sides).isdisjoint(right)


def _behind(table: Phrases, said: list[str], at: int) -> int:
    """The index behind phrases of a table that stand at ``at``."""
    while at < len(said):
        size = match_phrase(table, said, at)
        if not size:
            break
        at += size
    return at


def _value(said: list[str], words: _Words) -> list[str]:
    """A value without what leads to it and what follows it; none where too much is said."""
    begin = _behind(words.leads, said, 0) if said else 0
    value = said[begin:]
    for tail in (*words.tails, *words.tails):
        if len(value) > len(tail) and tuple(value[-len(tail) :]) == tail:
            value = value[: -len(tail)]
    return value if 0 < len(value) <= _VALUE_WORDS else []


def _pairs(said: list[str], words: _Words) -> Iterator[tuple[str, str]]:
    """Wrong and right value of "not tom, tim", "tomás no, tobías", one for each border."""
    start = _behind(words.openers, said, 0) if said[0] not in words.not_before else 0
    start = (
        max(0, start - 1)
        if said[start - 1 : start] == ["no"] and "no" in words.not_before
        else start
    )
    if start < len(said) and said[start] in words.not_before:
        for border in range(start + 2, min(start + 2 + _VALUE_WORDS, len(said))):
            right = _value(said[_behind(words.but, said, border) :], words)
            if right and words.never.isdisjoint(right):
                yield " ".join(said[start + 1 : border]), " ".join(right)
    for border in range(1, min(_VALUE_WORDS, len(said) - 2) + 1):
        if said[border] in words.not_behind:
            right = _value(said[_behind(words.but, said, border + 1) :], words)
            if right and words.never.isdisjoint(right):
                yield " ".join(said[:border]), " ".join(right)


def _named(wrong: str, context: DialogueContext) -> Fact | None:
    """The latest fact whose value ends with the wrong one."""
    asked = wrong.split()
    for fact in context.recent_facts:
        if fact.op != "retract" and value_words(fact.value)[-len(asked) :] == asked:
            return fact
    return None


def _in_place_of(
    correction: _Correction, context: DialogueContext, assistant_before: str, at: datetime
) -> Fact | None:
    right = correction.right
    heard = {word.removesuffix("'s") for word in _tokens(assistant_before)}
    own = {word for said, _ in context.recent_turns[:2] for word in _tokens(said)}
    for fact in context.recent_facts[:_LATEST]:
        if fact.op == "retract":
            continue
        for old in _values_in(fact, right, correction.words):
            stems = {word.removesuffix("s") for word in old}
            echoed = stems <= {word.removesuffix("s") for word in heard}
            if "?" in assistant_before and not echoed:
                continue
            told = not own or stems <= {word.removesuffix("s") for word in own}
            if old == right or not (echoed or told):
                continue
            if _fits(fact, old, right, correction):
                wrong, value = _as_written(fact, old, right)
                return with_value(fact, wrong, value, at)
    return None


def _tokens(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _values_in(fact: Fact, right: list[str], words: _Words) -> Iterator[list[str]]:
    """What may be wrong in a fact: its value; a day, number or side where one is put right."""
    old = value_words(fact.value.partition(": ")[2] or fact.value)
    while len(old) > 1 and old[0] in ("the", "a", "an", "mr", "mrs", "dr"):
        old = old[1:]
    if old and len(old) <= _VALUE_WORDS:
        yield old
    kind = words.kind(right)
    if kind:
        found = [word for word in _tokens(fact.text) if words.kind([word]) == kind]
        if len({NUMBER_WORDS.get(word, word) for word in found}) == 1:
            yield [found[0]]
    elif len(right) > 1 and (kind := words.kind(right[:1])):
        for said, noun in pairwise(_tokens(fact.text)):  # "one sugar" for "two sugars"
            if words.kind([said]) == kind and noun.removesuffix("s") == right[1].removesuffix("s"):
                yield [said, noun]


def _fits(fact: Fact, old: list[str], right: list[str], correction: _Correction) -> bool:
    """Whether one value may stand for the other: both of a kind, or heard alike."""
    kind_of, language = correction.words.kind, correction.language
    if kind_of(right) or kind_of(old):
        return kind_of(right) == kind_of(old)
    if len(right) > 1 and kind_of(right[:1]) and kind_of(right[:1]) == kind_of(old[:1]):
        return right[1].removesuffix("s") == old[-1].removesuffix("s")
    names = people_lexicon("en").names | people_lexicon(language).names
    if fact.slot == "name":
        return len(right) == 1 and (right[0] in names or alike(old, right))
    for kinds in correction.kinds:
        entries = [
            frozenset().union(*(load_pack(code).lexicons.get(name, ()) for name in kinds))
            for code in ("en", language)
        ]
        if any(tuple(old) in one for one in entries) and any(tuple(right) in o for o in entries):
            return True
    return alike(old, right) and fact.slot is not None


def _as_written(fact: Fact, old: list[str], right: list[str]) -> tuple[str, str]:
    """Both values in the form the fact has ("thursdays" -> "tuesdays")."""
    wrong, value = " ".join(old), " ".join(right)
    if calendar_kind(right) == "weekday":
        bare = value.removesuffix("s") if value.removesuffix("s") in WEEKDAYS else value
        return wrong, f"{bare}s" if wrong.endswith("s") and wrong[:-1] in WEEKDAYS else bare
    return wrong, value
