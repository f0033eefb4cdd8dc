"""Recall: retrieve, score, select, assemble. Synchronous; called in an executor."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from bmo.recall.assembly import assemble
from bmo.recall.budget import tokens_of
from bmo.recall.calibration import calibration_for
from bmo.recall.candidates import Candidate
from bmo.recall.feedback import REMEMBERED, Judgement, adjusted
from bmo.recall.profile import choose_profile, importance
from bmo.recall.question_map import question_map
from bmo.recall.relevance import SMALL, Evidence, Familiarity, familiarity, log_odds
from bmo.recall.retrieval import Retriever
from bmo.recall.scoring import DEFAULT_WEIGHTS, Weights, score
from bmo.recall.search import MemorySearch
from bmo.recall.selection import select
from bmo.settings import Settings
from bmo.telemetry import memory_span
from bmo.turn import Recall, RecalledMemory, RecallPlan, ScoreParts, StoredFact

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

PROFILE_PLAN = RecallPlan(recall=True, trigger="profile", include_all=True)
"""The plan that a profile is shown under."""

_COUNT_LARGE = 500
_COUNT_S = 600.0
"""A count of at least ``_COUNT_LARGE`` live facts is believed for so many seconds."""

_PROFILE_READ = 2000
"""Live facts read for a profile, at most."""


class Recaller:
    """Answers plans from memory."""

    def __init__(self, ledger: Ledger, index: MemoryIndex | None, settings: Settings) -> None:
        """Reads from these.

        Args:
            ledger: Facts and their validity.
            index: The search index, or None when it is unavailable: slots and words of the
                ledger answer alone.
            settings: Top k, threshold, profile tokens.
        """
        self._ledger = ledger
        self._settings = settings
        self._counts: dict[str, tuple[int, float]] = {}
        self._embedder = index.embedder.name if index is not None else settings.bmo_embedder
        calibration = calibration_for(self._embedder)
        search = MemorySearch(ledger, index, calibration, settings.bmo_recall_top_k)
        self._retriever = Retriever(ledger, search)

    def recall(
        self,
        plan: RecallPlan,
        user_id: str,
        now: datetime,
        *,
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> Recall:
        """Selects memories for ``plan``.

        Args:
            plan: The read gate's plan.
            user_id: Whose memory; nothing of anybody else is read.
            now: The session's moment.
            weights: The user's weights (``bmo.recall.feedback``).

        Returns:
            Memories, what was left out and why, and the block for the model. Where the index
            fails, the ledger's answer with ``fallback`` set.
        """
        started = time.perf_counter()
        if not plan.recall or plan.budget_tokens <= 0:
            return Recall(plan)
        with self._ledger.one_view():
            live = self._live(user_id)
            if not live and not plan.include_past:
                return replace(Recall(plan, reason="no memories"), elapsed_ms=_since(started))
            with memory_span("bmo.recall.retrieve"):
                retrieved = self._retriever.retrieve(plan, user_id, now, live)
        with memory_span("bmo.recall.score"):
            scored = [_scored(c, plan, now, weights) for c in retrieved.candidates]
        if plan.include_all:
            scored.sort(
                key=lambda m: (importance(m.fact), -m.fact.valid_from.timestamp(), m.fact.text)
            )
            scored = [replace(m, score=1.0 - n * 1e-6) for n, m in enumerate(scored)]
        with memory_span("bmo.recall.select"):
            given, left = select(scored, plan, self._settings.bmo_recall_threshold, weights)
        with memory_span("bmo.recall.assemble"):
            context = assemble([memory.fact for memory in given])
        return Recall(
            plan=plan,
            memories=tuple(given),
            left_out=tuple(left),
            context=context,
            tokens=tokens_of(context),
            elapsed_ms=_since(started),
            fallback=bool(retrieved.failure),
            reason=retrieved.failure,
        )

    def close(self) -> None:
        """Ends its threads. Safe to call twice; one that is not closed ends them when it goes."""
        self._retriever.close()

    def rehearse(self, plan: RecallPlan, user_id: str, now: datetime) -> None:
        """Looks for what a user without memories has, as in a large memory.

        A recall for him would end before it; what is compiled on the way stays for the others.
        """
        for live in (1, _COUNT_LARGE):
            self._retriever.retrieve(plan, user_id, now, live=live)
        question_map(self._embedder)
        words = "one two three four five six seven eight nine ten".split()
        for number in (1, 2, 4, 8, 10):
            counts = dict.fromkeys(words[:number], 1)
            self._ledger.search_words(user_id, " ".join(counts), 1, counts=counts)
        self._ledger.facts_by_id(user_id, ["none"], live_at=now)

    def weights_of(self, user_id: str) -> Weights:
        """The user's weights: the defaults, moved by what helped and what was wrong so far."""
        judged = self._ledger.judged_items(user_id, limit=REMEMBERED)
        return adjusted(Judgement(item.parts, item.kind, item.helpful) for item in judged)

    def nearest(self, plan: RecallPlan, user_id: str, now: datetime) -> list[StoredFact]:
        """Memories in the order of their nearness to the plan's query, nothing left out.

        What evaluation measures: retrieval without slots, scores, threshold and budget.
        """
        live = self._live(user_id)
        candidates, _ = self._retriever.search(plan, user_id, now, live)
        return [candidate.fact for candidate in candidates]

    def familiarity(self, text: str, user_id: str, now: datetime) -> Familiarity | None:
        """How much of ``text`` is in the user's memory; None for a large one.

        Args:
            text: A turn.
            user_id: Whose memory.
            now: The session's moment.
        """
        if self._live(user_id) > SMALL:
            return None
        facts = self._ledger.live_facts(user_id, at=now, limit=SMALL)
        return familiarity(text, facts, partial(self._closest, text, user_id, now))

    def _closest(self, text: str, user_id: str, now: datetime) -> float:
        """Log odds of the memory for which most speaks; of none, minus infinity."""
        plan = RecallPlan(recall=True, trigger="judge", query=text)
        weighed = self.weighed(plan, user_id, now)
        return max((log_odds(row) for _, row in weighed), default=-math.inf)

    def weighed(
        self, plan: RecallPlan, user_id: str, now: datetime
    ) -> list[tuple[StoredFact, Evidence]]:
        """Every memory with what speaks for it: what the weights are fitted on."""
        asked = self._retriever.people(plan, user_id)
        return self._retriever.weighed(plan, asked, user_id, now)[0]

    def _live(self, user_id: str) -> int:
        """Number of live facts; a large one is only a scale and is not counted anew each turn."""
        known = self._counts.get(user_id)
        if known is not None and time.monotonic() - known[1] < _COUNT_S:
            return known[0]
        count = self._ledger.count_live(user_id)
        if count >= _COUNT_LARGE:
            self._counts[user_id] = (count, time.monotonic())
        else:
            self._counts.pop(user_id, None)
        return count

    def profile(self, user_id: str, now: datetime) -> Recall:
        """The once-per-session profile.

        Args:
            user_id: Whose memory.
            now: The session's start.
        """
        started = time.perf_counter()
        budget = self._settings.bmo_profile_tokens
        plan = replace(PROFILE_PLAN, budget_tokens=budget)
        if budget <= 0:
            return Recall(plan)
        facts = self._ledger.live_facts(user_id, at=now, limit=_PROFILE_READ)
        chosen, left = choose_profile(facts, budget, now)
        context = assemble(chosen, profile=True)
        return Recall(
            plan=plan,
            memories=tuple(
                RecalledMemory(f, 10.0 - importance(f), ScoreParts(), "profile") for f in chosen
            ),
            left_out=tuple(
                RecalledMemory(f, 10.0 - importance(f), ScoreParts(), "budget spent") for f in left
            ),
            context=context,
            tokens=tokens_of(context),
            elapsed_ms=_since(started),
        )


def cache_key(plan: RecallPlan, user_id: str) -> tuple[object, ...]:
    """What two turns must share for one recall to serve both; pure.

    The session drops its cache on writes, so the ledger's state is not part of it.
    """
    return (
        user_id,
        plan.slots,
        plan.soft_slots,
        plan.subjects,
        plan.categories,
        plan.domains,
        " ".join(plan.query.casefold().split()),
        plan.budget_tokens,
        plan.include_past,
        plan.include_all,
        plan.prefer_accuracy,
        plan.depth,
    )


def _scored(
    candidate: Candidate, plan: RecallPlan, now: datetime, weights: Weights
) -> RecalledMemory:
    parts = score(candidate.fact, plan, candidate.similarity, now, weights)
    if candidate.similarity <= 0.0:
        return RecalledMemory(candidate.fact, 0.0, ScoreParts(), candidate.why)
    return RecalledMemory(candidate.fact, parts.total, parts, candidate.why)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1e3
