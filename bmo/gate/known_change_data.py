"""Constructions of change as data: ``packs/<language>/known_changes.toml``, read and compiled."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal, cast

from bmo.gate.pack_tables import read_table
from bmo.gate.people import label_of, people_lexicon
from bmo.language import LanguageCode
from bmo.turn import Fact

ChangeKind = Literal[
    "over",
    "swap",
    "moved",
    "gone",
    "forget",
    "count",
    "tool",
    "place",
    "taken",
    "couple",
    "word",
    "value",
]
"""``over`` ends, ``swap`` puts another thing, ``moved`` another time, ``count`` another number,
``tool`` another tool of the same kind, ``place`` another home; ``taken`` is of what somebody else
does from now on, ``couple`` of two people who are a couple no longer, ``word`` puts
another word in the place of one, ``value`` in the place of a memory's value; ``gone`` is of people;
``forget`` asks that no record is kept."""

_WORD = re.compile(r"[^\W_]+(?:['’:][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Alias:
    """A word for memories that do not say it: "uni" for what somebody studies."""

    slots: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """One construction.

    Attributes:
        id: Unique id.
        kind: What it does.
        patterns: Compiled; the groups are ``old``, ``new``, ``who``.
        tells: Words one of which every match has; empty where any word may.
        means: What is named, where the construction itself says it ("six weeks without a fag").
        opens: First words of memories it may end; empty for any.
        slots: Slots of memories it may end; empty for any but ``kept``.
        kept: Slots of memories it never ends.
        categories: Categories of memories without a slot it may end, whatever their words.
        relations: Relations of people it may end ("boss"); empty for none.
        people: Whether a name stands for all that is known of whoever has it.
        negative: Whether it may end a denial ("Does not eat meat").
        tells_more: The clause is kept as a memory of its own as well.
        loose: All that is named has to stand in the memory, anywhere in it.
        requests: It may be put as a request ("you can stop the whispering now").
        anyones: It may end what is known of anybody, not of the user and the team alone.
        single: It ends nothing where more than one memory is named.
        says: Words of which a memory it ends has one; empty for any.
        lacks: Words of which a memory it ends has none.
        allows: Words that elsewhere tell that something is so for now only, and here do not.
    """

    id: str
    kind: ChangeKind
    patterns: tuple[re.Pattern[str], ...]
    tells: frozenset[str]
    means: str = ""
    opens: frozenset[str] = frozenset()
    slots: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()
    people: bool = False
    negative: bool = False
    tells_more: bool = False
    loose: bool = False
    requests: bool = False
    anyones: bool = False
    single: bool = False
    says: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    allows: frozenset[str] = frozenset()

    def may_end(self, old: Fact) -> bool:
        """Whether a memory is of the sort this construction ends."""
        never = old.slot is not None and old.slot in self.kept and old.slot not in self.slots
        if never and self.kind != "moved":
            return False
        if not self.negative and (old.polarity == "negative" or _DENIES.search(old.text)):
            return False
        if self.says and self.says.isdisjoint(old.text.lower().split()):
            return False
        if self.lacks and not self.lacks.isdisjoint(old.text.lower().split()):
            return False
        if old.slot is None and old.category in self.categories:
            return True
        if self.slots and old.slot not in self.slots and not (old.slot is None and self.opens):
            return False
        if _WAS.match(old.text) or (_LIKES.match(old.text) and "likes" not in self.opens):
            return False
        return not self.opens or old.slot in self.slots or self._opens(old)

    def _opens(self, old: Fact) -> bool:
        lowered = old.text.lower()
        if old.subject != "user":
            lowered = lowered.removeprefix(f"{label_of(old.subject).lower()} ")
        quoted = lowered.startswith("said in ")
        if self.anyones:  # behind whoever does it
            first = f" {' '.join(lowered.split()[:7])} "
            return quoted or any(f" {word} " in first for word in self.opens)
        return quoted or any(lowered.startswith(f"{word} ") for word in self.opens)

    def of_relation(self, subject: str) -> bool:
        """Whether a person of this subject is one it may end."""
        relation = subject.partition(":")[0].rpartition(".")[2].replace("_", " ")
        return relation in self.relations


_DENIES = re.compile(r"\b(?:not|never|no longer|cannot|without)\b")
_LIKES = re.compile(
    r"(?:\w+ ){0,2}(?:[Ll]ikes|[Ll]oves|[Ee]njoys|[Hh]ates|[Dd]islikes|[Aa]dores)\b"
)
_WAS = re.compile(r"(?:Used to|Was|Were|Had|Did|Has given up|No longer|Has left|Went)\b")


@dataclass(frozen=True, eq=False)
class KnownChanges:
    """A language's constructions and the words by which memories are compared."""

    rules: tuple[ChangeRule, ...] = ()
    tells: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    breaks: frozenset[str] = frozenset()
    light: frozenset[str] = frozenset()
    general: frozenset[str] = frozenset()
    aliases: Mapping[str, Alias] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)
    refusing: re.Pattern[str] | None = None
    same_kind: Mapping[str, str] = field(default_factory=dict)
    pointing: re.Pattern[str] | None = None
    no_longer: re.Pattern[str] | None = None
    bare: re.Pattern[str] | None = None
    doings: tuple[str, ...] = ()
    still: frozenset[str] = frozenset()

    def is_content(self, word: str) -> bool:
        """Whether a word may name something."""
        return word[0].isalnum() and word not in self.empty and word not in self.articles

    def words_of(self, text: str) -> list[str]:
        """A text's words of content, lower-case, in order."""
        return [w for w in _WORD.findall(text.lower()) if self.is_content(w)]

    def stem(self, word: str) -> str:
        """A word without its common endings ("swimming", "swims" -> "swim")."""
        return _stem(word)

    def refuses(self, line: str, allows: frozenset[str] = frozenset()) -> bool:
        """Whether a clause says that it is so only for a while, or only nearly so."""
        if self.refusing is None:
            return False
        return any(hit[1] not in allows for hit in self.refusing.finditer(line))


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("’s")
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@cache
def known_changes(language: LanguageCode) -> KnownChanges:
    """The constructions of ``language``; none where the pack has no such file.

    Raises:
        ValueError: A construction is malformed; the message names it.
    """
    raw = read_table(language, "known_changes.toml")
    if not raw:
        return KnownChanges()
    macros = cast("dict[str, str]", raw["macros"])
    rules = tuple(_rule(one, raw, macros) for one in raw["change"])
    lexicon = people_lexicon(language)
    return KnownChanges(
        rules=rules,
        tells=frozenset(word for rule in rules for word in rule.tells),
        articles=frozenset(raw["words"]["articles"].split()),
        empty=frozenset(raw["words"]["empty"].split()),
        breaks=frozenset(raw["words"]["breaks"].split()),
        light=frozenset(raw["words"]["light"].split()),
        general=frozenset(_stem(w) for w in raw["words"]["general"].split()),
        aliases={
            word: Alias(
                frozenset(one.get("slots", ())), frozenset(map(_stem, one.get("words", ())))
            )
            for one in raw.get("alias", ())
            for word in one["said"]
        },
        relations={" ".join(form): relation.key for form, relation in lexicon.forms.items()},
        refusing=re.compile(rf"(?:^|\s)({'|'.join(raw['words']['refuses'])})(?=\s|$)"),
        pointing=_any_of(raw, macros, "patterns"),
        no_longer=_any_of(raw, macros, "answers"),
        bare=_any_of(raw, macros, "bare"),
        doings=tuple(raw.get("pointing", {}).get("doings", ())),
        still=frozenset(raw.get("pointing", {}).get("still", "").split()),
        same_kind={
            name: kind for kind, names in raw.get("same_kind", {}).items() for name in names
        },
    )


