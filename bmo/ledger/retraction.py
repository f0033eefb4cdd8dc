"""What a retraction is about: pure matching of a request against the facts that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bmo.ledger.said_over import over
from bmo.ledger.subjects import is_person, name_of, relation_of
from bmo.ledger.values import (
    asked_slots,
    content_words,
    gone_with,
    text_key,
    value_key,
    words_agree,
)
from bmo.turn import Fact, RetractScope, StoredFact

ASKED = "retraction"
"""The gate's rule for a request to forget; other retractions only say what is no longer so."""

MEANT_COSINE = 0.5
"""A request whose words are nowhere is about the nearest fact from this similarity on ..."""

MEANT_MARGIN = 0.08
"""... if the next one is at least this much farther away."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a retraction is about.

    Attributes:
        facts: The facts meant, live or ended.
        scope: How much it takes away.
        wide: Whether it must be confirmed first: everything, or everything about somebody or
            something, by name or not.
    """

    facts: tuple[StoredFact, ...]
    scope: RetractScope
    wide: bool


def scope_of(fact: Fact) -> RetractScope:
    """The scope of a retraction, "value" when it does not say."""
    return fact.scope or "value"


def target_of(
    fact: Fact,
    known: Sequence[StoredFact],
    *,
    latest: Sequence[str],
    near: Mapping[str, float],
) -> Target:
    """Finds the facts a retraction means.

    Args:
        fact: The retraction.
        known: Facts of the user it may mean.
        latest: Ids of the facts the latest allowed turn of the session stored.
        near: Fact id -> cosine similarity to the retraction's text.

    Returns:
        The target; ``facts`` is empty when nothing was found.
    """
    scope = scope_of(fact)
    if scope == "memory":
        meant = [row for row in known if row.subject == fact.subject and row.slot == fact.slot]
        meant = [row for row in meant if text_key(row.text) == text_key(fact.text)]
        return Target(tuple(meant), "value", wide=False)
    if fact.rule_id != ASKED:
        gone = over(fact, known)
        if gone is not None:
            return Target(gone, scope, wide=False)
    if scope == "all":
        return Target(tuple(known), scope, wide=True)
    if scope == "last":
        kept = set(latest)
        return Target(tuple(row for row in known if row.id in kept), scope, wide=False)
    if scope == "subject":
        return _about_subject(fact, known, near)
    if scope == "slot" and fact.slot is not None:
        rows = _of_subject(fact.subject, [row for row in known if row.slot == fact.slot])
        return Target(tuple(rows), scope, wide=False)
    return Target(tuple(_with_people(_value(fact, known, near), known)), "value", wide=False)


def _about_subject(fact: Fact, known: Sequence[StoredFact], near: Mapping[str, float]) -> Target:
    """Everything about a person or a thing: it is much, whoever is named, and asked back."""
    if name_of(fact.subject):
        return Target(_once(_about_named(fact.subject, known)), "subject", wide=True)
    if is_person(fact.subject):
        rows = [row for row in known if relation_of(row.subject) == fact.subject]
        nested = [row for row in known if row.subject.startswith(f"{fact.subject}.")]
        said = [row for row in known if words_agree(_topic(fact.subject), _words(row))]
        return Target(_once([*rows, *nested, *said]), "subject", wide=True)
    topic = content_words([fact.value or fact.text])
    called = {row.subject for row in known if value_key(name_of(row.subject)) in topic}
    if called:
        rows = [row for subject in sorted(called) for row in _about_named(subject, known)]
        return Target(_once(rows), "subject", wide=True)
    related = [row for row in known if topic and _topic(relation_of(row.subject)) == topic]
    worded = [row for row in known if words_agree(topic, _words(row))]
    meant = [row for row in known if near.get(row.id, 0.0) >= MEANT_COSINE]
    slots = asked_slots(fact.value) if fact.subject == "user" else ()
    filled = [row for row in known if row.slot in slots and row.subject == "user"]
    return Target(_once([*related, *worded, *meant, *filled]), "subject", wide=True)


