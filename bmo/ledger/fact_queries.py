"""The ledger's side for whoever looks at facts: live, past, by words, why."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import Connection

from bmo.ids import new_id
from bmo.ledger import doubles, fact_writing, outbox, word_search
from bmo.ledger import facts as rows
from bmo.ledger.database import Database
from bmo.ledger.fact_writing import Stamp
from bmo.ledger.facts import as_fact
from bmo.ledger.reconcile import conflict_key
from bmo.ledger.records import Why
from bmo.ledger.schema import OTHER_PEOPLE, fact_turns, facts, turns
from bmo.ledger.turn_log import logged
from bmo.ledger.values import content_words, is_person, name_of, relation_of
from bmo.turn import Category, Kind, StoredFact, Visibility, utc_now

_NAMED_SUBJECTS = (
    sa.select(facts.c.subject)
    # The second to fourth are what the index ``ix_facts_people`` holds, word for word.
    .where(facts.c.user_id == sa.bindparam("user"), rows.is_live(), OTHER_PEOPLE)
    .where(facts.c.subject.contains(":"))
    .group_by(facts.c.subject)
    .order_by(sa.func.max(facts.c.valid_from).desc(), facts.c.subject)
)


_OF_VISIT = (
    rows.select_facts()
    .join(fact_turns, sa.and_(fact_turns.c.fact_id == facts.c.id, fact_turns.c.role == "stated"))
    .join(turns, turns.c.id == fact_turns.c.turn_id)
    .where(
        turns.c.user_id == sa.bindparam("user"),
        turns.c.session_id == sa.bindparam("session"),
        facts.c.user_id == sa.bindparam("user"),
        rows.is_live(),
    )
    .order_by(turns.c.seq.desc(), facts.c.text, facts.c.id)
    .limit(sa.bindparam("limit", type_=sa.Integer()))
)
_COUNT_LIVE = sa.select(sa.func.count()).where(
    facts.c.user_id == sa.bindparam("user"),
    rows.is_live(sa.bindparam("now", type_=facts.c.expires_at.type)),
)


_REPLACED = (
    rows.select_facts()
    .where(facts.c.user_id == sa.bindparam("user"), facts.c.superseded_by == sa.bindparam("fact"))
    .order_by(facts.c.valid_from.desc(), facts.c.id)
)
_WORDS_REPLACED = (
    sa.select(facts.c.superseded_by, facts.c.text)
    .where(
        facts.c.user_id == sa.bindparam("user"),
        facts.c.superseded_by.in_(sa.bindparam("ids", expanding=True)),
        facts.c.end_reason == "superseded",
    )
    .order_by(facts.c.valid_from, facts.c.id)
)
_SUBJECTS = sa.select(facts.c.subject).where(facts.c.user_id == sa.bindparam("user")).distinct()


class FactQueries(Database):
    """Reading facts, and correcting one by hand."""

    def live_facts(
        self,
        user_id: str,
        *,
        subjects: Collection[str] | None = None,
        slots: Collection[str] | None = None,
        categories: Collection[Category] | None = None,
        kinds: Collection[Kind] | None = None,
        domains: Collection[str] | None = None,
        rules: Collection[str] | None = None,
        include_past: bool = False,
        at: datetime | None = None,
        limit: int | None = None,
        extraction_version: str | None = None,
        agent_id: str | None = None,
        visibility: Visibility | None = None,
    ) -> list[StoredFact]:
        """Facts that are not ended, not expired and not withdrawn, newest first.

        Args:
            user_id: Whose facts.
            subjects: Only these subjects; "user.brother" includes "user.brother:sam".
            slots: Only these slots.
            categories: Only these categories.
            kinds: Only facts of these kinds.
            domains: Only facts of these topics.
            rules: Only facts that these rules wrote.
            include_past: Ended facts too, but none that was never true (corrected, edited).
            at: As of this moment: what was known and true then. None is now.
            limit: Facts at most.
            extraction_version: Only facts written by this gate version.
            agent_id: Only facts told to this agent.
            visibility: Only facts of this visibility.
        """
        moment = at or utc_now()
        query = rows.select_facts().where(facts.c.user_id == user_id)
        if include_past:
            query = query.where(
                facts.c.withdrawn_by.is_(None), facts.c.end_reason.not_in(rows.NEVER_TRUE)
            )
            query = query if at is None else query.where(facts.c.recorded_at <= at)
        else:
            query = query.where(rows.is_live(moment) if at is None else rows.was_live(at))
        wanted: dict[str, Collection[str] | None] = {
            "slot": slots,
            "category": categories,
            "kind": kinds,
            "domain": domains,
            "rule_id": rules,
            "extraction_version": None if extraction_version is None else [extraction_version],
            "agent_id": None if agent_id is None else [agent_id],
            "visibility": None if visibility is None else [visibility],
        }
        with self.reading(user_id) as connection:
            if subjects is not None:
                wanted["subject"] = _with_names(connection, user_id, subjects)
            for name, values in wanted.items():
                if values is not None:
                    query = query.where(facts.c[name].in_(list(values)))
            query = query.order_by(facts.c.valid_from.desc(), facts.c.text, facts.c.id)
            return rows.fetch(connection, query.limit(limit))

    def facts_by_id(
        self, user_id: str, ids: Collection[str], *, live_at: datetime | None = None
    ) -> list[StoredFact]:
        """Facts of a user in the order of ``ids``; others' are left out.

        Args:
            user_id: Whose facts.
            ids: Ids of the facts.
            live_at: Only those known and true at this moment. None: live or ended.
        """
        with self.reading(user_id) as connection:
            return rows.by_ids(connection, user_id, ids, live_at)

    def visit_facts(self, user_id: str, session_id: str, limit: int) -> list[StoredFact]:
        """Live facts that turns of one visit stated, newest first."""
        given = {"user": user_id, "session": session_id, "limit": limit}
        with self.reading(user_id) as connection:
            return rows.fetch(connection, _OF_VISIT, given)

    def find_facts(self, user_id: str, prefix: str) -> list[StoredFact]:
        """Facts, live or ended, whose id begins with ``prefix``: what people type."""
        query = rows.select_facts().where(
            facts.c.user_id == user_id, facts.c.id.startswith(prefix, autoescape=True)
        )
        with self.reading(user_id) as connection:
            return rows.fetch(connection, query.order_by(facts.c.id))

    def search_words(self, user_id: str, query: str, limit: int) -> list[tuple[StoredFact, float]]:
        """Live facts that share words with ``query``, best first.

        Args:
            user_id: Whose facts.
            query: Any text.
            limit: Facts at most.

        Returns:
            (fact, share of the query's rare words it has, 0..1).
        """
        now = utc_now()
        with self.reading(user_id) as connection:
            found = word_search.by_words(connection, user_id, content_words([query]), limit)
        return [
            (fact, share)
            for fact, share in found
            if fact.expires_at is None or fact.expires_at > now
        ]

    def word_counts(self, user_id: str, words: Collection[str]) -> dict[str, int]:
        """Number of the user's facts that hold each of ``words`` (as of ``content_words``).

        Common words are counted up to ``word_search.COUNTED``.
        """
        with self.reading(user_id) as connection:
            return word_search.word_counts(connection, user_id, words)

    def count_live(self, user_id: str) -> int:
        """Number of live facts of a user."""
        given = {"user": user_id, "now": utc_now()}
        with self.reading(user_id) as connection:
            return int(connection.execute(_COUNT_LIVE, given).scalar_one())

    def known_subjects(self, user_id: str) -> dict[str, str]:
        """Lower-case name -> subject of everybody a live fact is about, newest names first."""
        found: dict[str, str] = {}
        with self.reading(user_id) as connection:
            for subject in connection.execute(_NAMED_SUBJECTS, {"user": user_id}).scalars():
                if is_person(subject):
                    found.setdefault(name_of(subject), subject)
        return found

    def conflicts(self, user_id: str) -> list[tuple[StoredFact, ...]]:
        """Live facts that contradict each other, grouped by what they are about."""
        query = rows.select_facts().where(facts.c.user_id == user_id, rows.contradicts())
        groups: dict[tuple[str, str, str], list[StoredFact]] = {}
        with self.reading(user_id) as connection:
            for fact in rows.fetch(
                connection, query.order_by(facts.c.valid_from, facts.c.text, facts.c.id)
            ):
                groups.setdefault(conflict_key(fact), []).append(fact)
        return [tuple(group) for group in groups.values() if len(group) > 1]

    def history(self, user_id: str, fact_id: str) -> list[StoredFact]:
        """A fact and everything it replaced or was replaced by, oldest first."""
        with self.reading(user_id) as connection:
            waiting = rows.by_ids(connection, user_id, [fact_id])
            found = {fact.id: fact for fact in waiting}
            while waiting:
                fact = waiting.pop()
                linked = rows.fetch(connection, _REPLACED, {"user": user_id, "fact": fact.id})
                linked += rows.by_ids(connection, user_id, [fact.superseded_by or ""])
                for other in linked:
                    if other.id not in found:
                        found[other.id] = other
                        waiting.append(other)
        return sorted(found.values(), key=lambda fact: (fact.valid_from, fact.valid_until is None))

    def words_replaced(self, user_id: str, ids: Collection[str]) -> dict[str, str]:
        """What the memories with ``ids`` took the place of, in words, oldest first: id -> words."""
        found: dict[str, str] = {}
        with self.reading(user_id) as connection:
            for fact_id, text in connection.execute(
                _WORDS_REPLACED, {"user": user_id, "ids": list(ids)}
            ):
                found[fact_id] = f"{found.get(fact_id, '')} {text}".strip()
        return found

    def why(self, user_id: str, fact_id: str) -> Why | None:
        """Where a fact comes from: date, words, rule, what it replaced. None if unknown."""
        sources = sa.select(fact_turns.c.turn_id).where(
            fact_turns.c.fact_id == fact_id, rows.IS_SOURCE
        )
        with self.reading(user_id) as connection:
            found = rows.by_ids(connection, user_id, [fact_id])
            if not found:
                return None
            turn_ids = [str(turn_id) for turn_id in connection.execute(sources).scalars()]
            successor = rows.by_ids(connection, user_id, [found[0].superseded_by or ""])
            return Why(
                fact=found[0],
                said=tuple(logged(connection, user_id, turn_ids=turn_ids)),
                replaced=tuple(
                    rows.fetch(connection, _REPLACED, {"user": user_id, "fact": fact_id})
                ),
                replaced_by=successor[0] if successor else None,
            )

    def users(self) -> list[str]:
        """Every user the ledger knows, for maintenance on this machine."""
        query = sa.select(turns.c.user_id).union(sa.select(facts.c.user_id))
        with self.reading() as connection:
            return sorted(str(user) for user in connection.execute(query).scalars())

    def edit(
        self,
        user_id: str,
        fact_id: str,
        *,
        text: str | None = None,
        value: str | None = None,
        category: Category | None = None,
        visibility: Visibility | None = None,
        at: datetime | None = None,
    ) -> StoredFact:
        """Corrects a fact by hand: a new row takes the old one's place.

        One that states what another live one does is merged with it.

        Raises:
            ValueError: No such live fact of this user, or nothing to change.
        """
        if not any(given is not None for given in (text, value, category, visibility)):
            raise ValueError("nothing to change: give a text, a value, a category or a visibility")
        if text is not None and not text.strip():
            raise ValueError("a memory needs words; to remove it use erase")
        with self.writing(user_id) as connection:
            found = rows.by_ids(connection, user_id, [fact_id])
            if not found or found[0].valid_until is not None:
                raise ValueError(f"user {user_id!r} has no live fact {fact_id!r}")
            old = found[0]
            reworded = text is not None or value is not None
            fact = replace(
                as_fact(old),
                id=new_id(),
                text=text or old.text,
                value=old.value if value is None else value,
                # New words were never said by anybody, and answer nothing.
                said="" if reworded else old.said,
                asked="" if reworded else old.asked,
                category=category or old.category,
                confidence=1.0,
                extraction_method="manual",
            )
            stamp = Stamp(
                user_id,
                at or utc_now(),
                old.turn_id,
                "manual",
                old.extraction_version,
                old.agent_id,
                visibility or old.visibility,
            )
            new = fact_writing.insert(connection, fact, stamp, valid_from=old.valid_from)
            fact_writing.end(connection, old, "edited", at=stamp.at, superseded_by=new.id)
            outbox.put(connection, "add", user_id, new.id)
            return doubles.settle(connection, [new])[new.id]


def _with_names(connection: Connection, user_id: str, subjects: Collection[str]) -> tuple[str, ...]:
    """``subjects`` and, of each person without a name, everybody a fact names in that relation."""
    unnamed = {s for s in subjects if is_person(s) and relation_of(s) == s}
    known = connection.execute(_SUBJECTS, {"user": user_id}).scalars() if unnamed else ()
    return tuple(sorted({*subjects, *(s for s in known if relation_of(s) in unnamed)}))