def _any_of(raw: Mapping[str, Any], macros: Mapping[str, str], key: str) -> re.Pattern[str] | None:
    """The patterns of ``[pointing]`` under a key, as one."""
    sources = raw.get("pointing", {}).get(key, ())
    return (
        re.compile("|".join(_expanded(source, macros) for source in sources)) if sources else None
    )


def _rule(one: Mapping[str, Any], raw: Mapping[str, Any], macros: Mapping[str, str]) -> ChangeRule:
    sort = raw["sorts"].get(one.get("ends", ""), {})
    patterns = []
    for source in one["patterns"]:
        try:
            patterns.append(re.compile(_expanded(source, macros)))
        except (re.error, KeyError) as error:
            raise ValueError(f"known change {one['id']!r}: {source!r}: {error}") from None
    return ChangeRule(
        id=one["id"],
        kind=one.get("kind", "over"),
        patterns=tuple(patterns),
        tells=frozenset(one["tells"].split()),
        means=one.get("means", ""),
        opens=frozenset(sort.get("opens", ())),
        slots=frozenset(sort.get("slots", ())),
        kept=frozenset(raw["sorts"]["never"]["slots"]) | frozenset(one.get("kept", ())),
        categories=frozenset(sort.get("categories", ())),
        relations=frozenset(sort.get("relations", ())),
        people=bool(one.get("people", False)),
        negative=bool(one.get("negative", False)),
        tells_more=bool(one.get("tells_more", False)),
        loose=bool(one.get("loose", False)),
        requests=bool(one.get("requests", False)),
        anyones=bool(one.get("anyones", False)),
        single=bool(one.get("single", False)),
        says=frozenset(one.get("says", "").split()),
        lacks=frozenset(one.get("lacks", "").split()),
        allows=frozenset(one.get("allows", ())),
    )


def _expanded(source: str, macros: Mapping[str, str]) -> str:
    """A pattern with its macros written out; a blank may be any blank."""
    for _ in range(3):
        source = re.sub(r"\{(\w+)\}", lambda hit: macros[hit[1]], source)
    return source
