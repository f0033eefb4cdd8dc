"""What a turn ends or replaces of what is known: "swapped the fiesta for a yaris", "crete's off".

A construction of change names something in its own words; the user's live memories tell whether it
is anything known, and only then it counts: nothing ends that is not named by its head noun (or
verb), of the same subject. Constructions are data (``packs/<language>/known_changes.toml``).
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bmo.gate.canonical_text import title_case
from bmo.gate.changed_memories import (
    ended_memory,
    ended_part,
    forgotten_memory,
    in_place,
    replacing,
)
from bmo.gate.changed_values import tool_replaced, with_number, with_tool
from bmo.gate.known_change_data import ChangeRule, KnownChanges, known_changes
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
from bmo.gate.memories_named import memories_named, whose_memories
from bmo.gate.memory_core import core_of, stems_of
from bmo.gate.packs import load_pack
from bmo.language import LanguageCode, find_times
from bmo.language.times import NUMBER_WORDS
from bmo.turn import Fact

_MORE_WORDS = 2
"""Words by which a name may go on behind where a construction could end."""

_MOST_ENDED = 6
"""Memories one construction may end; what names more is too general to end anything."""

_TELLS_MORE = 3
"""Words of content beside the construction from which a clause is a memory of its own as well."""


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
    whose: Container[str] | None = whose_memories(who, known, subjects, table)
    if whose is None:  # nobody whom the user has a relation to: "Sipho Dlamini coaches them"
        known, whose = told_of(who or "", known, table), ANYONE
    named = rule.means or groups.get("old") or ""
    if rule.kind == "place":
        return _other_home(rule, hit, known)
    if rule.kind == "tool":
        return _other_tool(rule, hit, named, known, table, said)
    if rule.kind == "couple":
        return [ended_part(rule, old, part, table) for old, part in couple(rule, named, known)]
    meant = list(memories_named(rule, named, known, whose, subjects, table))
    if not meant and named == groups.get("old"):
        # {old} ends before the first word that may end it: "sacked off the five two"
        behind = hit.string[hit.end("old") :].split()[:_MORE_WORDS]
        for size in range(1, len(behind) + 1):
            longer = f"{named} {' '.join(behind[:size])}"
            meant = meant or list(memories_named(rule, longer, known, whose, subjects, table))
    if not meant and who is None and of_the_house(hit):
        meant = one_of_the_house(memories_named(rule, named, known, IN_THE_HOUSE, subjects, table))
    if rule.kind == "taken":
        meant = done_by_another(rule, meant, groups.get("new") or "", table)
    if not meant or len(meant) > (1 if rule.single else _MOST_ENDED):
        return []
    rows = [old for old, _ in meant]
    new = _as_said((groups.get("new") or "").strip(), said)
    if rule.kind == "forget":
        return [forgotten_memory(rule, named, rows[0])]
    if rule.kind == "word":
        return _other_word(rule, *meant[0], named, new)
    if rule.kind == "value" and new and rows[0].value:
        text = with_tool(rows[0].text, rows[0].value, new)
        return [replacing(rule, rows[0], text, new)] if text != rows[0].text else []
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
    told = in_place(rule, rows[0], new, table, at)
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
    return [replacing(rule, old, with_tool(old.text, name, new), value)]


def _other_home(rule: ChangeRule, hit: re.Match[str], known: Sequence[Fact]) -> list[Fact]:
    """Another town in the place of the one where the user lives, if it is a town."""
    towns = load_pack("en").lexicons["cities"]
    homes = [old for old in known if old.slot == "lives_in" and old.subject == "user"]
    new = hit["new"].strip()
    if not homes or tuple(new.split()) not in towns:
        return []
    town = title_case(new)
    replaced = replacing(rule, homes[0], f"Lives in {town}", town)
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
        return [replacing(rule, old, f'{text[: text.index(chr(34))]}"{hit.string}"', "")]
    value = with_number(old.value, counted, new, table) if old.slot is not None else ""
    return [replacing(rule, old, text, value or new)]


def _other_word(rule: ChangeRule, old: Fact, part: str, named: str, new: str) -> list[Fact]:
    """Another word in the place of one ("not dairy, eggs"), where the memory has it as it is."""
    right = with_tool(part, named, new)
    if right == part:
        return []
    value = with_tool(old.value, named, new) if old.slot is not None else ""
    return [replacing(rule, old, old.text.replace(part, right), value)]


def _part_moved(
    rule: ChangeRule, old: Fact, part: str, new: str, table: KnownChanges, at: datetime
) -> list[Fact]:
    """What one part of a memory tells at another time, as a memory of its own."""
    if rule.kind != "moved" or not _is_time(new, at):
        return []
    alone = replace(old, text=part, slot=None, value="", cardinality="many", polarity="positive")
    told = in_place(rule, alone, new, table, at)
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
