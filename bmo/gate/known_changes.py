"""What a turn ends or replaces of what is known: "swapped the fiesta for a yaris", "crete's off".

A construction of change names something in its own words; the user's live memories tell whether it
is anything known, and only then it counts: nothing ends that is not named by its head noun (or
verb), of the same subject. Constructions are data (``packs/<language>/known_changes.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from bmo.gate.canonical_text import title_case
from bmo.gate.changed_values import tool_replaced, with_number, with_tool
from bmo.gate.known_change_data import Alias, ChangeRule, KnownChanges, known_changes
from bmo.gate.known_holders import (
    ANYONE,
    IN_THE_HOUSE,
    couple,
    done_by_another,
    of_the_house,
    one_of_the_house,
    parted,
    taken_up,
    told_of,
)
from bmo.gate.known_parts import parts_of, rest_without
from bmo.gate.memory_core import MemoryCore, core_of, stems_of
from bmo.gate.packs import load_pack
from bmo.language import LanguageCode, find_times
from bmo.language.times import NUMBER_WORDS
from bmo.turn import Fact

_MOST_WORDS = 5
"""Words of content by which something may be named; more is a clause, not a name."""

_MORE_WORDS = 2
"""Words by which a name may go on behind where a construction could end."""

_MOST_ENDED = 6
"""Memories one construction may end; what names more is too general to end anything."""

_TELLS_MORE = 3
"""Words of content beside the construction from which a clause is a memory of its own as well."""

CONFIDENCE = 0.95

ANY_OF_SORT = "*"
"""What a construction ``means`` that names its sort alone ("the trip's off")."""


@dataclass(frozen=True, slots=True)
class KnownChange:
    """What one clause ends or replaces.

    Attributes:
        facts: Retractions of single memories (scope "memory") and what takes their place.
        tells_more: The clause has more to tell than the change itself.
        who: Whose it is, as the clause says it; "" where it is the user's own.
    """

    facts: tuple[Fact, ...]
    tells_more: bool
    who: str = ""


def changes_in(
    norm: Sequence[str],
    known: Sequence[Fact],
    subjects: Mapping[str, str],
    language: LanguageCode,
    at: datetime,
    said: str = "",
    *,
    request: bool = False,
) -> KnownChange | None:
    """Reads what a clause ends or replaces of the known memories.

    Args:
        norm: The clause's words in normal form.
        known: The user's live memories.
        subjects: Lower-case name -> subject of everybody known.
        language: Whose constructions apply.
        at: When it was said.
        said: The words as they were said, for capitals.
        request: The clause asks for something: only constructions that may be requests count.

    Returns:
        None where no construction matches, or nothing known is named.
    """
    table = known_changes(language)
    if not known or table.tells.isdisjoint(norm):
        return None
    line = " ".join(norm)
    for rule in table.rules:
        if rule.tells.isdisjoint(norm) or (request and not rule.requests):
            continue
        for pattern in rule.patterns:
            hit = pattern.search(line)
            if hit is None or table.refuses(line, rule.allows):
                continue
            found = _read(rule, hit, known, subjects, table, at, said)
            if found:
                who = hit.groupdict().get("who") or ""
                found = [taken_up(fact, who, line[hit.end() :].split()) for fact in found]
                rest = stems_of(line[: hit.start()], table) | stems_of(line[hit.end() :], table)
                new = hit.groupdict().get("new")
                told = new is not None and all(fact.op == "retract" for fact in found)
                more = rule.tells_more or told or len(rest) >= _TELLS_MORE
                return KnownChange(tuple(found), more, who)
    return None


def _read(
    rule: ChangeRule,
    hit: re.Match[str],
    known: Sequence[Fact],
    subjects: Mapping[str, str],
    table: KnownChanges,
    at: datetime,
    said: str,
) -> list[Fact]:
    groups = hit.groupdict()
    who = groups.get("who")
    whose: Container[str] | None = _whose(who, known, subjects, table)
    if whose is None:  # nobody whom the user has a relation to: "Sipho Dlamini coaches them"
        known, whose = told_of(who or "", known, table), ANYONE
    named = rule.means or groups.get("old") or ""
    if rule.kind == "place":
        return _other_home(rule, hit, known)
    if rule.kind == "tool":
        return _other_tool(rule, hit, named, known, table, said)
    if rule.kind == "couple":
        return [ended_part(rule, old, part, table) for old, part in couple(rule, named, known)]
    meant = list(_meant(rule, named, known, whose, subjects, table))
    if not meant and named == groups.get("old"):
        # {old} ends before the first word that may end it: "sacked off the five two"
        behind = hit.string[hit.end("old") :].split()[:_MORE_WORDS]
        for size in range(1, len(behind) + 1):
            longer = f"{named} {' '.join(behind[:size])}"
            meant = meant or list(_meant(rule, longer, known, whose, subjects, table))
    if not meant and who is None and of_the_house(hit):
        meant = one_of_the_house(_meant(rule, named, known, IN_THE_HOUSE, subjects, table))
    if rule.kind == "taken":
        meant = done_by_another(rule, meant, groups.get("new") or "", table)
    if not meant or len(meant) > (1 if rule.single else _MOST_ENDED):
        return []
    rows = [old for old, _ in meant]
    new = _as_said((groups.get("new") or "").strip(), said)
    if rule.kind == "forget":
        return [_forgotten(rule, named, rows[0])]
    if rule.kind == "word":
        return _other_word(rule, *meant[0], named, new)
    if rule.kind == "value" and new and rows[0].value:
        text = with_tool(rows[0].text, rows[0].value, new)
        return [_replacing(rule, rows[0], text, new)] if text != rows[0].text else []
    if rule.kind == "count":
        return _other_number(rule, rows, hit, named, table)
    retracted = [ended_part(rule, old, part, table) for old, part in meant]
    if rule.id == "parted_from":
        retracted = [*parted(rows), *retracted]
    if rule.kind in ("over", "gone", "taken", "value") or not new:
        return retracted
    if meant[0][1] != rows[0].text:
        return [*retracted, *_part_moved(rule, *meant[0], new, table, at)]
    if rule.kind == "moved" and not (_is_time(new, at) or _is_an_hour(hit)):
        return []
    told = _in_place(rule, rows[0], new, table, at)
    if told is None:
        # "bowls has moved to ten": the day on which it is stays what it is
        of_a_day = core_of(rows[0].text, table, rows[0].subject).of_a_day
        return [] if rule.kind == "moved" and of_a_day else retracted
    return [*retracted[1:], told]


def _other_tool(
    rule: ChangeRule,
    hit: re.Match[str],
    named: str,
    known: Sequence[Fact],
    table: KnownChanges,
    said: str,
) -> list[Fact]:
    """Another tool in the place of the one that is known for the same."""
    new = _as_said(hit["new"].strip(), said)
    found = tool_replaced(rule, named, new, bool(hit.groupdict().get("all")), known, table)
    if found is None:
        return []
    old, name = found
    value = with_tool(old.value, name, new) if old.slot is not None else ""
    return [_replacing(rule, old, with_tool(old.text, name, new), value)]


def _other_home(rule: ChangeRule, hit: re.Match[str], known: Sequence[Fact]) -> list[Fact]:
    """Another town in the place of the one where the user lives, if it is a town."""
    towns = load_pack("en").lexicons["cities"]
    homes = [old for old in known if old.slot == "lives_in" and old.subject == "user"]
    new = hit["new"].strip()
    if not homes or tuple(new.split()) not in towns:
        return []
    town = title_case(new)
    replaced = _replacing(rule, homes[0], f"Lives in {town}", town)
    return [*(ended_memory(rule.id, old) for old in homes[1:]), replaced]


def _other_number(
    rule: ChangeRule, rows: Sequence[Fact], hit: re.Match[str], counted: str, table: KnownChanges
) -> list[Fact]:
    """Another number of what a memory counts; more than one such memory is not clear."""
    new = hit["new"].strip()
    told = [(old, with_number(old.text, counted, new, table)) for old in rows]
    texts = [(old, text) for old, text in told if text is not None]
    if len(texts) != 1:
        return []
    old, text = texts[0]
    if '"' in text:  # what was said stands there: what is said now takes its place
        return [_replacing(rule, old, f'{text[: text.index(chr(34))]}"{hit.string}"', "")]
    value = with_number(old.value, counted, new, table) if old.slot is not None else ""
    return [_replacing(rule, old, text, value or new)]


def _other_word(rule: ChangeRule, old: Fact, part: str, named: str, new: str) -> list[Fact]:
    """Another word in the place of one ("not dairy, eggs"), where the memory has it as it is."""
    right = with_tool(part, named, new)
    if right == part:
        return []
    value = with_tool(old.value, named, new) if old.slot is not None else ""
    return [_replacing(rule, old, old.text.replace(part, right), value)]


def _part_moved(
    rule: ChangeRule, old: Fact, part: str, new: str, table: KnownChanges, at: datetime
) -> list[Fact]:
    """What one part of a memory tells at another time, as a memory of its own."""
    if rule.kind != "moved" or not _is_time(new, at):
        return []
    alone = replace(old, text=part, slot=None, value="", cardinality="many", polarity="positive")
    told = _in_place(rule, alone, new, table, at)
    return [replace(told, replaces=None)] if told is not None else []


def _is_time(value: str, at: datetime) -> bool:
    return bool(find_times(value.lower().split(), at)) or any(char.isdigit() for char in value)


def _is_an_hour(hit: re.Match[str]) -> bool:
    """Whether what takes the place is an hour in words ("standup's at ten now")."""
    spoken = hit["new"].split()
    led = hit.string[: hit.start("new")].split()[-1:]
    return led in (["at"], ["to"], ["till"], ["until"]) and all(
        word in NUMBER_WORDS or word in ("half", "quarter", "past", "to", "noon", "midnight")
        for word in spoken
    )


def _as_said(value: str, said: str) -> str:
    """A value with the capitals it was said with ("meenal" -> "Meenal")."""
    spoken = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", said, re.IGNORECASE)
    return spoken[0] if value and spoken else value


def _whose(
    who: str | None, known: Sequence[Fact], subjects: Mapping[str, str], table: KnownChanges
) -> frozenset[str] | None:
    """Subjects whose memories are meant: the user's own without a name; None for a stranger's."""
    if who is None:
        return frozenset({"user", "team"})
    words = [word for word in who.split() if word not in table.articles and word != "'s"]
    if not words or len(words) > 3:
        return None
    last = words[-1]
    for name in (last, last.removesuffix("s"), last.removesuffix("'s")):
        if name in subjects:
            return frozenset({subjects[name]})
    relation = _relation(" ".join(words), table)
    if relation is None:
        return None
    theirs = {old.subject for old in known if old.subject.partition(":")[0] == relation}
    named = {subject for subject in theirs if ":" in subject}
    return frozenset(theirs) if len(named) < 2 and theirs else None


def _meant(
    rule: ChangeRule,
    named: str,
    known: Sequence[Fact],
    whose: Container[str],
    subjects: Mapping[str, str],
    table: KnownChanges,
) -> Iterator[tuple[Fact, str]]:
    """The memories a change names, each with the part of its text that is meant."""
    asked = table.words_of(named) if named != ANY_OF_SORT else [named]
    while len(asked) > 1 and asked[0] in table.light:
        asked = asked[1:]
    if rule.loose:
        asked = [word for word in asked if table.stem(word) not in table.general] or asked
    if not 0 < len(asked) <= _MOST_WORDS:
        return
    named_by = _Named(
        rule,
        asked,
        {table.stem(word) for word in asked},
        _relation(asked[0], table) if len(asked) > 1 else None,
        subjects.get(asked[-1]) or subjects.get(asked[-1].removesuffix("s")),
        table.aliases.get(" ".join(asked)),
        whose,
    )
    for old in known:
        if old.op == "retract":
            continue
        for part in parts_of(old.text):
            one = old if part == old.text else replace(old, text=part)
            if _is_meant(named_by, one, table):
                yield old, part
                break


class _Named(NamedTuple):
    """What a change names, in the forms by which memories are compared."""

    rule: ChangeRule
    asked: list[str]
    wanted: set[str]
    relation: str | None
    person: str | None
    alias: Alias | None
    whose: Container[str]


def _is_meant(named: _Named, old: Fact, table: KnownChanges) -> bool:
    """Whether a memory, or a part of one, is what a change names."""
    rule, asked, wanted = named.rule, named.asked, named.wanted
    core = core_of(old.text, table, old.subject)
    if named.relation is not None and old.subject.partition(":")[0] == named.relation:
        # "mum's birthday" of "Mother's birthday is ...", whose subject is the mother
        return rule.may_end(old) and _names(asked[1:], wanted - {table.stem(asked[0])}, core, table)
    if rule.means == ANY_OF_SORT:
        return (rule.anyones or old.subject in named.whose) and rule.may_end(old)
    alias, person = named.alias, named.person
    other = alias is not None and (
        old.slot in alias.slots or not alias.words.isdisjoint(core.words)
    )
    if wanted.isdisjoint(core.words) and not other and old.subject != person:
        return False
    called = wanted <= core.words if rule.loose else other or _names(asked, wanted, core, table)
    if rule.people and rule.of_relation(old.subject):
        return old.subject == person or (":" not in old.subject and called)
    if not called or rule.kind == "forget":
        return called
    return (rule.anyones or old.subject in named.whose) and rule.may_end(old)


def _relation(word: str, table: KnownChanges) -> str | None:
    """The subject of a relation's word ("mums" -> "user.mother")."""
    for form in (word, word.removesuffix("'s"), word.removesuffix("s")):
        if form in table.relations:
            return f"user.{table.relations[form]}"
    return None


