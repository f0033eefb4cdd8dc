"""Candidates for a plan: slots by key from the ledger first, then search by meaning and words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

from bmo.recall.calibration import Calibration, reference_calibration
from bmo.recall.candidates import NAMED, Asked, Candidate, Retrieved
from bmo.recall.question_map import question_map
from bmo.recall.relevance import SMALL, Evidence, evidence, words_of
from bmo.recall.small_memory import fitting
from bmo.recall.spelling import may_be_misspelt, meant
from bmo.recall.subjects import belongs
from bmo.recall.words_in_common import is_named, share_a_word
from bmo.telemetry import carried, memory_span
from bmo.turn import CATEGORIES, RecallPlan, StoredFact

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

logger = logging.getLogger(__name__)

_R = TypeVar("_R")

SLOT_LIMIT: Final = 25
"""Facts read by key for one plan, at most."""

ALL_LIMIT: Final = 400
"""Facts read for a wide question ("what do you know about me"), at most."""

OVERLOAD: Final = 1000
"""Above this many memories the search is narrowed to the plan's topics first."""

FETCH: Final = 2
"""Times ``top_k`` that are read from the index and by words before both are put together."""

WORD_WEIGHT: Final = 0.3
"""Cosine that a memory gains when it holds all of a question's rare words."""

UNSEEN_COSINE: Final = 0.15
"""Cosine taken for a memory that was found by its words and not by the index."""

NAMED_SHARE: Final = 0.9
"""Least similarity of a memory whose name stands in the question ("k8s")."""

WORDLESS: Final = 0.2
"""Cosine that a memory loses which shares no telling word with a question of which nothing says
that memory is needed (a forced plan): what is only near is then a matter like it, and not it."""

SLIPS_MOST: Final = 3
"""Words of a question that are compared with all remembered ones, at most."""

