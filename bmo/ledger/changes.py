"""What else ends when one thing changes: pure, from the tables in ``data/changes.toml``.

A couple parts and everything about the partner ends; somebody dies, leaves their work, eats meat
again, lifts a standing wish. ``also_ended`` is asked for what is newly stated, ``over`` for what is
said to be no longer so. Both end only what is clear: what the words name, or what there is one of.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib import resources
from typing import Any

from bmo.ledger.ages import new_age
from bmo.ledger.positions import (
    reports_in,
    superior_of,
    where_position,
    words_of_reporting,
)
from bmo.ledger.subjects import is_person, last_relation, name_of, relation_of, states_name, within
from bmo.ledger.values import (
    content_words,
    ended_with,
    goes_on,
    stem,
    stems,
    topic_of,
    value_key,
    words_agree,
)
from bmo.turn import Fact, StoredFact

SLOTLESS = "~"
"""Stands for memories without a slot in ``data/changes.toml``."""

SHARED_WISH = 0.5
"""Share of a lifted wish's words that the standing one must have."""


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


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Any]:
    source = resources.files(__package__) / "data" / "changes.toml"
    return tomllib.loads(source.read_text("utf-8"))


def reach(fact: Fact) -> Reach:
    """Where to look for facts that ``fact`` may end beside those of its own slot."""
    if fact.op == "retract":
        return _reach_of_topic(fact)
    tables = _tables()
    if _is_partner(fact.subject) and states_name(fact):
        return Reach(slots=("marital_status",), relations=_partners("relations"))
    age = new_age(fact)
    if fact.slot is None:
        return Reach(words=frozenset({age.name}) if age is not None else topic_of(fact.text))
    slots: list[str] = []
    relations, words = where_position(fact)
    words |= {age.name} if age is not None else set()
    if fact.slot == "deceased" and is_person(fact.subject):
        relations = (relation_of(fact.subject),)
    if fact.slot == "marital_status" and fact.subject == "user":
        relations = _partners(tables["alone"].get(value_key(fact.value), ""))
    slots += _over_with(fact)
    slots += tables["no_longer"].get(fact.slot, {})
    if fact.slot in tables["closes"] and _polarity_fits(fact):
        slots += [slot for slot in tables["closes"][fact.slot] if slot != SLOTLESS]
        words |= content_words([fact.value])
    return Reach(tuple(slots), relations, words)


def _over_with(fact: Fact) -> Sequence[str]:
    """Slots of the same subject that are over with this value."""
    values = _tables()["over_with"].get(fact.slot, {})
    if fact.polarity == "negative":
        return ()
    return tuple(values.get(value_key(fact.value), values.get("*", ())))


def _reach_of_topic(fact: Fact) -> Reach:
    tables = _tables()
    said = content_words([fact.value, name_of(fact.subject)])
    if fact.slot in ("partner", "engagement"):
        plans = content_words(tables["partner"]["together"])
        relations = _partners("relations") if fact.slot == "partner" else ()
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
    return content_words([_owner_name(row.subject) for row in rows])


TOPICS = frozenset(
    {
        "partner",
        "engagement",
        "shared_home",
        "successor",
        "not_of_relation",
        "pet",
        "employer",
        "standing_instruction",
        "policy",
    }
)
"""Slots of retractions that have a rule of their own in ``over``."""


def is_together_again(fact: Fact) -> bool:
    """Whether a fact says that a couple that had parted is one again."""
    return fact.slot == "marital_status" and value_key(fact.value).startswith("together")


