"""Candidates for a plan: slots by key from the ledger first, then what the search finds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from bmo.recall.calibration import reference_calibration
from bmo.recall.candidates import NAMED, Asked, Candidate, Retrieved
from bmo.recall.relevance import SMALL, Evidence, evidence, words_of
from bmo.recall.search import MemorySearch, Search, alive
from bmo.recall.small_memory import fitting
from bmo.recall.subjects import belongs
from bmo.recall.words_in_common import is_named, share_a_word
from bmo.turn import RecallPlan, StoredFact

if TYPE_CHECKING:
    from bmo.ledger import Ledger

SLOT_LIMIT: Final = 25
"""Facts read by key for one plan, at most."""

ALL_LIMIT: Final = 400
"""Facts read for a wide question ("what do you know about me"), at most."""

NAMED_SHARE: Final = 0.9
"""Least similarity of a memory whose name stands in the question ("k8s")."""

WORDLESS: Final = 0.2
"""Cosine that a memory loses which shares no telling word with a question of which nothing says
that memory is needed (a forced plan): what is only near is then a matter like it, and not it."""

SOFT_BONUS: Final = 0.08
"""Cosine that a memory of a slot that may matter gains."""

OF_THE_ASKED: Final = 0.6
"""Least similarity of what is known of a person for whom something is sought (a gift)."""

SLOT_MOST: Final = 5
"""Facts taken from the named slots, at most; beyond, those nearest in meaning."""

OTHERS_PENALTY: Final = 0.55
"""Share of its similarity that a memory of somebody who was not asked about keeps."""

INTRODUCTION_SHARE: Final = 0.4
"""Share of its similarity that "Has a brother named Tom" keeps when no name was asked for: what
else is given of Tom names him too."""

ABSTAIN: Final = 0.8
"""Similarity that a memory needs when the slot or person asked for is not known."""


_DEPENDS: Final = frozenset({"indirect_need", "command_needs_fact", "judge", "forced"})
"""Triggers whose slots are what a good reply depends on, and not what is asked for."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What the ledger knows by itself, without the index.

    Attributes:
        asked: Who is asked about.
        by_key: Facts in the slots that the plan names.
        about: Facts about the people for whom something is sought.
        worded: Facts that share rare words with the query, with the share they have.
    """

    asked: Asked
    by_key: list[StoredFact]
    about: list[StoredFact]
    worded: list[tuple[StoredFact, float]]


class Retriever:
    """Reads candidates; synchronous, to be called in an executor."""

    def __init__(self, ledger: Ledger, search: MemorySearch) -> None:
        """Reads from these.

        Args:
            ledger: Where the truth is.
            search: Finds by meaning and words; closed with this.
        """
        self._ledger = ledger
        self._reference = reference_calibration()
        self._search = search

    def retrieve(self, plan: RecallPlan, user_id: str, now: datetime, live: int) -> Retrieved:
        """Candidates for ``plan``.

        Args:
            plan: A plan that wants memory.
            user_id: Whose memory.
            now: The session's moment: facts must be true then.
            live: Number of the user's live facts.
        """
        if plan.include_all:
            return Retrieved(tuple(self._everything(plan, user_id, now)))
        small = live <= SMALL and plan.trigger != "forced"
        if small:
            # A forced plan says nothing of what is wanted; nearness and words alone decide.
            asked = self.people(plan, user_id)
            weighed, failure = self.weighed(plan, asked, user_id, now)
            return Retrieved(tuple(fitting(plan, asked, weighed)), self._search.has_index, failure)
        begun = self._search.begin(plan, user_id, live)
        read, cosines, failure = self._search.with_ledger(self._read, begun, user_id, now)
        asked, by_key = read.asked, read.by_key
        searched = self._search.found(begun, read.worded, cosines, user_id, now)
        searched = [self._named_or_near(candidate, begun) for candidate in searched]
        named = _nearest(
            [fact for fact in by_key if asked.allows(fact)],
            searched,
        )
        found = {fact.id: Candidate(fact, 1.0, "slot") for fact in named}
        if asked.people and not named and "user" in plan.subjects:
            # "the business i want to open with my sister" may stand under the user alone.
            plans = [f for f in by_key if f.category == "goals" and f.subject == "user"]
            for fact in _nearest(plans, searched, most=1):
                _keep(found, Candidate(fact, 1.0, "a plan with them"))
        soft = {
            candidate.fact.id
            for candidate in searched
            if candidate.fact.slot in plan.soft_slots and asked.allows(candidate.fact)
        }
        answered = bool(named) or not (plan.slots or asked.people)
        sure = plan.trigger not in _DEPENDS and bool(plan.slots)
        for candidate in searched:
            _keep(found, self._judged(candidate, plan, asked, soft, answered, sure=sure))
        for fact in read.about:
            if fact.slot is None or fact.slot in plan.soft_slots:
                _keep(found, Candidate(fact, OF_THE_ASKED, "about them"))
        return Retrieved(tuple(found.values()), self._search.has_index, failure)

    def weighed(
        self, plan: RecallPlan, asked: Asked, user_id: str, now: datetime
    ) -> tuple[list[tuple[StoredFact, Evidence]], str]:
        """Every memory of a small store with what speaks for it.

        Args:
            plan: Its query and whether the past counts.
            asked: Who is asked about.
            user_id: Whose memory.
            now: The session's moment.

        Returns:
            ((fact, evidence) in the ledger's order, "" or why the index could not answer).
        """
        from bmo.ledger.values import content_words

        facts = self._ledger.live_facts(
            user_id, include_past=plan.include_past, at=now, limit=ALL_LIMIT
        )
        facts = alive(facts, plan, now)
        held = frozenset().union(*(words_of(fact) for fact in facts))
        spelt = self._search.spelt(plan.query, content_words([plan.query]) - held, user_id)
        plan = replace(plan, query=spelt)
        near, failure = self._search.nearness(plan, user_id, len(facts))
        rows = evidence(plan, facts, near, asked.allows)
        return list(zip(facts, rows, strict=True)), failure

    def search(
        self, plan: RecallPlan, user_id: str, now: datetime, live: int
    ) -> tuple[list[Candidate], str]:
        """Memories near the plan's query in meaning and in rare words, best first.

        Args:
            plan: Its query, categories and whether the past counts.
            user_id: Whose memory.
            now: The session's moment.
            live: Number of the user's live facts.

        Returns:
            (candidates, "" or why the index could not answer).
        """
        begun = self._search.begin(plan, user_id, live)
        search = self._search
        rows, cosines, failure = search.with_ledger(search.worded, begun, user_id, now)
        return search.found(begun, rows, cosines, user_id, now), failure

    def close(self) -> None:
        """Ends the threads that read the ledger. Safe to call twice."""
        self._search.close()

    def _read(self, begun: Search, user_id: str, now: datetime) -> _Read:
        plan = begun.plan
        asked = self.people(plan, user_id)
        sought = asked.people and plan.trigger == "indirect_need"
        return _Read(
            asked,
            self._by_key(plan, asked, user_id, now),
            self._about(asked, plan, user_id, now) if sought else [],
            self._search.worded(begun, user_id, now),
        )

    def _named_or_near(self, candidate: Candidate, begun: Search) -> Candidate:
        """Lifts what is named, and lowers what is only near where nothing asks for memory."""
        fact, similarity = candidate.fact, candidate.similarity
        # Where a slot is asked for, the name is of whom or what it is asked.
        if not begun.plan.slots and is_named(fact, begun.counts):
            return Candidate(fact, max(similarity, NAMED_SHARE), NAMED)
        if begun.plan.trigger == "forced" and not share_a_word(fact, begun.counts):
            similarity = self._reference.share(self._reference.cosine(similarity) - WORDLESS)
            return Candidate(fact, similarity, candidate.why)
        return candidate

    def _everything(self, plan: RecallPlan, user_id: str, now: datetime) -> list[Candidate]:
        facts = self._ledger.live_facts(
            user_id,
            subjects=[s for s in plan.subjects if s != "user"] or None,
            categories=plan.categories or None,
            include_past=plan.include_past,
            at=now,
            limit=ALL_LIMIT,
        )
        return [Candidate(fact, 1.0, "everything") for fact in alive(facts, plan, now)]

    def people(self, plan: RecallPlan, user_id: str) -> Asked:
        """Who a plan asks about, with the names that the user's memory has for them."""
        people = tuple(s for s in plan.subjects if s not in ("user", "team"))
        names: tuple[str, ...] = ()
        if people:
            known = self._ledger.known_subjects(user_id)
            names = tuple(
                name for name, subject in known.items() if any(belongs(subject, p) for p in people)
            )
        return Asked(plan.subjects, people, names)

    def _by_key(
        self, plan: RecallPlan, asked: Asked, user_id: str, now: datetime
    ) -> list[StoredFact]:
        if not plan.slots:
            return []
        # What the user plans with a person stands under the user: "open a bar with sister Ana".
        subjects = {*plan.subjects, "user"} if asked.people else plan.subjects
        facts = self._ledger.live_facts(
            user_id,
            subjects=sorted(subjects) or None,
            slots=plan.slots,
            include_past=plan.include_past,
            at=now,
            limit=SLOT_LIMIT,
        )
        return alive(facts, plan, now)

    def _about(
        self, asked: Asked, plan: RecallPlan, user_id: str, now: datetime
    ) -> list[StoredFact]:
        facts = self._ledger.live_facts(user_id, subjects=asked.people, at=now, limit=SLOT_LIMIT)
        return alive(facts, plan, now)

    def _judged(
        self,
        candidate: Candidate,
        plan: RecallPlan,
        asked: Asked,
        soft: Collection[str],
        answered: bool,
        *,
        sure: bool,
    ) -> Candidate:
        """Lowers what is about somebody else, and what cannot be the answer that is missing.

        Args:
            candidate: Found by the search.
            plan: What is asked.
            asked: About whom.
            soft: Ids of facts whose slot may matter.
            answered: The named slots hold something, or none is named.
            sure: The slots are the very thing asked for, so that other memories must be near.
        """
        fact, similarity = candidate.fact, candidate.similarity
        if fact.id in soft:
            similarity = self._reference.share(self._reference.cosine(similarity) + SOFT_BONUS)
        if fact.slot == "name" and plan.slots and "name" not in plan.slots:
            similarity *= INTRODUCTION_SHARE
        if not asked.allows(fact):
            # "the business i want to open with my sister" may stand under the user alone.
            if asked.people:
                return Candidate(fact, 0.0, "about somebody else")
            similarity *= OTHERS_PENALTY
        if sure and fact.id not in soft and not asked.people and similarity < ABSTAIN:
            why = "answered by its slot" if answered else "what was asked for is not known"
            return Candidate(fact, 0.0, why)
        return Candidate(fact, similarity, candidate.why)


def _nearest(
    facts: list[StoredFact], searched: Iterable[Candidate], *, most: int = SLOT_MOST
) -> list[StoredFact]:
    """The facts of the named slots; of too many those that the search put first."""
    if len(facts) <= most:
        return facts
    rank = {candidate.fact.id: n for n, candidate in enumerate(searched)}
    return sorted(facts, key=lambda fact: rank.get(fact.id, len(rank)))[:most]


def _keep(found: dict[str, Candidate], candidate: Candidate) -> None:
    known = found.get(candidate.fact.id)
    if known is None or candidate.similarity > known.similarity:
        found[candidate.fact.id] = candidate
