"""What else ends when one thing changes: pure, from the tables in ``data/changes.toml``.

A couple parts and everything about the partner ends; somebody dies, leaves their work, eats meat
again, lifts a standing wish. ``also_ended`` is asked for what is newly stated, ``over``
(``said_over.py``) for what is said to be no longer so. Both end only what is clear: what the words
name, or what there is one of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bmo.ledger.ages import new_age
from bmo.ledger.change_tables import change_tables, is_relation, owner_name, partners_of
from bmo.ledger.positions import (
    where_position,
    words_of_reporting,
)
from bmo.ledger.said_over import about_the_dead
from bmo.ledger.subjects import is_person, last_relation, name_of, relation_of, states_name, within
from bmo.ledger.values import (
    content_words,
    ended_with,
    goes_on,
    topic_of,
    value_key,
    words_agree,
)
from bmo.turn import Fact, StoredFact

SLOTLESS = "~"
"""Stands for memories without a slot in ``data/changes.toml``."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Where facts may stand that a new one ends.

    Attributes:
        slots: Slots of the same subject.
        relations: Subjects without names ("user.wife").
        words: Words of facts, in their compared form.
    """

    slots: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()


def reach(fact: Fact) -> Reach:
    """Where to look for facts that ``fact`` may end beside those of its own slot."""
    if fact.op == "retract":
        return _reach_of_topic(fact)
    tables = change_tables()
    if _is_partner(fact.subject) and states_name(fact):
        return Reach(slots=("marital_status",), relations=partners_of("relations"))
    age = new_age(fact)
    if fact.slot is None:
        return Reach(words=frozenset({age.name}) if age is not None else topic_of(fact.text))
    slots: list[str] = []
    relations, words = where_position(fact)
    words |= {age.name} if age is not None else set()
    if fact.slot == "deceased" and is_person(fact.subject):
        relations = (relation_of(fact.subject),)
    if fact.slot == "marital_status" and fact.subject == "user":
        relations = partners_of(tables["alone"].get(value_key(fact.value), ""))
    slots += _over_with(fact)
    slots += tables["no_longer"].get(fact.slot, {})
    if fact.slot in tables["closes"] and _polarity_fits(fact):
        slots += [slot for slot in tables["closes"][fact.slot] if slot != SLOTLESS]
        words |= content_words([fact.value])
    return Reach(tuple(slots), relations, words)


def _over_with(fact: Fact) -> Sequence[str]:
    """Slots of the same subject that are over with this value."""
    values = change_tables()["over_with"].get(fact.slot, {})
    if fact.polarity == "negative":
        return ()
    return tuple(values.get(value_key(fact.value), values.get("*", ())))


def _reach_of_topic(fact: Fact) -> Reach:
    tables = change_tables()
    said = content_words([fact.value, name_of(fact.subject)])
    if fact.slot in ("partner", "engagement"):
        plans = content_words(tables["partner"]["together"])
        relations = partners_of("relations") if fact.slot == "partner" else ()
        return Reach(tuple(tables["partner"]["slots"]), relations, plans | said)
    if fact.slot in ("shared_home", "successor", "not_of_relation", "pet"):
        relation = relation_of(fact.subject)
        slots = tables["shared_home"]["slots"] if fact.slot == "shared_home" else ["has"]
        words = said | content_words([last_relation(relation)]) | words_of_reporting(relation)
        return Reach(tuple(slots), (relation,), words)
    if fact.slot == "employer":
        beside = ("employer", "occupation", *ended_with("employer"), *tables["job"]["slots"])
        return Reach(beside, (), said)
    if fact.slot == "standing_instruction":
        return Reach(tuple(tables["wishes"]["slots"]), (), said)
    if fact.slot == "policy":
        return Reach(tuple(tables["rules"]["slots"]), (), said)
    return Reach()


def names_in(rows: Sequence[StoredFact]) -> frozenset[str]:
    """The words of the names by which a topic's facts may be mentioned elsewhere."""
    return content_words([owner_name(row.subject) for row in rows])


def is_together_again(fact: Fact) -> bool:
    """Whether a fact says that a couple that had parted is one again."""
    return fact.slot == "marital_status" and value_key(fact.value).startswith("together")


