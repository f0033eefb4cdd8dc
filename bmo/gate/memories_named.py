"""Which known memories a construction of change names: "the fiesta", "mums birthday", "it is off".

A name is the head noun (or verb) of what a memory tells, of the same subject, in any of the forms
by which memories are compared.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from bmo.gate.known_change_data import Alias, ChangeRule, KnownChanges
from bmo.gate.known_parts import parts_of
from bmo.gate.memory_core import MemoryCore, core_of
from bmo.turn import Fact

_MOST_WORDS = 5
"""Words of content by which something may be named; more is a clause, not a name."""

ANY_OF_SORT = "*"
"""What a construction ``means`` that names its sort alone ("the trip's off")."""


def whose_memories(
    who: str | None, known: Sequence[Fact], subjects: Mapping[str, str], table: KnownChanges
) -> frozenset[str] | None:
    """Subjects whose memories are meant: the user's own without a name; None for a stranger's.

    Args:
        who: Whose something is, as the clause says it; None where it says nothing of it.
        known: The user's live memories.
        subjects: Lower-case name -> subject of everybody known.
        table: The language's constructions and words.
    """
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


def memories_named(
    rule: ChangeRule,
    named: str,
    known: Sequence[Fact],
    whose: Container[str],
    subjects: Mapping[str, str],
    table: KnownChanges,
) -> Iterator[tuple[Fact, str]]:
    """The memories a change names, each with the part of its text that is meant.

    Args:
        rule: The construction.
        named: Its words for what ends.
        known: The user's live memories.
        whose: Subjects of which they may be.
        subjects: Lower-case name -> subject of everybody known.
        table: The language's constructions and words.
    """
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
