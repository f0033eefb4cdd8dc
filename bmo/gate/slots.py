"""Plain slots: a canonical memory from a clause that a pattern covers whole.

"my brother is sam" becomes *Has a brother named Sam*, with slot and value. The table is
``tables/slots.toml``. Whatever a pattern does not cover from end to end stays in the user's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from bmo.gate.small_talk import small_talk
from bmo.gate.tables import given_names, read_table
from bmo.language import LANGUAGES, LanguageCode, words
from bmo.turn import Cardinality, Category, Fact, Kind, Polarity

MAX_WORDS = 30
"""A longer turn is no plain statement."""

MAX_VALUE_WORDS = 5
"""A correction of more words is no value of a slot."""

_BORDERS = re.compile(
    r"(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bst)(?<!\bmrs)(?<!\bprof)[.!?;,:]+(?=\s|$)|"
    r"\s(?:and|but|und|aber|et|mais|y|pero)\s"
    r"(?=(?:i|i'm|im|my|we|our|ich|mein|meine|wir|je|j'|mon|ma|me|mi|tengo|vivo|soy)\b)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:(?:hi|hey|hello|so|well|oh|yeah|yes|no(?=\s(?:wait|sorry|i|i'm|im|my|we|our)\b)|"
    r"wait|sorry|ok|okay|also|and|btw|by the way|actually|bmo|"
    r"hallo|ja|nein|also|übrigens|und|salut|bonjour|oui|non|alors|et|hola|bueno|pues|sí|y)\s+)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"\s+(?:(?:last|this|next) (?:week|weekend|month|year|spring|summer|autumn|fall|winter)|"
    r"yesterday|today|recently|(?:a|two|three|few|couple of) (?:days?|weeks?|months?|years?) ago|"
    r"letzte[snr]? (?:woche|wochenende|monat|jahr|sommer|winter)|gestern|hier|ayer|"
    r"(?:l['’]|la |le )?(?:semaine|mois|année|an|week-end|été|hiver) derni(?:er|ère)|"
    r"(?:el|la) (?:semana|mes|año|fin de semana|verano|invierno) pasad[oa]|"
    r"by the way|btw|bmo|too|as well|now|these days|at the moment|currently|you know|"
    r"any ?more|actually|übrigens|jetzt|maintenant|ahora|también|aussi|auch)$",
    re.IGNORECASE,
)
_NOT_A_VALUE = frozenset(
    "i you he she it we they me him her us them my your his its our their that this these those "
    "there here what who whom which when where why how if because so but than then as while until "
    "is are was were be been being am do does did done have has had having will would could should "
    "can may might must shall not no never ever just only really very too also maybe perhaps to "
    "i'm it's that's don't didn't won't can't fear hope peace debt denial style home work free "
    "night nights day days bit lot while mind time ich du er sie es wir ihr sich nicht kein wenn "
    "weil dass je tu il elle on nous vous ils que qui si quand yo tú él ella que quien si cuando "
    "no not now jetzt maintenant ahora last next this week weekend month year ago yesterday "
    "today since until for gestern "
    "letzte hier dernière ayer pasada".split()
)
_WEEKDAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag "
    "freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes "
    "miércoles jueves viernes sábado domingo".split()
)
_LIST = re.compile(r"\s*,\s*(?:and\s+|und\s+|et\s+|y\s+)?|\s+(?:and|und|et|y|&)\s+")
"""What stands between the members of a list."""

_CAPTURE = re.compile(r"\(\?P<\w+>")

_NAMING = ("name", "place", "technologies")
"""Captures that name what a memory mentions."""

_ARTICLES = frozenset("a an the some any einen eine ein un une une una unos unas".split())
_LANGUAGES = frozenset(
    "english german french spanish portuguese italian dutch danish swedish norwegian "
    "finnish polish "
    "czech slovak russian ukrainian turkish greek arabic hebrew farsi persian urdu hindi punjabi "
    "bengali tamil telugu gujarati mandarin cantonese chinese japanese korean vietnamese thai "
    "tagalog malay indonesian swahili yoruba igbo hausa twi amharic somali zulu xhosa afrikaans "
    "welsh irish gaelic scots catalan basque galician romanian hungarian bulgarian serbian "
    "croatian "
    "albanian kurdish pashto nepali sinhala latin esperanto deutsch englisch französisch spanisch "
    "italienisch türkisch russisch polnisch arabisch anglais allemand espagnol français italien "
    "portugais arabe inglés alemán francés español italiano portugués árabe and und et y".split()
)
_NO_NAMES = _NOT_A_VALUE | _LANGUAGES | _WEEKDAYS
_MONTHS = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|januar|februar|märz|mai|juni|juli|oktober|"
    r"dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre|"
    r"enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
)
_MONTH = re.compile(_MONTHS)
_CAPTURES = {
    "name": r"(?P<name>[^\W\d_][\w'-]*(?:\s[^\W\d_][\w'-]*)?)",
    "called": r"(?P<called>[^\W\d_][\w'-]*(?:\s[^\W\d_][\w'-]*)?)",
    "place": r"(?P<place>[^\W\d_][\w'.&-]*(?:\s[\w'.&-]+){0,3})",
    "thing": r"(?P<thing>[\w][\w'.+#/-]*(?:\s[\w'.+#/-]+){0,4})",
    "words": r"[\w'-]+(?:\s[\w'-]+){0,3}",
    "number": r"(?P<number>\d{1,3})",
    "date": (
        rf"(?P<date>(?:\d{{1,2}}\w{{0,2}}\.?\s(?:of\s|de\s)?{_MONTHS}"
        rf"|{_MONTHS}\s(?:the\s)?\d{{1,2}}\w{{0,2}}))"
    ),
    "languages": r"(?P<languages>\w+(?:,?\s\w+){0,4})",
    "technologies": r"(?P<technologies>[\w.+#]+(?:(?:,|\s)+[\w.+#&]+){0,20}?)",
}


@dataclass(frozen=True, slots=True)
class SlotReading:
    """What plain slots read in a turn.

    Attributes:
        facts: Canonical memories, without id of the turn's words.
        covers: Whether nothing but small talk is left beside them.
    """

    facts: tuple[Fact, ...] = ()
    covers: bool = False


def read_slots(text: str, language: LanguageCode) -> SlotReading:
    """Canonical memories of the plain clauses of a turn.

    Args:
        text: The user's words without fillers.
        language: Whose patterns apply; the English ones apply too.
    """
    if "?" in text or len(text.split()) > MAX_WORDS:
        return SlotReading()
    clauses = [part.strip() for part in _clauses(text, language)]
    read = [(clause, _read_clause(clause, language)) for clause in clauses if clause]
    facts = tuple(fact for _, found in read for fact in found)
    covers = bool(facts) and all(found or small_talk(clause) for clause, found in read)
    return SlotReading(facts, covers)


def with_value(text: str, value: str) -> str:
    """The last clause of a text with another value, or that alone where no plain slot reads both.

    Args:
        text: What was said before ("i live in oslo").
        value: What is right instead ("bergen").
    """
    clauses = [part.strip() for part in _BORDERS.split(text) if part.strip()]
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
    return [whole] if listed else _BORDERS.split(text)


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


def _read_clause(clause: str, language: LanguageCode) -> tuple[Fact, ...]:
    plain = _OPENING.sub("", clause.replace("’", "'"))
    short = _TRAILING.sub("", plain)
    screen = _screen(language)
    if screen.fullmatch(short) is None and (short == plain or screen.fullmatch(plain) is None):
        return ()  # most clauses
    for rule in _rules(language):
        for said in dict.fromkeys((short, plain)):
            for pattern in rule.patterns:
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
    kin: dict[str, str]
    patterns: tuple[re.Pattern[str], ...]
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
            values["name" if name == "called" else name] = value
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
    if not _NO_NAMES.isdisjoint(lower := value.lower().split()):
        return None
    if any(_MONTH.fullmatch(part) and part not in known for part in lower):
        return None
    return " ".join(part if part[0].isupper() else part[0].upper() + part[1:] for part in parts)


def _is_called(value: str) -> str | None:
    """A name where the clause says that one follows: any word will do."""
    if any(word in _NOT_A_VALUE for word in words(value)):
        return None
    return " ".join(part[0].upper() + part[1:] for part in value.split())


def _is_place(value: str) -> str | None:
    parts = value.split()
    lower = [part.lower() for part in parts]
    if lower[0] in _ARTICLES or any(word in _NOT_A_VALUE for word in lower):
        return None
    small = {"of", "upon", "on", "de", "del", "la", "am", "an", "der", "sur", "le", "and", "the"}
    return " ".join(
        part if part[0].isupper() or part.lower() in small else part[0].upper() + part[1:]
        for part in parts
    )


def _is_plain(value: str) -> str | None:
    return None if any(word in _NOT_A_VALUE for word in words(value)) else value


def _is_technology(value: str) -> str | None:
    return _technologies().get(" ".join(value.lower().split()))


@cache
def _technologies() -> dict[str, str]:
    """What a technology is called, lower-case -> its name."""
    table: dict[str, list[str]] = read_table("technologies.toml")
    return {called: name for name, calls in table.items() for called in (*calls, name.lower())}


def _are_languages(value: str) -> str | None:
    said = words(value)
    if not said or not _LANGUAGES.issuperset(said):
        return None
    joins = {"and", "und", "et", "y"}
    return " ".join(word if word in joins else word.capitalize() for word in said)


_CHECKS: dict[str, Callable[[str], str | None]] = {
    "name": _is_name,
    "called": _is_called,
    "place": _is_place,
    "languages": _are_languages,
    "technologies": _is_technology,
}


@cache
def _rules(language: LanguageCode) -> tuple[_SlotRule, ...]:
    codes = dict.fromkeys((language, "en"))
    return tuple(rule for code in codes for rule in _rules_of(code))


@cache
def _screen(language: LanguageCode) -> re.Pattern[str]:
    """One pattern for a clause that any rule's pattern may cover."""
    patterns = (pattern.pattern for rule in _rules(language) for pattern in rule.patterns)
    return re.compile("|".join(_CAPTURE.sub("(?:", p) for p in patterns), re.IGNORECASE)


