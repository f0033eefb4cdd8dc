"""Corrections: a turn that opens with "no" replaces what it contradicts."""

from __future__ import annotations

from dataclasses import replace

from bmo.gate.discourse import Discourse
from bmo.turn import DialogueContext, Fact

_OPENERS = frozenset(
    {"no", "nope", "nah", "actually", "sorry", "wait", "correction", "wrong", "incorrect", "oops"}
)
_PHRASES = (
    ("i", "meant"),
    ("i", "mean"),
    ("i", "said"),
    ("not", "what", "i"),
    ("that", "is", "wrong"),
    ("put", "that", "badly"),
)


def is_correction(norm: list[str]) -> bool:
    """Whether a turn corrects what was said or understood before.

    Args:
        norm: The turn's words in normal form, before openers are taken off.
    """
    head = norm[:6]
    if not _OPENERS.isdisjoint(head[:3]):
        return True
    line = norm[:12]
    return any(
        tuple(line[i : i + len(phrase)]) == phrase for phrase in _PHRASES for i in range(len(line))
    )


def corrected(
    facts: tuple[Fact, ...], norm: list[str], context: DialogueContext
) -> tuple[Fact, ...]:
    """Turns assertions that contradict a recent fact of the same slot into corrections.

    Args:
        facts: What the turn asserts.
        norm: The turn's words in normal form.
        context: The latest facts of the session, newest first.
    """
    if not facts or not context.recent_facts or not is_correction(norm):
        return facts
    return tuple(_against_recent(fact, context) for fact in facts)


def _against_recent(fact: Fact, context: DialogueContext) -> Fact:
    if fact.op != "assert" or fact.slot is None:
        return fact
    relation = fact.subject.partition(":")[0]
    for old in context.recent_facts:
        if old.slot != fact.slot or old.op == "retract":
            continue
        same = old.subject == fact.subject
        if fact.slot == "name":
            same = old.subject.partition(":")[0] == relation
        if same and old.value.lower() != fact.value.lower():
            return replace(fact, op="correct", replaces=old.value)
    return fact


def spelled_again(norm: list[str], context: DialogueContext, discourse: Discourse) -> Fact | None:
    """Reads "no no teo with a t": the name of a recent fact, said again to set it right."""
    if not context.recent_facts or len(norm) > 10:
        return None
    words = [
        w for w in norm[:6] if w not in _OPENERS and w not in ("it", "is", "his", "her", "name")
    ]
    if not words or not is_correction(norm):
        return None
    for fact in context.recent_facts:
        if fact.slot == "name" and fact.value and fact.value.split()[-1].lower() == words[0]:
            return replace(
                fact, op="assert", rule_id="correction", extraction_method="pattern:correction"
            )
    return None