def rejoined(fact: Fact, ended: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    """What is so again when a couple is together again: what ended with the partner last.

    Args:
        fact: "Is back together with Aron".
        ended: Facts about partners that somebody said were over, and what ended with them.
    """
    partners = partners_of("relations")
    theirs = [row for row in ended if within(row.subject, partners) and row.slot == "name"]
    named = content_words([fact.value]) - content_words(["together", "partner"])
    if named and not named <= content_words(change_tables()["partner"]["relations"]):
        theirs = [row for row in theirs if content_words([row.value]) <= named]
    if not theirs:
        return ()
    last = max(theirs, key=lambda row: row.valid_until or row.valid_from)
    about = [row for row in ended if row.valid_until == last.valid_until]
    return tuple(row for row in about if within(row.subject, (last.subject.partition(":")[0],)))


def also_ended(fact: Fact, at: datetime, live: Sequence[StoredFact]) -> list[StoredFact]:
    """The facts a new statement ends beside those of its own slot.

    Args:
        fact: What is newly stated (``op`` assert or correct).
        at: When it was said; what was said in the same turn stays.
        live: Live facts, those of ``reach(fact)`` among them.
    """
    tables = change_tables()
    before = [row for row in live if row.valid_from < at]
    if _is_partner(fact.subject) and states_name(fact):
        alone = [r for r in before if r.subject == "user" and r.slot == "marital_status"]
        alone = [r for r in alone if value_key(r.value) in tables["partner"]["single"]]
        return [*alone, *(row for row in before if _is_another_partner(row, fact))]
    if fact.slot is None:
        return []
    ended: list[StoredFact] = []
    if fact.slot == "deceased" and is_person(fact.subject):
        ended += about_the_dead(fact, before)
    if fact.slot == "marital_status" and fact.subject == "user":
        gone = partners_of(tables["alone"].get(value_key(fact.value), ""))
        ended += [row for row in before if within(row.subject, gone)]
    own = [row for row in before if row.subject == fact.subject]
    over = _over_with(fact)
    ended += [row for row in own if row.slot in over]
    for slot, values in tables["no_longer"].get(fact.slot, {}).items():
        if fact.polarity == "positive" and _rules_out(fact):
            ended += [
                row
                for row in own
                if row.slot == slot
                and value_key(row.value) in values
                and value_key(row.value) != value_key(fact.value)
            ]
    if fact.slot in tables["closes"] and _polarity_fits(fact):
        # What a team uses is told by one of its people: "we use twilio", "the team dropped it".
        sides = ("user", "team") if fact.subject in ("user", "team") else (fact.subject,)
        near = [row for row in before if row.subject in sides]
        ended += _closed(fact, near, tables["closes"][fact.slot])
    return list({row.id: row for row in ended}.values())


def _closed(fact: Fact, own: Sequence[StoredFact], slots: Sequence[str]) -> list[StoredFact]:
    words = content_words([fact.value])
    diets = change_tables()["diets"]
    denied = {value for word in words for value in diets.get(word, ())}
    ended = []
    for row in own:
        if (row.slot or SLOTLESS) not in slots:
            continue
        if fact.slot == "eats":
            if row.slot == "diet":
                gone = value_key(row.value) in denied
            elif row.slot is None:
                gone = bool(content_words([row.text]) & {d for d in denied if d not in words})
            else:
                gone = row.polarity == "negative" and words_agree(words, content_words([row.value]))
        else:
            gone = row.polarity != fact.polarity or row.slot != fact.slot
            gone = gone and words_agree(words, content_words([row.text, row.value]))
            if fact.polarity == "negative":
                gone = gone and not goes_on(fact.text, fact.value, row.text)
        if gone:
            ended.append(row)
    return ended


def _is_partner(subject: str) -> bool:
    return relation_of(subject) in partners_of("relations")


def _rules_out(fact: Fact) -> bool:
    """Whether a value of ``no_longer`` speaks against the others (shifts, a partner)."""
    values = change_tables()["no_longer"][fact.slot]
    if fact.slot == "has":
        return is_relation(value_key(fact.value))
    own = values.get(fact.slot)
    return own is None or fact.slot == "lives_with" or value_key(fact.value) in own


def _is_another_partner(row: StoredFact, fact: Fact) -> bool:
    if not within(row.subject, partners_of("relations")):
        return False
    name = owner_name(row.subject)
    return bool(name) and value_key(name) != value_key(name_of(fact.subject))


def _polarity_fits(fact: Fact) -> bool:
    wanted = change_tables()["polarity"].get(fact.slot)
    return wanted is None or bool(wanted == fact.polarity)
