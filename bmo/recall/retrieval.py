"""Candidates for a plan: by vector, by words of the ledger, by slot and by person."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from bmo.ledger.values import content_words
from bmo.recall.calibration import calibration_for
from bmo.recall.people import speaks_of
from bmo.telemetry import memory_span
from bmo.turn import Kind, RecallPlan, StoredFact

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

logger = logging.getLogger(__name__)

WHOLE: Final = 200
"""Up to so many memories are all candidates; of more, what index, words and slots find."""

OVERLOAD: Final = 1000
"""With more memories the index is asked for those of the question's topics (and of none) only, as
published; what shares its words, a slot or a person with it is found all the same."""

FETCH: Final = 3
"""Times ``top_k`` that index and words are asked for."""

ALL_LIMIT: Final = 400
"""Memories read for a wide question ("what do you know about me"), or of one slot."""

PAST_LIMIT: Final = 40
"""Ended memories that are compared when the past is asked for, newest first: a vector is made of
each then, since the index holds live ones only."""

NEAR: Final = 0.5
"""Scale of similarity, tanh(cosine / NEAR): a memory that answers has a cosine of .42 at the
median, and the nearest are still told apart."""

WORD_WEIGHT: Final = 0.3
"""Cosine that a memory gains when it holds all of a question's rare words."""

COMMON_SHARE: Final = 0.05
COMMON_LEAST: Final = 15
"""A word in more than this share of a large memory, and in more than this many, is left out of the
search text: the name of the one who is always talked of."""

_RULES: Final[tuple[Kind]] = ("hard_rule",)
RULES_READ: Final = 60
"""Hard rules read from a large memory, newest first: more than their reserve ever holds."""

UNSEEN: Final = 0.15
"""Cosine taken for a memory of which the index tells nothing."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may serve a plan.

    Attributes:
        fact: The ledger's row.
        similarity: 0..1; 1 where it stands in a slot or is about a person that is asked for.
        why: "slot", "person", "search", "words" or "everything".
    """

    fact: StoredFact
    similarity: float
    why: str