COMMON_SHARE: Final = 0.05
COMMON_LEAST: Final = 15
"""A word in more than this share of the memories, and in more than this many, tells none of them
from another (the name of the one who is always talked of): it is left out of the search text."""

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
class _Search:
    """A search that was begun.

    Attributes:
        plan: The plan, its query's spelling put right.
        counts: Memories that hold each word of the query.
        live: Number of the user's live facts.
    """

    plan: RecallPlan
    counts: Mapping[str, int]
    live: int


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

    def __init__(
        self, ledger: Ledger, index: MemoryIndex | None, calibration: Calibration, top_k: int
    ) -> None:
        """Reads from these.

        Args:
            ledger: Where the truth is.
            index: The search index, or None when it is unavailable.
            calibration: Of the index's embedder.
            top_k: Memories asked of the index.
        """
        self._ledger = ledger
        self._index = index
        self._calibration = calibration
        self._reference = reference_calibration()
        self._top_k = top_k
        self._beside = ThreadPoolExecutor(2, thread_name_prefix="bmo-recall-ledger")

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
            return Retrieved(tuple(fitting(plan, asked, weighed)), self._index is not None, failure)
        begun = self._begin(plan, user_id, live)
        read, cosines, failure = self._both(self._read, begun, user_id, now)
        asked, by_key = read.asked, read.by_key
        searched = self._found(begun, read.worded, cosines, user_id, now)
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
        return Retrieved(tuple(found.values()), self._index is not None, failure)

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
        facts = _alive(facts, plan, now)
        held = frozenset().union(*(words_of(fact) for fact in facts))
        spelt = self._spelt(plan.query, content_words([plan.query]) - held, user_id)
        plan = replace(plan, query=spelt)
        near, failure = self._near(plan, user_id, len(facts))
        rows = evidence(plan, facts, near, asked.allows)
        return list(zip(facts, rows, strict=True)), failure

    def _near(self, plan: RecallPlan, user_id: str, memories: int) -> tuple[dict[str, float], str]:
        """Cosines of all memories on the reference scale; "" or why the index failed."""
        if self._index is None:
            return {}, ""
        try:
            with memory_span("bmo.recall.search", "search_memory"):
                found = self._index.near(
                    user_id,
                    plan.query,
                    top_k=2 * memories,
                    threshold=0.0,
                    turned=question_map(self._index.embedder.name),
                )
        except _index_errors() as error:
            return {}, f"search index: {error}"
        except Exception as error:  # a broken index leaves the ledger's slots and words
            logger.exception("the search index failed", extra={"type": type(error).__name__})
            return {}, f"search index: {type(error).__name__}"
        on_reference = self._calibration.on_reference
        return {str(fact_id): on_reference(float(cosine)) for fact_id, cosine in found}, ""

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
        begun = self._begin(plan, user_id, live)
        worded, cosines, failure = self._both(self._worded, begun, user_id, now)
        return self._found(begun, worded, cosines, user_id, now), failure

    def close(self) -> None:
        """Ends the threads that read the ledger. Safe to call twice."""
        self._beside.shutdown(wait=True)

    def _begin(self, plan: RecallPlan, user_id: str, live: int) -> _Search:
        """Looks up the query's words and puts their spelling right."""
        from bmo.ledger.values import content_words

        words = content_words([plan.query])
        counts = self._ledger.word_counts(user_id, words)
        spelt = self._spelt(plan.query, words - counts.keys(), user_id)
        if spelt != plan.query:
            plan = replace(plan, query=spelt)
            counts = self._ledger.word_counts(user_id, content_words([spelt]))
        return _Search(plan, counts, live)

    def _both(
        self,
        read: Callable[[_Search, str, datetime], _R],
        begun: _Search,
        user_id: str,
        now: datetime,
    ) -> tuple[_R, dict[str, float], str]:
        """Asks the index and, on another thread meanwhile, the ledger.

        Making a vector takes half of the time, and not Python's lock. It is made here, so that it
        begins at once: the other thread must first wake up and wait for the lock.

        Returns:
            (what ``read`` gave, cosines by fact id, "" or why the index could not answer).
        """
        if self._index is None:
            return read(begun, user_id, now), {}, ""
        reading = self._beside.submit(carried(self._ledger.in_this_view(read)), begun, user_id, now)
        try:
            cosines, failure = self._cosines(self._index, begun, user_id), ""
        except _index_errors() as error:
            cosines, failure = {}, f"search index: {error}"
        except Exception as error:  # a broken index leaves the ledger's slots and words
            logger.exception("the search index failed", extra={"type": type(error).__name__})
            cosines, failure = {}, f"search index: {type(error).__name__}"
        return reading.result(), cosines, failure

    def _worded(
        self, begun: _Search, user_id: str, _now: datetime
    ) -> list[tuple[StoredFact, float]]:
        """Facts that share rare words with the query."""
        return self._ledger.search_words(
            user_id, begun.plan.query, self._top_k * FETCH, counts=begun.counts
        )

    def _read(self, begun: _Search, user_id: str, now: datetime) -> _Read:
        plan = begun.plan
        asked = self.people(plan, user_id)
        sought = asked.people and plan.trigger == "indirect_need"
        return _Read(
            asked,
            self._by_key(plan, asked, user_id, now),
            self._about(asked, plan, user_id, now) if sought else [],
            self._worded(begun, user_id, now),
        )

    def _found(
        self,
        begun: _Search,
        rows: list[tuple[StoredFact, float]],
        cosines: Mapping[str, float],
        user_id: str,
        now: datetime,
    ) -> list[Candidate]:
        """What words and index found, best first."""
        plan = begun.plan
        shares = {fact.id: share for fact, share in rows}
        known = {fact.id: fact for fact, _ in rows}
        # Rows are dear: of what only the index knows, as many as can be given are read.
        unknown = sorted(cosines.keys() - known.keys(), key=lambda i: (-cosines[i], i))
        unknown = unknown[: self._top_k]
        for fact in self._ledger.facts_by_id(
            user_id, unknown, live_at=None if plan.include_past else now
        ):
            known[fact.id] = fact
        candidates = [
            self._candidate(fact, cosines.get(fact.id), shares.get(fact.id, 0.0))
            for fact in _alive(known.values(), plan, now)
        ]
        candidates.sort(
            key=lambda c: (-c.similarity, -c.fact.valid_from.timestamp(), c.fact.text, c.fact.id)
        )
        return candidates

    def _spelt(self, query: str, unknown: Collection[str], user_id: str) -> str:
        """``query`` with words that are slips of remembered ones put right."""
        from bmo.ledger.values import content_words

        slips: dict[str, str] = {}
        for word in sorted(filter(may_be_misspelt, unknown))[:SLIPS_MOST]:
            right = meant(word, self._ledger.words_like(user_id, word[0]))
            if right is not None:
                slips[word] = right
        if not slips:
            return query
        parts = [
            next((slips[w] for w in content_words([part]) if w in slips), part)
            for part in query.split()
        ]
        return " ".join(parts)

    def _candidate(self, fact: StoredFact, cosine: float | None, words: float) -> Candidate:
        nearness = (UNSEEN_COSINE if cosine is None else cosine) + WORD_WEIGHT * words
        why = "words" if cosine is None else "search"
        return Candidate(fact, self._reference.share(nearness), why)

    def _named_or_near(self, candidate: Candidate, begun: _Search) -> Candidate:
        """Lifts what is named, and lowers what is only near where nothing asks for memory."""
        fact, similarity = candidate.fact, candidate.similarity
        # Where a slot is asked for, the name is of whom or what it is asked.
        if not begun.plan.slots and is_named(fact, begun.counts):
            return Candidate(fact, max(similarity, NAMED_SHARE), NAMED)
        if begun.plan.trigger == "forced" and not share_a_word(fact, begun.counts):
            similarity = self._reference.share(self._reference.cosine(similarity) - WORDLESS)
            return Candidate(fact, similarity, candidate.why)
        return candidate

    def _cosines(self, index: MemoryIndex, begun: _Search, user_id: str) -> dict[str, float]:
        plan, live = begun.plan, begun.live
        with memory_span("bmo.recall.search", "search_memory"):
            near = index.near(
                user_id,
                _telling(plan.query, begun.counts, live),
                top_k=self._top_k * FETCH,
                threshold=self._calibration.floor,
                categories=(live > OVERLOAD and plan.categories) or CATEGORIES,
                domains=plan.domains if live > OVERLOAD else (),
            )
        return {str(fact_id): float(cosine) for fact_id, cosine in near}

    def _everything(self, plan: RecallPlan, user_id: str, now: datetime) -> list[Candidate]:
        facts = self._ledger.live_facts(
            user_id,
            subjects=[s for s in plan.subjects if s != "user"] or None,
            categories=plan.categories or None,
            include_past=plan.include_past,
            at=now,
            limit=ALL_LIMIT,
        )
        return [Candidate(fact, 1.0, "everything") for fact in _alive(facts, plan, now)]

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
        return _alive(facts, plan, now)

    def _about(
        self, asked: Asked, plan: RecallPlan, user_id: str, now: datetime
    ) -> list[StoredFact]:
        facts = self._ledger.live_facts(user_id, subjects=asked.people, at=now, limit=SLOT_LIMIT)
        return _alive(facts, plan, now)

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


def _telling(query: str, counts: Mapping[str, int], live: int) -> str:
    """``query`` without the words that stand in so many memories that they tell nothing."""
    from bmo.ledger.values import content_words
    from bmo.ledger.word_search import COUNTED

    most = min(max(COMMON_LEAST, int(COMMON_SHARE * live)), COUNTED - 1)
    common = {word for word, count in counts.items() if count > most}
    if live <= most or not common:
        return query
    kept = [word for word in query.split() if common.isdisjoint(content_words([word]))]
    return " ".join(kept) or query


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


def _alive(facts: Iterable[StoredFact], plan: RecallPlan, now: datetime) -> list[StoredFact]:
    """Facts that may be shown: not expired and, unless the past was asked for, not ended."""
    return [
        fact
        for fact in facts
        if (fact.expires_at is None or fact.expires_at > now)
        and (plan.include_past or fact.valid_until is None or fact.valid_until > now)
    ]


def _index_errors() -> tuple[type[Exception], ...]:
    from bmo.index import IndexUnavailable

    return (IndexUnavailable, OSError, RuntimeError)
