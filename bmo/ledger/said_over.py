"""What is over because somebody said so, without asking to forget it: a couple, a home, a job.

Pure, from the tables in ``data/changes.toml``. Only what is clear ends: what the words name, or
what there is one of.
"""

from __future__ import annotations

from collections.abc import Sequence

from bmo.ledger.change_tables import change_tables, is_relation, owner_name, partners_of
from bmo.ledger.positions import (
    reports_in,
    superior_of,
)
from bmo.ledger.subjects import last_relation, name_of, relation_of, within
from bmo.ledger.values import (
    content_words,
    ended_with,
    stem,
    stems,
    value_key,
    words_agree,
)
from bmo.turn import Fact, StoredFact

SHARED_WISH = 0.5
"""Share of a lifted wish's words that the standing one must have."""


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


def over(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...] | None:
    """The facts that are over because somebody said so, without asking to forget them.

    Args:
        fact: The retraction; its slot is the topic.
        known: Facts it may mean.

    Returns:
        None where the topic has no rule of its own and value and slot decide.
    """
    tables = change_tables()
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
        return tuple(about_the_dead(fact, known))
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
    relations = partners_of("relations")
    if fact.subject.startswith("user.") and not within(fact.subject, relations):
        return ()  # "a watch my grandad left me"
    theirs = [row for row in known if within(row.subject, relations)]
    said = value_key(fact.value) or value_key(name_of(fact.subject))
    if said and not is_relation(said):
        named = [row for row in theirs if value_key(owner_name(row.subject)) == said]
        if not named and any(owner_name(row.subject) for row in theirs):
            return ()  # somebody else
        theirs = [*named, *(row for row in theirs if not owner_name(row.subject))]
    elif said:
        of_relation = [r for r in relations if r.rpartition(".")[2].replace("_", " ") == said]
        theirs = [row for row in theirs if within(row.subject, of_relation)] or theirs
    names = content_words([owner_name(row.subject) for row in theirs] + [said])
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
    partner = change_tables()["partner"]
    if row.slot in partner["slots"] and row.slot != "lives_with":
        return row.polarity == "positive" and value_key(row.value) not in partner["apart"]
    plans = row.category == "goals" or row.slot is None or row.when is not None
    return plans and not content_words(partner["together"]).isdisjoint(content_words([row.text]))


def _of_whom_it_is_denied(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    """What says that somebody is what they are not; of a position, all that stands under it."""
    theirs = [row for row in known if row.subject == fact.subject]
    name = name_of(fact.subject)
    reports = reports_in(known, relation_of(fact.subject))
    position = last_relation(fact.subject) in change_tables()["successor"]["relations"]
    left = [row for row in reports if superior_of(row.text) == name]
    return _once([*(row for row in theirs if position or row.slot == "name"), *left])


def _of_a_shared_home(fact: Fact, known: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    table = change_tables()["shared_home"]
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
    table = change_tables()["job"]
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
    table = change_tables()["wishes"]
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


def about_the_dead(fact: Fact, rows: Sequence[StoredFact]) -> list[StoredFact]:
    """All about somebody, and about who is theirs to feed or to visit: their own facts."""
    keeps = change_tables()["deceased"]["keeps"]
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


def _once(rows: Sequence[StoredFact]) -> tuple[StoredFact, ...]:
    return tuple({row.id: row for row in rows}.values())
