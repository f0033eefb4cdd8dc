"""What a new fact does to names: a person is renamed, gets a name, or is somebody else's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from bmo.ledger.fact_plan import End, Rewrite
from bmo.ledger.subjects import (
    is_person,
    last_relation,
    name_of,
    relation_of,
    states_name,
    with_name,
    with_other_name,
)
from bmo.ledger.values import content_words, may_have_many, value_key
from bmo.turn import Fact, StoredFact

SAME_CONVERSATION = timedelta(hours=2)
"""How long an unnamed friend can still get a name, and a name be corrected without saying it."""


def plan_names(
    fact: Fact, at: datetime, live: Sequence[StoredFact]
) -> tuple[list[Rewrite], list[End]]:
    """A person is renamed, gets a name, or turns out to be somebody else's."""
    name = name_of(fact.subject)
    if not name:
        return [], []
    relation = relation_of(fact.subject)
    if fact.op == "correct":
        old = _renamed_subject(fact, at, live)
        if old is None:
            return [], _moved_to_another(fact, live)
        rows = [row for row in live if row.subject == old]
        kept = [row for row in rows if not _says_same(fact, row)]
        said = [End(row, "corrected") for row in rows if _says_same(fact, row)]
        return [_renamed(row, fact.subject) for row in kept], said
    if not states_name(fact):
        return [], []
    if any(name_of(row.subject) and relation_of(row.subject) == relation for row in live):
        return [], []
    unnamed = [row for row in live if row.subject == relation]
    if may_have_many(last_relation(relation)):
        unnamed = [row for row in unnamed if abs(at - row.valid_from) <= SAME_CONVERSATION]
    rewrites, said = [], []
    for row in unnamed:
        if _says_same(fact, row):
            said.append(End(row, "superseded"))
        else:
            text = with_name(row.text, last_relation(relation), name)
            rewrites.append(Rewrite(row, fact.subject, row.value, text, correction=False))
    return rewrites, said


def _renamed_subject(fact: Fact, at: datetime, live: Sequence[StoredFact]) -> str | None:
    """The subject that had the wrong name, or None when the correction is not about a name."""
    relation, name = relation_of(fact.subject), name_of(fact.subject)
    people = [row for row in live if is_person(row.subject) and name_of(row.subject)]
    others = [row for row in people if name_of(row.subject) != name]
    if fact.replaces:
        wrong = value_key(fact.replaces)
        hits = [row for row in others if value_key(name_of(row.subject)) == wrong]
        of_relation = [row for row in hits if relation_of(row.subject) == relation]
        subjects = {row.subject for row in of_relation or hits}
        return subjects.pop() if len(subjects) == 1 else None
    if not states_name(fact) or any(row.subject == fact.subject for row in people):
        return None
    same_relation = [
        row
        for row in others
        if relation_of(row.subject) == relation and abs(at - row.valid_from) <= SAME_CONVERSATION
    ]
    latest = max(same_relation, key=lambda row: row.valid_from, default=None)
    return latest.subject if latest else None


def _moved_to_another(fact: Fact, live: Sequence[StoredFact]) -> list[End]:
    """The same name under another relation ends ("Tofu is my flatmate's, not mine")."""
    name, relation = name_of(fact.subject), relation_of(fact.subject)
    if any(row.subject == fact.subject for row in live):
        return []
    return [
        End(row, "corrected")
        for row in live
        if name_of(row.subject) == name and relation_of(row.subject) != relation
    ]


def _renamed(row: StoredFact, subject: str) -> Rewrite:
    old, new = name_of(row.subject), name_of(subject)
    return Rewrite(
        row,
        subject,
        with_other_name(row.value, old, new),
        with_other_name(row.text, old, new),
        correction=True,
    )


def _says_same(fact: Fact, row: StoredFact) -> bool:
    """Whether a row names its subject as the new fact does, so that only one may stay."""
    if fact.slot is not None and row.slot == fact.slot and fact.cardinality == "one":
        return True
    wrong = name_of(row.subject)
    if wrong:
        return value_key(row.value) == value_key(wrong) and row.slot == fact.slot
    return row.slot == fact.slot and states_name(fact) and _only_relation(row)


def _only_relation(row: StoredFact) -> bool:
    """Whether a text says nothing but the relation itself ("Has a brother")."""
    relation = content_words([last_relation(row.subject).replace("_", " ")])
    return content_words([row.text]) <= relation