def _names(asked: Sequence[str], wanted: set[str], core: MemoryCore, table: KnownChanges) -> bool:
    """Whether words name what a memory is about: its head and nothing that is not there."""
    head = table.stem(asked[-1])
    for part in core.parts:
        if head == part[-1] and wanted <= set(part):
            return True
        # "the yoga class" of who does yoga, "the book club" of who is in a book club on Mondays
        if len(part) > 1 and wanted == set(part):
            return True
        # "the five two" of who does the five two diet
        if len(part) > 1 and part[-1] in table.general and wanted == set(part[:-1]):
            return True
    general = table.general & wanted
    return (
        bool(general)
        and len(wanted) > 1
        and _names(
            [word for word in asked if table.stem(word) not in general],
            wanted - general,
            core,
            table,
        )
    )


def _forgotten(rule: ChangeRule, named: str, old: Fact) -> Fact:
    """A request to keep no record, as the ledger reads it: what it names is erased."""
    return Fact(
        text=named,
        category=old.category,
        op="retract",
        scope="value",
        value=named,
        confidence=CONFIDENCE,
        rule_id="retraction",
        extraction_method=f"pattern:{rule.id}",
    )


def ended_memory(rule_id: str, old: Fact) -> Fact:
    """The retraction of one known memory by a construction of this id."""
    return Fact(
        text=old.text,
        category=old.category,
        slot=old.slot,
        value=old.value,
        subject=old.subject,
        op="retract",
        scope="memory",
        confidence=CONFIDENCE,
        rule_id=rule_id,
        extraction_method=f"pattern:{rule_id}",
    )


