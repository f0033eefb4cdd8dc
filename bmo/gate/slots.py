"""Plain slots: a canonical memory from a clause that a pattern covers whole.

"my brother is sam" becomes *Has a brother named Sam*, with slot and value. The table is
``tables/slots.toml``. Whatever a pattern does not cover from end to end stays in the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bmo.gate.published_signals import only_corrects
from bmo.gate.small_talk import small_talk
from bmo.gate.tables import given_names, kin_words, read_table, words_of
from bmo.language import LANGUAGES, LanguageCode, words
from bmo.turn import Cardinality, Category, Fact, Kind, Polarity

MAX_WORDS = 30
"""A longer turn is no plain statement."""

MAX_VALUE_WORDS = 5
"""A correction of more words is no value of a slot."""

_LIST = re.compile(r"\s*,\s*(?:and\s+|und\s+|et\s+|y\s+)?|\s+(?:and|und|et|y|&)\s+")
"""What stands between the members of a list."""

_CAPTURE = re.compile(r"\(\?P<\w+>")

_NAMING = ("name", "place", "tool", "technologies")
"""Captures that name what a memory mentions."""

_ARTICLES = frozenset("a an the some any einen eine ein un une une una unos unas".split())

_CAPTURES = {
    "name": r"(?P<name>[^\W\d_][\w'-]*(?:\s[^\W\d_][\w'-]*)?)",
    "known": r"(?P<known>[^\W\d_][\w'-]*(?:\s[^\W\d_][\w'-]*)?)",
    "called": r"(?P<called>[^\W\d_][\w'-]*(?:\s[^\W\d_][\w'-]*)?)",
    "place": r"(?P<place>[^\W\d_][\w'.&-]*(?:\s[\w'.&-]+){0,3})",
    "thing": r"(?P<thing>[\w][\w'.+#/-]*(?:\s[\w'.+#/-]+){0,4})",
    "tool": r"(?P<tool>[\w][\w'.+#/-]*(?:\s[\w'.+#/-]+){0,4})",
    "words": r"[\w'-]+(?:\s[\w'-]+){0,3}",
    "number": r"(?P<number>\d{1,3})",
    "date": (
        r"(?P<date>(?:\d{1,2}\w{0,2}\.?\s(?:of\s|de\s)?{month}"
        r"|{month}\s(?:the\s)?\d{1,2}\w{0,2}))"
    ),
    "languages": r"(?P<languages>\w+(?:,?\s\w+){0,4})",
    "technologies": r"(?P<technologies>[\w.+#]+(?:(?:,|\s)+[\w.+#&]+){0,20}?)",
}


@dataclass(frozen=True, slots=True)
class SlotReading:
    """What plain slots read in a turn.

    Attributes:
        facts: Canonical memories, without id of the turn's words.
        covers: Whether nothing is left beside them but small talk and "that's wrong".
    """

    facts: tuple[Fact, ...] = ()
    covers: bool = False


def read_slots(text: str, language: LanguageCode, asked: str = "") -> SlotReading:
    """Canonical memories of the plain clauses of a turn.

    Args:
        text: The user's words without fillers.
        language: Whose patterns apply; the English ones apply too.
        asked: The assistant's words before: what "it's" means their question says.
    """
    if "?" in text or len(text.split()) > MAX_WORDS:
        return SlotReading()
    clauses = [part.strip() for part in _clauses(text, language)]
    read = [(clause, _read_clause(clause, language, asked)) for clause in clauses if clause]
    facts = tuple(fact for _, found in read for fact in found)
    covers = bool(facts) and all(
        found or small_talk(clause) or only_corrects(clause) for clause, found in read
    )
    return SlotReading(facts, covers)


def with_value(text: str, value: str) -> str:
    """The last clause of a text with another value, or that alone where no plain slot reads both.

    Args:
        text: What was said before ("i live in oslo").
        value: What is right instead ("bergen").
    """
    clauses = [part.strip() for part in _pattern("border").split(text) if part.strip()]
    clause = next((part for part in reversed(clauses) if small_talk(part) is None), "")
    for language in LANGUAGES if clause and len(value.split()) <= MAX_VALUE_WORDS else ():
        for fact in _read_clause(clause, language):
            other = re.sub(re.escape(fact.value), lambda _: value, clause, flags=re.IGNORECASE)
            if read_slots(other, language).covers:
                return other
    return value


def _clauses(text: str, language: LanguageCode) -> list[str]:
    """The clauses of a turn; the whole turn where it is a list, whose commas are no borders."""
    whole = text.strip().rstrip(".!")
    listed = "," in whole and len(_read_clause(whole, language)) > 1
    return [whole] if listed else _pattern("border").split(text)


def read_canonical(text: str) -> Fact | None:
    """The memory of a text that is written as a slot writes it ("Lives in Leeds"), or None.

    A model service behind the gate is told the slots' texts: what it writes so gets slot and value.
    """
    for rule in _rules_of("en"):
        found = rule.canonical.fullmatch(text)
        facts = rule.facts(found.groupdict()) if found else ()
        if len(facts) == 1:
            return facts[0]
    return None


def canonical_texts() -> list[tuple[str, str]]:
    """Slots with the texts that they write, captures in braces."""
    return [(rule.slot, rule.text) for rule in _rules_of("en") if "{choice}" not in rule.text]


def _read_clause(clause: str, language: LanguageCode, asked: str = "") -> tuple[Fact, ...]:
    clause = clause.replace("’", "'")
    if _screen(language).fullmatch(clause) is None:
        return ()  # most clauses
    plain = _pattern("opening").sub("", clause)
    short = _pattern("trailing").sub("", plain)
    for rule in _rules(language):
        for said in dict.fromkeys((short, plain)):
            for pattern in (*rule.patterns, *(rule.answers if rule.asks.search(asked) else ())):
                found = pattern.fullmatch(said)
                facts = rule.facts(found.groupdict()) if found else ()
                if facts:
                    return facts
    return ()


@dataclass(frozen=True, slots=True)
class _SlotRule:
    """A slot of the table in one language."""

    slot: str
    cardinality: Cardinality
    category: Category
    kind: Kind
    polarity: Polarity
    sensitive: bool
    text: str
    choices: dict[str, str]
    kin: Mapping[str, str]
    patterns: tuple[re.Pattern[str], ...]
    answers: tuple[re.Pattern[str], ...]
    asks: re.Pattern[str]
    canonical: re.Pattern[str]

    def facts(self, groups: dict[str, str | None]) -> tuple[Fact, ...]:
        """The memories of a match: one, or one for each technology of a list.

        None at all when a capture is not of its type.
        """
        listed = [groups]
        if groups.get("technologies"):
            named = _LIST.split((groups["technologies"] or "").strip())
            listed = [{**groups, "technologies": name} for name in named]
        found = [fact for each in listed if (fact := self._fact(each)) is not None]
        return tuple(found) if len(found) == len(listed) else ()

    def _fact(self, groups: dict[str, str | None]) -> Fact | None:
        """The memory of one choice of captures, or None when one is not of its type."""
        values: dict[str, str] = {}
        for name, raw in groups.items():
            value = _checked(name, (raw or "").strip(), self)
            if value is None:
                return None
            values["name" if name in ("called", "known") else name] = value
        subject, slot = "user", self.slot
        value = next((v for k, v in values.items() if k not in ("kin", "of")), "")
        if slot == "person":
            subject, slot = f"user.{values['kin']}:{values['name'].lower()}", "name"
        elif slot == "favourite":
            slot = f"favourite_{values['of'].lower().replace(' ', '_')}"
        text = self.text.format(**values)
        if values.get("kin", "")[:1] in tuple("aeiou"):
            text = text.replace("Has a ", "Has an ")
        return Fact(
            text=text,
            category=self.category,
            slot=slot,
            value=value,
            subject=subject,
            cardinality=self.cardinality,
            polarity=self.polarity,
            kind=self.kind,
            confidence=0.95,
            rule_id=self.slot,
            extraction_method=f"pattern:{self.slot}",
            entities=tuple(v.lower() for k, v in values.items() if k in _NAMING),
            sensitive=self.sensitive,
        )


def _checked(kind: str, value: str, rule: _SlotRule) -> str | None:
    """A capture in the form it is stored in; None when it is not of its type."""
    if kind == "kin":
        return rule.kin.get(" ".join(value.lower().split()))
    if kind == "choice":
        return rule.choices.get(" ".join(value.lower().split()))
    check = _CHECKS.get(kind, _is_plain)
    return check(value) if value else None


def _is_name(value: str) -> str | None:
    parts = value.split()
    known = given_names()
    if not all(part.lower() in known or part[0].isupper() for part in parts):
        return None
    lower = value.lower().split()
    for kind in ("not_a_value", "language", "weekday"):
        if not words_of("slots.toml", kind).isdisjoint(lower):
            return None
    if any(_month().fullmatch(part) and part not in known for part in lower):
        return None
    return " ".join(part if part[0].isupper() else part[0].upper() + part[1:] for part in parts)


def _is_known_name(value: str) -> str | None:
    """A name where a noun could stand as well, which German writes with a capital letter."""
    return _is_name(value) if value.split()[0].lower() in given_names() else None


def _is_called(value: str) -> str | None:
    """A name where the clause says that one follows: any word will do."""
    if not words_of("slots.toml", "not_a_value").isdisjoint(words(value)):
        return None
    return " ".join(part[0].upper() + part[1:] for part in value.split())


def _is_place(value: str) -> str | None:
    parts = value.split()
    lower = [part.lower() for part in parts]
    if lower[0] in _ARTICLES or not words_of("slots.toml", "not_a_value").isdisjoint(lower):
        return None
    small = {"of", "upon", "on", "de", "del", "la", "am", "an", "der", "sur", "le", "and", "the"}
    return " ".join(
        part if part[0].isupper() or part.lower() in small else part[0].upper() + part[1:]
        for part in parts
    )


def _is_plain(value: str) -> str | None:
    return None if not words_of("slots.toml", "not_a_value").isdisjoint(words(value)) else value


def _is_technology(value: str) -> str | None:
    return _technologies().get(" ".join(value.lower().split()))


def _is_tool(value: str) -> str | None:
    """What is worked with: a technology under its first name, or anything else as it was said."""
    return _is_technology(value) or _is_plain(value)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    lines = read_table("slots.toml")["patterns"][name]
    return re.compile(lines.replace("\n", ""), re.IGNORECASE)


@cache
def _month() -> re.Pattern[str]:
    return re.compile(_months())


@cache
def _months() -> str:
    return f"(?:{'|'.join(read_table('slots.toml')['words']['month'].split())})"


@cache
def _technologies() -> dict[str, str]:
    """What a technology is called, lower-case -> its name."""
    table: dict[str, list[str]] = read_table("technologies.toml")
    return {called: name for name, calls in table.items() for called in (*calls, name.lower())}


def _are_languages(value: str) -> str | None:
    said = words(value)
    if not said or not words_of("slots.toml", "language").issuperset(said):
        return None
    joins = {"and", "und", "et", "y"}
    return " ".join(word if word in joins else word.capitalize() for word in said)


_CHECKS: dict[str, Callable[[str], str | None]] = {
    "name": _is_name,
    "known": _is_known_name,
    "called": _is_called,
    "place": _is_place,
    "languages": _are_languages,
    "technologies": _is_technology,
    "tool": _is_tool,
}


@cache
def _rules(language: LanguageCode) -> tuple[_SlotRule, ...]:
    codes = dict.fromkeys((language, "en"))
    return tuple(rule for code in codes for rule in _rules_of(code))


@cache
def _screen(language: LanguageCode) -> re.Pattern[str]:
    """One pattern for a clause that any rule's pattern may cover, with what is taken off."""
    rules = _rules(language)
    patterns = (one.pattern for rule in rules for one in (*rule.patterns, *rule.answers))
    plain = "|".join(_CAPTURE.sub("(?:", p) for p in patterns)
    opening, trailing = (_pattern(name).pattern.strip("^$") for name in ("opening", "trailing"))
    return re.compile(f"(?:{opening})?(?:{plain})(?:{trailing})?", re.IGNORECASE)