def _about_named(subject: str, known: Sequence[StoredFact]) -> list[StoredFact]:
    name = content_words([name_of(subject)])
    others = {row.subject for row in known if name_of(row.subject) == name_of(subject)} - {subject}
    rows = [row for row in known if row.subject == subject or row.subject.startswith(f"{subject}.")]
    if others and not rows:
        # The gate's word for the relation may differ from the ledger's.
        rows = [row for row in known if row.subject in others]
    mentions = [
        row for row in known if row.subject not in others and words_agree(name, _words(row))
    ]
    return [*rows, *mentions]


def _value(fact: Fact, known: Sequence[StoredFact], near: Mapping[str, float]) -> list[StoredFact]:
    slots = asked_slots(fact.value) if fact.rule_id == ASKED and fact.slot is None else ()
    told = [row for row in known if row.slot in slots and row.subject == fact.subject]
    if told:
        return told
    if fact.slot is not None and fact.value:
        rows = [row for row in known if row.slot == fact.slot]
        asked, words = value_key(fact.value), content_words([fact.value])
        same = [row for row in rows if value_key(row.value) == asked]
        agreeing = same or [
            row for row in rows if words_agree(words, content_words([row.value, row.text]))
        ]
        if agreeing:
            return _of_subject(fact.subject, agreeing)
        beside = gone_with(fact.slot) if fact.rule_id != ASKED else None
        if beside is not None:
            # Nobody asked to forget: what is gone ends where it belongs, and nowhere else.
            rows = [row for row in known if row.slot is None or row.slot in beside]
            worded = [row for row in rows if words_agree(words, _words(row))]
            return _of_subject(fact.subject, worded) if worded else []
    elif fact.slot is not None:
        return _of_subject(fact.subject, [row for row in known if row.slot == fact.slot])
    for words in (content_words([fact.value]), content_words([fact.text])):
        worded = [row for row in known if words_agree(words, _words(row))]
        if worded:
            return _of_subject(fact.subject, worded)
    return _meant(known, near)


def _of_subject(subject: str, rows: Sequence[StoredFact]) -> list[StoredFact]:
    """Rows of the subject itself; failing that of its relation; failing that all of them.

    What somebody else is done with ("my sister's given up the gym") ends nothing of the user's.
    """
    exact = [row for row in rows if row.subject == subject]
    related = [row for row in rows if relation_of(row.subject) == relation_of(subject)]
    if exact or related or not is_person(subject):
        return exact or related or list(rows)
    called = content_words([name_of(subject)]) | _topic(relation_of(subject))
    return [row for row in rows if row.subject != "user" or called & _words(row)]


def _with_people(rows: Sequence[StoredFact], known: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    """Whoever is no longer there takes everything about them along."""
    gone = {
        row.subject
        for row in rows
        if name_of(row.subject) and value_key(row.value) == value_key(name_of(row.subject))
    }
    return _once([*rows, *(row for row in known if row.subject in gone)])


def _meant(known: Sequence[StoredFact], near: Mapping[str, float]) -> list[StoredFact]:
    """The nearest fact in meaning, if it is clearly nearer than the next."""
    ranked = sorted(
        (row for row in known if row.id in near), key=lambda row: near[row.id], reverse=True
    )
    if not ranked or near[ranked[0].id] < MEANT_COSINE:
        return []
    clear = len(ranked) == 1 or near[ranked[0].id] - near[ranked[1].id] >= MEANT_MARGIN
    return ranked[:1] if clear else []


def _topic(relation: str) -> frozenset[str]:
    return content_words([relation.rpartition(".")[2].replace("_", " ")])


def _words(row: StoredFact) -> frozenset[str]:
    return content_words([row.text, row.value, *row.entities, name_of(row.subject)])


def _once(rows: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    return tuple({row.id: row for row in rows}.values())