def ended_part(rule: ChangeRule, old: Fact, part: str, table: KnownChanges) -> Fact:
    """The end of a memory; of one that tells more beside what ends, what is left of it."""
    rest = rest_without(old.text, part, table)
    if not rest:
        return ended_memory(rule.id, old)
    left = _replacing(rule, old, rest, old.value, old.when)
    return (
        left
        if old.text.startswith(rest[:1]) and part != parts_of(old.text)[0]
        else replace(left, slot=None, value="", cardinality="many", polarity="positive")
    )


def _in_place(
    rule: ChangeRule, old: Fact, new: str, table: KnownChanges, at: datetime
) -> Fact | None:
    """What is true instead: the known memory with the new value, or None where that is unclear."""
    words = new.lower().split()
    if len(words) > _MOST_WORDS + 2 or not table.words_of(new) or "?" in old.text:
        return None
    times = find_times(words, at)
    if rule.kind == "moved":
        text = core_of(old.text, table, old.subject).with_time(new)
        value = new
    else:
        if old.text.count('"'):
            return None
        text = core_of(old.text, table, old.subject).with_thing(new)
        value = " ".join(w for w in new.split() if w.lower() not in table.articles)
    if text is None:
        return None
    when = next((t.iso for t in times if t.iso), None)
    return _replacing(rule, old, text, value if old.slot is not None else "", when)


def _replacing(rule: ChangeRule, old: Fact, text: str, value: str, when: str | None = None) -> Fact:
    """A known memory as it is now."""
    return replace(
        old,
        op="assert",
        text=text,
        value=value,
        replaces=old.text,
        when=when,
        expires_at=None,
        confidence=CONFIDENCE,
        rule_id=rule.id,
        extraction_method=f"pattern:{rule.id}",
        entities=(),
        span=None,
    )
