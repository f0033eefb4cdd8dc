"""What a new fact does to the facts that are live: pure planning, no database.

A new fact confirms what is known, merges with a near duplicate, supersedes (one value per slot,
the opposite of the same value, a correction), renames a person, ends what is past, or stands
beside the others. Two values that cannot be ordered in time are a conflict and both stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from bmo.ledger.ages import outgrown
from bmo.ledger.changes import also_ended
from bmo.ledger.fact_plan import End, Plan
from bmo.ledger.otherwise import otherwise_now
from bmo.ledger.positions import held_before
from bmo.ledger.renaming import plan_names
from bmo.ledger.subjects import speaks_of_several
from bmo.ledger.values import (
    adds_to,
    changes_as_a_whole,
    content_words,
    denies_whole,
    ended_with,
    goes_on,
    is_negated,
    kind_of,
    opposite_slot,
    says_more,
    stems,
    text_key,
    topic_of,
    value_key,
    words_agree,
)
from bmo.turn import Fact, StoredFact

MERGE_COSINE = 0.95
"""Above this, with the same entities, two texts say the same."""

CHANGE_COSINE = 0.5
"""Above this a goal, decision or policy that "is now" otherwise is the same one as before."""

OPPOSITE_COSINE = 0.6
"""Above this a slotless memory of the other polarity speaks of the same thing."""


def plan_fact(
    fact: Fact,
    *,
    at: datetime,
    live: Sequence[StoredFact],
    near: Mapping[str, float],
    dated: bool = True,
    change: bool = False,
) -> Plan:
    """Decides what a new assertion or correction does.

    Args:
        fact: The new fact (``op`` assert or correct).
        at: When it was said.
        live: Live facts it may touch: those of its slot and linked slots, for a person all of
            the relation, for a slotless fact those with its text and its near ones.
        near: Fact id -> cosine similarity to the new text.
        dated: False when nobody knows when it was said (an import): it orders with nothing.
        change: The turn says that something is different from before.

    Returns:
        The plan; it never touches a fact that is not in ``live``.
    """
    if fact.tense == "past":
        return _plan_past(fact, [row for row in live if row.valid_from <= at])
    several = speaks_of_several(fact.text, fact.subject)
    live = [row for row in live if speaks_of_several(row.text, row.subject) == several]
    rewrites, gone = plan_names(fact, at, live)
    rewritten = {rewrite.fact.id for rewrite in rewrites} | {end.fact.id for end in gone}
    rest = [row for row in live if row.id not in rewritten]
    if fact.op == "correct":
        gone = [*gone, *(End(row, "corrected") for row in _corrected(fact, rest, bool(rewritten)))]
    elif fact.replaces:
        gone = [*gone, *(End(row, "superseded") for row in _replaced(fact, at, rest))]
    ended = {end.fact.id for end in gone}
    rest = [row for row in rest if row.id not in ended]
    plan = (
        _plan_slotted(fact, at, rest, dated)
        if fact.slot is not None
        else _plan_slotless(fact, at, rest, near)
    )
    is_new = plan.confirm is None
    merged = _near_duplicate(fact, rest, near) if is_new and not gone else None
    ends = _Ends([*gone, *plan.ends], settled=plan.confirm)
    if change and is_new and not merged and fact.slot is None:
        ends.add(_of_one_thing(fact, at, rest))
    if change and is_new and not merged and not ends.found and plan.ended_by is None:
        ends.add(otherwise_now(fact, at, rest) or _nearest_before(fact, at, rest, near))
    ends.add(also_ended(fact, at, rest), by_new=False)
    if change and is_new:
        ends.add(held_before(fact, at, rest))
    if is_new and not merged and plan.ended_by is None and dated:
        ends.add(outgrown(fact, at, rest, change=change))
    only_ends = bool(plan.ends) and fact.category == "goals" and fact.polarity == "negative"
    return Plan(
        only_ends=only_ends and is_new,
        confirm=plan.confirm or merged,
        ends=tuple(ends.found),
        rewrites=tuple(rewrites),
        conflicts=() if merged else plan.conflicts,
        ended_by=plan.ended_by,
    )


class _Ends:
    """What a new fact ends: each old one once, for the first reason found.

    Attributes:
        found: The ends so far.
    """

    def __init__(self, found: Sequence[End], settled: StoredFact | None) -> None:
        """Begins with ends that are found already; ``settled`` is not to end at all."""
        self.found = list(found)
        self._told = {end.fact.id for end in found} | ({settled.id} if settled else set())

    def add(self, rows: Iterable[StoredFact], *, by_new: bool = True) -> None:
        """Ends these rows too, as superseded (by the new fact, unless ``by_new`` is False)."""
        for row in rows:
            if row.id not in self._told:
                self._told.add(row.id)
                self.found.append(End(row, "superseded", by_new=by_new))


def _plan_past(fact: Fact, live: Sequence[StoredFact]) -> Plan:
    """The live fact ends ("used to", "not any more"); an unknown one is stored as ended."""
    same = [
        row
        for row in live
        # A team's decision for a thing and its use of it end together.
        if (row.slot == fact.slot or (fact.value and fact.subject == row.subject == "team"))
        and _same_statement(fact, row)
    ]
    if not same and fact.slot is None:
        same = [
            row
            for row in live
            if row.subject == fact.subject
            and words_agree(_words_of(fact) - {"used"}, content_words([row.text]))
        ]
    return Plan(ends=tuple(End(row, "past", by_new=False) for row in same), past=not same)


def _plan_slotted(fact: Fact, at: datetime, live: Sequence[StoredFact], dated: bool) -> Plan:
    of_subject = [row for row in live if row.subject == fact.subject]
    kind = kind_of(fact.slot, fact.value)
    slot_rows = [
        row for row in of_subject if row.slot == fact.slot and kind_of(row.slot, row.value) == kind
    ]
    same = [row for row in slot_rows if _same_statement(fact, row)]
    alike = [row for row in same if row.polarity == fact.polarity]
    contrary = [r for r in same if r.polarity != fact.polarity and not _is_narrower(fact, r)]
    other_slot = opposite_slot(fact.slot or "")
    contrary += [
        row
        for row in of_subject
        if other_slot is not None
        and row.slot == other_slot
        and row.polarity == fact.polarity
        and value_key(row.value) == value_key(fact.value)
    ]
    if fact.polarity == "negative" and not contrary:
        contrary = [
            row
            for row in slot_rows
            if row.polarity == "positive"
            and denies_whole(fact.value, row.value)
            and not _is_narrower(fact, row)
        ]
    ends = [End(row, "contradicted") for row in contrary if row.valid_from <= at]
    newer: list[StoredFact] = [row for row in contrary if row.valid_from > at]
    conflicts: list[StoredFact] = []
    if fact.cardinality == "one" and fact.polarity == "positive":
        for row in slot_rows:
            if row in same or row.polarity == "negative":
                continue
            if not alike and fact.op == "assert" and says_more(row.slot, row.value, fact.value):
                alike = [row]
            elif not dated or (row.valid_from == at and fact.op == "assert"):
                conflicts.append(row)
            elif row.valid_from > at:
                newer.append(row)
            else:
                ends.append(End(row, "superseded"))
        if ends and not alike:
            linked = ended_with(fact.slot or "")
            ends += [
                End(row, "superseded", by_new=False)
                for row in of_subject
                if row.slot in linked and row.valid_from < at
            ]
    ended_by = min(newer, key=lambda row: row.valid_from, default=None)
    return Plan(
        confirm=alike[0] if alike else None,
        ends=tuple(ends),
        conflicts=() if alike else tuple(conflicts),
        ended_by=ended_by,
    )


def _plan_slotless(
    fact: Fact, at: datetime, live: Sequence[StoredFact], near: Mapping[str, float]
) -> Plan:
    key = text_key(fact.text)
    of_subject = [row for row in live if row.subject == fact.subject]
    for row in of_subject:
        if text_key(row.text) == key and row.polarity == fact.polarity:
            return Plan(confirm=row)
    opposite = [
        row
        for row in of_subject
        if near.get(row.id, 0.0) >= OPPOSITE_COSINE and _opposite(fact, row)
    ]
    newer = [row for row in opposite if row.valid_from > at]
    return Plan(
        ends=tuple(End(row, "contradicted") for row in opposite if row.valid_from <= at),
        ended_by=min(newer, key=lambda row: row.valid_from, default=None),
    )


def _nearest_before(
    fact: Fact, at: datetime, live: Sequence[StoredFact], near: Mapping[str, float]
) -> list[StoredFact]:
    """The goal, decision or policy that a new one of the kind takes the place of."""
    if not changes_as_a_whole(fact.category) or fact.polarity == "negative":
        return []
    candidates = [
        row
        for row in live
        if near.get(row.id, 0.0) >= CHANGE_COSINE
        and row.subject == fact.subject
        and row.category == fact.category
        and row.valid_from < at
    ]
    return [max(candidates, key=lambda row: near[row.id])] if candidates else []


def _of_one_thing(fact: Fact, at: datetime, live: Sequence[StoredFact]) -> list[StoredFact]:
    """Memories that say of one thing what a new one says otherwise ("stand-up is at ten")."""
    topic = topic_of(fact.text)
    return [
        row
        for row in live
        if topic
        and row.subject == fact.subject
        and row.valid_from < at
        and (
            topic_of(row.text) == topic
            if row.slot is None
            else row.slot == "schedule" and words_agree(topic, content_words([row.text]))
        )
    ]


def _near_duplicate(
    fact: Fact, live: Sequence[StoredFact], near: Mapping[str, float]
) -> StoredFact | None:
    candidates = [
        row
        for row in live
        if near.get(row.id, 0.0) > MERGE_COSINE
        and row.subject == fact.subject
        and row.polarity == fact.polarity
        and (fact.slot is None or row.slot is None or row.slot == fact.slot)
        and is_negated(fact.text) == is_negated(row.text)
        and _entities(fact.entities, fact.text) == _entities(row.entities, row.text)
    ]
    return max(candidates, key=lambda row: near[row.id], default=None)


def _corrected(fact: Fact, live: Sequence[StoredFact], renamed: bool) -> list[StoredFact]:
    """The live facts a correction takes the place of."""
    rows = [row for row in live if row.subject == fact.subject]
    if fact.slot is not None and fact.replaces and fact.replaces == fact.value:
        # What is put right stands beside the value: "goes swimming on tuesdays", "no, mondays".
        said = text_key(fact.text)
        rows = [row for row in rows if row.slot == fact.slot and _same_statement(fact, row)]
        return _latest([row for row in rows if text_key(row.text) != said])
    if fact.slot is not None:
        kind = kind_of(fact.slot, fact.value)
        rows = [row for row in rows if row.slot == fact.slot and not _same_statement(fact, row)]
        rows = [row for row in rows if kind_of(row.slot, row.value) == kind]
    elif fact.replaces is None:
        return []
    if fact.replaces:
        wrong = value_key(fact.replaces)
        words = content_words([fact.replaces])
        named = [
            row
            for row in rows
            if value_key(row.value) == wrong or words_agree(words, content_words([row.text]))
        ]
        return named if named or fact.cardinality == "many" else _latest(rows)
    return [] if renamed else _latest(rows)


def _replaced(fact: Fact, at: datetime, live: Sequence[StoredFact]) -> list[StoredFact]:
    """The live fact whose place a new one takes by its words ("Has a yaris", a fiesta before)."""
    words = text_key(fact.replaces or "")
    return [
        row
        for row in live
        if row.subject == fact.subject and row.valid_from <= at and text_key(row.text) == words
    ]


def _latest(rows: Sequence[StoredFact]) -> list[StoredFact]:
    return [max(rows, key=lambda row: row.valid_from)] if rows else []


def _same_statement(fact: Fact, row: StoredFact) -> bool:
    if fact.value or row.value:
        return value_key(fact.value) == value_key(row.value)
    return text_key(fact.text) == text_key(row.text)


def _is_narrower(fact: Fact, row: StoredFact) -> bool:
    """Whether a fact of the other polarity is so only somewhere or sometimes.

    "Does not work at lidl on Mondays" says nothing against "Works at lidl", and who has kids in
    their class has none at home.
    """
    more = goes_on(fact.text, fact.value, row.text).casefold()
    if fact.polarity == "positive":
        return fact.slot == "has" and more.startswith(("in ", "at "))
    return bool(more)


def _opposite(fact: Fact, row: StoredFact) -> bool:
    """Whether two slotless memories deny each other: other polarity, most words in common.

    A new one that says more than the old one ("drives to work", "does not drive at night") is
    about something narrower, and denies nothing.
    """
    negated = fact.polarity == "negative" or is_negated(fact.text)
    if negated == (row.polarity == "negative" or is_negated(row.text)):
        return False
    new, old = stems([fact.text]), stems([row.text])
    if not new or not old or len(new & old) < 0.5 * min(len(new), len(old)):
        return False
    return not (old < new and adds_to(fact.text, row.text))


def _words_of(fact: Fact) -> frozenset[str]:
    return content_words([fact.text])


def _entities(entities: Sequence[str], text: str) -> frozenset[str]:
    """Entities for the merge test; numbers in the text always count."""
    numbers = {word for word in content_words([text]) if any(c.isdigit() for c in word)}
    return frozenset({value_key(entity) for entity in entities} | numbers)
