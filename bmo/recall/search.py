"""Memories near a question in meaning and in rare words, from index and ledger at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

from bmo.giving_way import alike
from bmo.recall.calibration import Calibration, reference_calibration
from bmo.recall.candidates import Candidate
from bmo.recall.question_map import question_map
from bmo.recall.spelling import may_be_misspelt, meant
from bmo.telemetry import carried, memory_span
from bmo.turn import CATEGORIES, RecallPlan, StoredFact

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

logger = logging.getLogger(__name__)

_R = TypeVar("_R")

OVERLOAD: Final = 1000
"""Above this many memories the search is narrowed to the plan's topics first."""

FETCH: Final = 2
"""Times ``top_k`` that are read from the index and by words before both are put together."""

WORD_WEIGHT: Final = 0.3
"""Cosine that a memory gains when it holds all of a question's rare words."""

UNSEEN_COSINE: Final = 0.15
"""Cosine taken for a memory that was found by its words and not by the index."""

SLIPS_MOST: Final = 3
"""Words of a question that are compared with all remembered ones, at most."""

COMMON_SHARE: Final = 0.05
COMMON_LEAST: Final = 15
"""A word in more than this share of the memories, and in more than this many, tells none of them
from another (the name of the one who is always talked of): it is left out of the search text."""


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was begun.

    Attributes:
        plan: The plan, its query's spelling put right.
        counts: Memories that hold each word of the query.
        live: Number of the user's live facts.
    """

    plan: RecallPlan
    counts: Mapping[str, int]
    live: int


class MemorySearch:
    """Searches index and ledger; synchronous, to be called in an executor."""

    def __init__(
        self, ledger: Ledger, index: MemoryIndex | None, calibration: Calibration, top_k: int
    ) -> None:
        """Searches these.

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

    @property
    def has_index(self) -> bool:
        """Whether there is an index to ask."""
        return self._index is not None

    def close(self) -> None:
        """Ends the threads that read the ledger. Safe to call twice."""
        self._beside.shutdown(wait=True)

    def begin(self, plan: RecallPlan, user_id: str, live: int) -> Search:
        """Looks up the query's words and puts their spelling right.

        Args:
            plan: What is asked.
            user_id: Whose memory.
            live: Number of the user's live facts.
        """
        from bmo.ledger.values import content_words

        words = content_words([plan.query])
        counts = self._ledger.word_counts(user_id, words)
        spelt = self.spelt(plan.query, words - counts.keys(), user_id)
        if spelt != plan.query:
            plan = replace(plan, query=spelt)
            counts = self._ledger.word_counts(user_id, content_words([spelt]))
        return Search(plan, counts, live)

    def with_ledger(
        self,
        read: Callable[[Search, str, datetime], _R],
        begun: Search,
        user_id: str,
        now: datetime,
    ) -> tuple[_R, dict[str, float], str]:
        """Asks the index and, on another thread meanwhile, the ledger.

        Making a vector takes half of the time, and not Python's lock. It is made here, so that it
        begins at once: the other thread must first wake up and wait for the lock.

        Args:
            read: Reads the ledger, given what was begun, whose memory and the moment.
            begun: The search.
            user_id: Whose memory.
            now: The session's moment.

        Returns:
            (what ``read`` gave, cosines by fact id, "" or why the index could not answer).
        """
        if self._index is None:
            return read(begun, user_id, now), {}, ""
        reading = self._beside.submit(
            alike(carried(self._ledger.in_this_view(read))), begun, user_id, now
        )
        index = self._index
        cosines, failure = _answer(lambda: self._cosines(index, begun, user_id))
        return reading.result(), cosines, failure

    def worded(self, begun: Search, user_id: str, _now: datetime) -> list[tuple[StoredFact, float]]:
        """Facts that share rare words with the query."""
        return self._ledger.search_words(
            user_id, begun.plan.query, self._top_k * FETCH, counts=begun.counts
        )

    def found(
        self,
        begun: Search,
        rows: list[tuple[StoredFact, float]],
        cosines: Mapping[str, float],
        user_id: str,
        now: datetime,
    ) -> list[Candidate]:
        """What words and index found, best first.

        Args:
            begun: The search.
            rows: Facts that share rare words with the query, with the share they have.
            cosines: Fact id -> cosine to the query.
            user_id: Whose memory.
            now: The session's moment.
        """
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
            for fact in alive(known.values(), plan, now)
        ]
        candidates.sort(
            key=lambda c: (-c.similarity, -c.fact.valid_from.timestamp(), c.fact.text, c.fact.id)
        )
        return candidates

    def nearness(
        self, plan: RecallPlan, user_id: str, memories: int
    ) -> tuple[dict[str, float], str]:
        """Cosines of all memories of a small store on the reference scale.

        Args:
            plan: Its query.
            user_id: Whose memory.
            memories: How many there are.

        Returns:
            (fact id -> cosine, "" or why the index failed).
        """
        index = self._index
        if index is None:
            return {}, ""
        on_reference = self._calibration.on_reference

        def asked() -> dict[str, float]:
            with memory_span("bmo.recall.search", "search_memory"):
                found = index.near(
                    user_id,
                    plan.query,
                    top_k=2 * memories,
                    threshold=0.0,
                    turned=question_map(index.embedder.name),
                )
            return {str(fact_id): on_reference(float(cosine)) for fact_id, cosine in found}

        return _answer(asked)

    def spelt(self, query: str, unknown: Collection[str], user_id: str) -> str:
        """``query`` with words that are slips of remembered ones put right.

        Args:
            query: Words.
            unknown: Those of them that no memory holds.
            user_id: Whose memory.
        """
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

    def _cosines(self, index: MemoryIndex, begun: Search, user_id: str) -> dict[str, float]:
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


def alive(facts: Iterable[StoredFact], plan: RecallPlan, now: datetime) -> list[StoredFact]:
    """Facts that may be shown: not expired and, unless the past was asked for, not ended."""
    return [
        fact
        for fact in facts
        if (fact.expires_at is None or fact.expires_at > now)
        and (plan.include_past or fact.valid_until is None or fact.valid_until > now)
    ]


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


def _answer(ask: Callable[[], dict[str, float]]) -> tuple[dict[str, float], str]:
    """The index's answer; "" or why there is none: slots and words of the ledger are left."""
    from bmo.index import IndexUnavailable

    try:
        return ask(), ""
    except (IndexUnavailable, OSError, RuntimeError) as error:
        return {}, f"search index: {error}"
    except Exception as error:
        logger.exception("the search index failed", extra={"type": type(error).__name__})
        return {}, f"search index: {type(error).__name__}"