def rejoined(fact: Fact, ended: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    """What is so again when a couple is together again: what ended with the partner last.

    Args:
        fact: "Is back together with Aron".
        ended: Facts about partners that somebody said were over, and what ended with them.
    """
    partners = _partners("relations")
    theirs = [row for row in ended if within(row.subject, partners) and row.slot == "name"]
    named = content_words([fact.value]) - content_words(["together", "partner"])
    if named and not named <= content_words(_tables()["partner"]["relations"]):
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
    tables = _tables()
    before = [row for row in live if row.valid_from < at]
    if _is_partner(fact.subject) and states_name(fact):
        alone = [r for r in before if r.subject == "user" and r.slot == "marital_status"]
        alone = [r for r in alone if value_key(r.value) in tables["partner"]["single"]]
        return [*alone, *(row for row in before if _is_another_partner(row, fact))]
    if fact.slot is None:
        return []
    ended: list[StoredFact] = []
    if fact.slot == "deceased" and is_person(fact.subject):
        ended += _about_the_dead(fact, before)
    if fact.slot == "marital_status" and fact.subject == "user":
        gone = _partners(tables["alone"].get(value_key(fact.value), ""))
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


def over(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...] | None:
    """The facts that are over because somebody said so, without asking to forget them.

    Args:
        fact: The retraction; its slot is the topic.
        known: Facts it may mean.

    Returns:
        None where the topic has no rule of its own and value and slot decide.
    """
    tables = _tables()
    if fact.slot == "partner":
        return _of_a_couple(fact, known)
    if fact.slot == "engagement":
        return tuple(row for row in known if row.subject == "user" and _is_for_two(row))
    if fact.slot == "shared_home":
        return _of_a_shared_home(fact, known)
    if fact.slot == "successor":
        relation = relation_of(fact.subject)
        held = last_relation(relation) in (
            *tables["successor"]["relations"],
            *tables["partner"]["relations"],
        )
        theirs = [row for row in known if held and within(row.subject, (relation,))]
        return _once([*theirs, *reports_in(known, relation)])
    if fact.slot == "not_of_relation":
        return _of_whom_it_is_denied(fact, known)
    if fact.slot == "pet":
        return tuple(_about_the_dead(fact, known))
    if fact.slot == "employer":
        return _of_a_job(fact, known)
    if fact.slot == "standing_instruction":
        wishes = [row for row in known if _is_wish(row)]
        return _most_like(fact.value, wishes, tables["wishes"]["frame"])
    if fact.slot == "policy":
        rules = [
            row
            for row in known
            if row.category in tables["rules"]["categories"] or row.slot in tables["rules"]["slots"]
        ]
        return _most_like(fact.value, rules, tables["rules"]["frame"])
    return None


def _of_a_couple(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    """Everything about the partner, if it is clear who that is, and what says they are together."""
    relations = _partners("relations")
    if fact.subject.startswith("user.") and not within(fact.subject, relations):
        return ()  # "a watch my grandad left me"
    theirs = [row for row in known if within(row.subject, relations)]
    said = value_key(fact.value) or value_key(name_of(fact.subject))
    if said and not _is_relation(said):
        named = [row for row in theirs if value_key(_owner_name(row.subject)) == said]
        if not named and any(_owner_name(row.subject) for row in theirs):
            return ()  # somebody else
        theirs = [*named, *(row for row in theirs if not _owner_name(row.subject))]
    elif said:
        of_relation = [r for r in relations if r.rpartition(".")[2].replace("_", " ") == said]
        theirs = [row for row in theirs if within(row.subject, of_relation)] or theirs
    names = content_words([_owner_name(row.subject) for row in theirs] + [said])
    words = names | {last_relation(row.subject) for row in theirs if row.subject in relations}
    own = [row for row in known if row.subject == "user" and (theirs or not said)]
    mentions = [
        row
        for row in own
        if _is_for_two(row) or not words.isdisjoint(content_words([row.text, *row.entities]))
    ]
    return _once([*theirs, *mentions])


def _is_for_two(row: StoredFact) -> bool:
    """Whether a fact of the user says that a couple is together, or plans to be."""
    partner = _tables()["partner"]
    if row.slot in partner["slots"] and row.slot != "lives_with":
        return row.polarity == "positive" and value_key(row.value) not in partner["apart"]
    plans = row.category == "goals" or row.slot is None or row.when is not None
    return plans and not content_words(partner["together"]).isdisjoint(content_words([row.text]))


def _of_whom_it_is_denied(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    """What says that somebody is what they are not; of a position, all that stands under it."""
    theirs = [row for row in known if row.subject == fact.subject]
    name = name_of(fact.subject)
    reports = reports_in(known, relation_of(fact.subject))
    position = last_relation(fact.subject) in _tables()["successor"]["relations"]
    left = [row for row in reports if superior_of(row.text) == name]
    return _once([*(row for row in theirs if position or row.slot == "name"), *left])


def _of_a_shared_home(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    table = _tables()["shared_home"]
    person = [row for row in known if row.subject == fact.subject]
    if last_relation(fact.subject) not in table["relations"]:
        person = [row for row in person if row.slot in table["slots"]]
    names = content_words([name_of(fact.subject), last_relation(fact.subject)])
    homes = [
        row
        for row in known
        if row.subject == "user"
        and row.slot in table["slots"]
        and not names.isdisjoint(content_words([row.value, row.text]))
    ]
    return _once([*person, *homes])


def _of_a_job(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    table = _tables()["job"]
    own = [row for row in known if row.subject == fact.subject]
    jobs = [row for row in own if row.slot == "employer"]
    linked = (*ended_with("employer"), *table["slots"])
    beside = [row for row in own if row.slot in linked]
    if not fact.value:
        return _once([*jobs, *beside]) if jobs else ()
    words = content_words([fact.value])
    worded = [row for row in jobs if words_agree(words, content_words([row.value, row.text]))]
    kinds = content_words(table["kinds"])
    if not worded and len(jobs) == 1 and words & kinds and len(words) == 1:
        # "i quit the bakery", and the employer is known by its name alone.
        worded = [row for row in jobs if content_words([row.value]).isdisjoint(kinds)]
    named = [
        row
        for row in own
        if row.slot in (None, "department", "field", "occupation", "business", "volunteers")
        and words_agree(words, content_words([row.text, row.value]))
    ]
    return _once([*worded, *named, *(beside if worded else [])])


def _is_wish(row: StoredFact) -> bool:
    table = _tables()["wishes"]
    if row.subject != "user":
        return False
    return row.slot in table["slots"] or (
        row.slot is None and row.text.casefold().startswith(tuple(table["opens"]))
    )


def _most_like(
    said: str, rows: Sequence[StoredFact], frame: Sequence[str]
) -> tuple[StoredFact, ...]:
    """The one row that is about what was said; none when two are as near."""
    asked = stems([said]) - {stem(word) for word in frame}
    if not asked:
        return ()
    shared = {row.id: len(asked & stems([row.text, row.value])) / len(asked) for row in rows}
    best = max(shared.values(), default=0.0)
    if best < SHARED_WISH:
        return ()
    nearest = [row for row in rows if shared[row.id] == best]
    one = len(nearest) == 1 or best == 1.0
    return tuple(nearest) if one else ()


def _closed(fact: Fact, own: Sequence[StoredFact], slots: Sequence[str]) -> list[StoredFact]:
    words = content_words([fact.value])
    diets = _tables()["diets"]
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


def _about_the_dead(fact: Fact, rows: Sequence[StoredFact]) -> list[StoredFact]:
    """All about somebody, and about who is theirs to feed or to visit: their own facts."""
    keeps = _tables()["deceased"]["keeps"]
    relation = relation_of(fact.subject)
    of_relation = [row for row in rows if relation_of(row.subject) == relation]
    names = {name_of(row.subject) for row in of_relation} - {""}
    name = name_of(fact.subject)
    if name:
        meant = [row for row in of_relation if name_of(row.subject) in (name, "")]
        if len(names - {name}) > 0:
            meant = [row for row in meant if name_of(row.subject) == name]
    else:
        meant = of_relation if len(names) < 2 else []
    word = last_relation(relation).replace("_", " ")
    bare = [
        row
        for row in rows
        if row.subject == "user" and row.slot == "has" and value_key(row.value) == value_key(word)
    ]
    return [row for row in [*meant, *bare] if row.slot not in keeps]


def _is_partner(subject: str) -> bool:
    return relation_of(subject) in _partners("relations")


def _rules_out(fact: Fact) -> bool:
    """Whether a value of ``no_longer`` speaks against the others (shifts, a partner)."""
    values = _tables()["no_longer"][fact.slot]
    if fact.slot == "has":
        return _is_relation(value_key(fact.value))
    own = values.get(fact.slot)
    return own is None or fact.slot == "lives_with" or value_key(fact.value) in own


def _is_another_partner(row: StoredFact, fact: Fact) -> bool:
    if not within(row.subject, _partners("relations")):
        return False
    name = _owner_name(row.subject)
    return bool(name) and value_key(name) != value_key(name_of(fact.subject))


def _owner_name(subject: str) -> str:
    """The name of whoever of the user's a subject begins with ("user.wife:ana.sister")."""
    owner = subject.removeprefix("user.")
    first = owner.split(".", 1)[0]
    return first.partition(":")[2]


def _is_relation(word: str) -> bool:
    return word in {value_key(relation) for relation in _tables()["partner"]["relations"]}


def _partners(which: str) -> tuple[str, ...]:
    names = _tables()["partner"][which] if which else ()
    return tuple(f"user.{name}" for name in names)


def _polarity_fits(fact: Fact) -> bool:
    wanted = _tables()["polarity"].get(fact.slot)
    return wanted is None or bool(wanted == fact.polarity)


def _once(rows: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    return tuple({row.id: row for row in rows}.values())


PARTNERS: tuple[str, ...] = _partners("relations")
"""Subjects of partners without their names."""