class Retriever:
    """Reads candidates; synchronous, to be called in an executor."""

    def __init__(self, ledger: Ledger, index: MemoryIndex | None, top_k: int) -> None:
        """Reads from these; ``top_k`` memories are asked of the index, at least."""
        self._ledger = ledger
        self._index = index
        self._top_k = top_k

    def candidates(
        self, plan: RecallPlan, user_id: str, now: datetime, live: int
    ) -> tuple[list[Candidate], str]:
        """Every memory that may serve ``plan``, nearest first; why the index did not answer, or "".

        Args:
            plan: A plan that wants memory.
            user_id: Whose memory.
            now: The session's moment: memories must be true then.
            live: Number of the user's live memories.
        """
        if plan.include_all:
            every = self._ledger.live_facts(user_id, at=now, limit=ALL_LIMIT)
            return [Candidate(fact, 1.0, "everything") for fact in _unexpired(every, now)], ""
        whole = live <= WHOLE
        query = plan.query if whole else self._telling(plan.query, user_id, live)
        domains = plan.domains if live > OVERLOAD else ()
        cosines, failure = self.cosines(user_id, query, 2 * live if whole else 0, domains)
        worded = self._ledger.search_words(user_id, plan.query, self._top_k * FETCH)
        shares = {fact.id: share for fact, share in worded}
        known = {fact.id: fact for fact, _ in worded}
        for fact in self._read(plan, user_id, now, None if whole else cosines.keys() - known):
            known[fact.id] = fact
        if plan.include_past:
            past = self._ended(user_id, now)
            known |= {fact.id: fact for fact in past}
            cosines |= self._compared(plan.query, past)
        found = [
            _candidate(fact, plan, cosines.get(fact.id), shares.get(fact.id, 0.0))
            for fact in _unexpired(known.values(), now)
            if plan.include_past or fact.valid_until is None or fact.valid_until > now
        ]
        found.sort(
            key=lambda c: (-c.similarity, -c.fact.valid_from.timestamp(), c.fact.text, c.fact.id)
        )
        return found, failure

    def cosines(
        self, user_id: str, text: str, most: int = 0, domains: Sequence[str] = ()
    ) -> tuple[dict[str, float], str]:
        """Memories near ``text``, at least ``most``: id -> cosine on the local embedder's scale.

        Args:
            user_id: Whose.
            text: Words to search for.
            most: Memories at least, where there are so many.
            domains: Only memories of these topics and of none; empty means all.
        """
        from bmo.index import IndexUnavailable

        index = self._index
        if index is None:
            return {}, ""
        scale = calibration_for(index.embedder.name)
        top_k = max(most, self._top_k * FETCH)
        try:
            with memory_span("bmo.recall.search", "search_memory"):
                near = index.near(user_id, text, top_k=top_k, threshold=0.0, domains=domains)
            return {str(key): scale.on_reference(float(cosine)) for key, cosine in near}, ""
        except (IndexUnavailable, OSError, RuntimeError) as error:
            return {}, f"search index: {error}"
        except Exception as error:  # whatever a store raises, words and slots are left
            logger.exception("the search index failed", extra={"type": type(error).__name__})
            return {}, f"search index: {type(error).__name__}"

    def _telling(self, query: str, user_id: str, live: int) -> str:
        """The query without words that so many memories hold that they tell none from another."""
        counts = self._ledger.word_counts(user_id, content_words([query]))
        most = max(COMMON_LEAST, int(COMMON_SHARE * live))
        common = {word for word, count in counts.items() if count > most}
        kept = [word for word in query.split() if common.isdisjoint(content_words([word]))]
        return " ".join(kept) or query

    def _read(
        self, plan: RecallPlan, user_id: str, now: datetime, ids: Iterable[str] | None
    ) -> list[StoredFact]:
        """The rows to weigh: all that is live, or those with ``ids`` and those of the plan."""
        ledger = self._ledger
        if ids is None:
            return ledger.live_facts(user_id, at=now, limit=WHOLE)
        found = ledger.facts_by_id(user_id, sorted(ids), live_at=now)
        found += ledger.live_facts(user_id, kinds=_RULES, at=now, limit=RULES_READ)
        if plan.slots:
            found += ledger.live_facts(user_id, slots=plan.slots, at=now, limit=self._top_k)
        if plan.subjects:
            found += ledger.live_facts(user_id, subjects=plan.subjects, at=now, limit=self._top_k)
        return found

    def _ended(self, user_id: str, now: datetime) -> list[StoredFact]:
        every = self._ledger.live_facts(user_id, include_past=True, at=now, limit=ALL_LIMIT)
        return [f for f in every if f.valid_until is not None and f.valid_until <= now][:PAST_LIMIT]

    def _compared(self, query: str, facts: list[StoredFact]) -> dict[str, float]:
        if self._index is None or not facts:
            return {}
        embedder = self._index.embedder
        scale = calibration_for(embedder.name)
        vectors = embedder.embed(
            [query, *(fact.text for fact in facts)], ["", *(fact.asked for fact in facts)]
        )
        cosines = vectors[1:] @ vectors[0]
        return {
            fact.id: scale.on_reference(float(cosine))
            for fact, cosine in zip(facts, cosines, strict=True)
        }


def _candidate(fact: StoredFact, plan: RecallPlan, cosine: float | None, share: float) -> Candidate:
    if plan.slots and fact.slot in plan.slots and _of_the_asked(fact, plan):
        return Candidate(fact, 1.0, "slot")
    if plan.subjects and plan.trigger == "explicit_prompt" and speaks_of(fact, plan.subjects):
        return Candidate(fact, 1.0, "person")
    near = (UNSEEN if cosine is None else cosine) + WORD_WEIGHT * share
    similarity = math.tanh(max(0.0, near) / NEAR)
    return Candidate(fact, similarity, "words" if cosine is None else "search")


def _of_the_asked(fact: StoredFact, plan: RecallPlan) -> bool:
    """Whether a slot's memory is of whoever is asked about; the user where nobody is named."""
    if not plan.subjects:
        return fact.subject == "user"
    return speaks_of(fact, plan.subjects)


def _unexpired(facts: Iterable[StoredFact], now: datetime) -> list[StoredFact]:
    return [fact for fact in facts if fact.expires_at is None or fact.expires_at > now]