@cache
def _rules_of(language: str) -> tuple[_SlotRule, ...]:
    kin = {
        called: relation
        for relation, names in read_table("kin.toml")[language].items()
        for called in names
    }
    return tuple(_rule(item, language, kin) for item in read_table("slots.toml")["slot"])


def _rule(item: dict[str, Any], language: str, kin: dict[str, str]) -> _SlotRule:
    choices: dict[str, str] = item.get("choices", {})
    captures = {
        **_CAPTURES,
        "kin": f"(?P<kin>{_any_of(kin)})",
        "choice": f"(?P<choice>{_any_of(choices)})",
    }
    patterns = []
    for pattern in item[language]:
        for name, capture in captures.items():
            pattern = pattern.replace(f"{{{name}}}", capture)
        patterns.append(re.compile(pattern, re.IGNORECASE))
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
        patterns=tuple(patterns),
        canonical=re.compile(
            item["text"].replace("Has a ", "Has an? ").format(**captures, of=r"(?P<of>[\w ]+)")
        ),
    )


def _any_of(options: dict[str, str]) -> str:
    return "|".join(sorted(map(re.escape, options), key=len, reverse=True)) or r"(?!)"


def check_table() -> list[str]:
    """What of the table's examples and counter-examples does not hold; for tests."""
    wrong = []
    for item in read_table("slots.toml")["slot"]:
        for said, wanted in item["examples"]:
            texts = {f.text for code in LANGUAGES for f in read_slots(said, code).facts}
            if wanted not in texts:
                wrong.append(f"{item['slot']}: {said!r} gives {sorted(texts)}, not {wanted!r}")
        for said in item["counter"]:
            for code in LANGUAGES:
                found = read_slots(said, code).facts
                if any(fact.rule_id == item["slot"] for fact in found):
                    wrong.append(f"{item['slot']}: {said!r} gives {[f.text for f in found]}")
    return wrong