@cache
def _rules_of(language: str) -> tuple[_SlotRule, ...]:
    return tuple(_rule(item, language) for item in read_table("slots.toml")["slot"])


def _rule(item: dict[str, Any], language: str) -> _SlotRule:
    kin = kin_words(language)
    choices: dict[str, str] = item.get("choices", {})
    captures = {
        **_CAPTURES,
        "kin": f"(?P<kin>{_any_of(kin)})",
        "choice": f"(?P<choice>{_any_of(choices)})",
        "date": _CAPTURES["date"].replace("{month}", _months()),
    }

    def compiled(patterns: list[str]) -> tuple[re.Pattern[str], ...]:
        for name, capture in captures.items():
            patterns = [pattern.replace(f"{{{name}}}", capture) for pattern in patterns]
        return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)

    return _SlotRule(
        slot=item["slot"],
        cardinality=item["cardinality"],
        category=item["category"],
        kind=item.get("kind", "fact"),
        polarity=item.get("polarity", "positive"),
        sensitive=item.get("sensitive", False),
        text=item["text"],
        choices=choices,
        kin=kin,
        patterns=compiled(item.get(language, [])),
        answers=compiled(item.get("answers", {}).get(language, [])),
        # In the last question.
        asks=re.compile(rf"(?:{item.get('asks', '(?!)')})[^.!?]*\?\s*$", re.IGNORECASE),
        canonical=re.compile(
            item["text"].replace("Has a ", "Has an? ").format(**captures, of=r"(?P<of>[\w ]+)")
        ),
    )


def _any_of(options: Mapping[str, str]) -> str:
    return "|".join(sorted(map(re.escape, options), key=len, reverse=True)) or r"(?!)"
