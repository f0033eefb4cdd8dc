"""What becomes of a known memory: it ends, a part of it does, or it says something else now."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from bmo.gate.known_change_data import ChangeRule, KnownChanges
from bmo.gate.known_parts import parts_of, rest_without
from bmo.gate.memory_core import core_of
from bmo.language import find_times
from bmo.turn import Fact

CONFIDENCE = 0.95

_LONGEST_VALUE = 7
"""Words of what takes the place of something; more is a clause, not a value."""


def forgotten_memory(rule: ChangeRule, named: str, old: Fact) -> Fact:
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
    left = replacing(rule, old, rest, old.value, old.when)
    return (
        left
        if old.text.startswith(rest[:1]) and part != parts_of(old.text)[0]
        else replace(left, slot=None, value="", cardinality="many", polarity="positive")
    )


def in_place(
    rule: ChangeRule, old: Fact, new: str, table: KnownChanges, at: datetime
) -> Fact | None:
    """What is true instead: the known memory with the new value, or None where that is unclear.

    Args:
        rule: The construction.
        old: The known memory.
        new: What the turn says in its place.
        table: The language's constructions and words.
        at: When it was said, for dates.
    """
    words = new.lower().split()
    if len(words) > _LONGEST_VALUE or not table.words_of(new) or "?" in old.text:
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
    return replacing(rule, old, text, value if old.slot is not None else "", when)


def replacing(rule: ChangeRule, old: Fact, text: str, value: str, when: str | None = None) -> Fact:
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
