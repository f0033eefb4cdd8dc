"""Recall: retrieve, score, select, assemble. Synchronous; called in an executor."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from bmo.recall.assembly import assemble
from bmo.recall.budget import tokens_of
from bmo.recall.cues import read_cues
from bmo.recall.feedback import REMEMBERED, Judgement, adjusted
from bmo.recall.profile import by_importance, choose_profile, importance
from bmo.recall.retrieval import WHOLE, Candidate, Retriever
from bmo.recall.scoring import DEFAULT_WEIGHTS, Weights, score
from bmo.recall.selection import CERTAIN, select
from bmo.recall.withholding import withheld
from bmo.settings import Settings
from bmo.telemetry import memory_span
from bmo.turn import (
    WITHHOLD_RULE,
    Recall,
    RecalledMemory,
    RecallPlan,
    ScoreParts,
    StoredFact,
)

if TYPE_CHECKING:
    from bmo.index import MemoryIndex
    from bmo.judge import Judge
    from bmo.ledger import Ledger

PROFILE_PLAN = RecallPlan(recall=True, trigger="profile", include_all=True)
"""The plan that a profile is shown under."""

DOZEN: Final = 8
"""Memories that the pair head weighs for a turn, 3 ms each."""

ANSWERS: Final = 0.08
"""P(answers) below which a memory is not given: a model can pass over a line that it does not need,
and cannot answer from one that it was not given."""

ANSWERS_SHARE: Final = 0.5
"""What P(answers) counts beside the similarity of the vectors."""

_PROFILE_READ: Final = 2000
"""Live facts read for a profile, at most."""

_COUNT_LARGE, _COUNT_S = 500, 600.0
"""A count of at least so many live facts is believed for so many seconds."""


class Recaller:
    """Answers plans from memory."""

    def __init__(
        self,
        ledger: Ledger,
        index: MemoryIndex | None,
        settings: Settings,
        judge: Judge | None = None,
    ) -> None:
        """Reads from these.

        Args:
            ledger: Facts and their validity.
            index: The search index, or None: words and slots of the ledger answer alone.
            settings: Top k, threshold, profile tokens.
            judge: The encoder, for its pair head; without one the nearest by score are given.
        """
        self._ledger = ledger
        self._settings = settings
        self._judge = judge
        self._counts: dict[str, tuple[int, float]] = {}
        self._retriever = Retriever(ledger, index, settings.bmo_recall_top_k)

    def recall(
        self,
        plan: RecallPlan,
        user_id: str,
        now: datetime,
        *,
        weights: Weights = DEFAULT_WEIGHTS,
        chances: Mapping[str, float] | None = None,
    ) -> Recall:
        """Selects memories for ``plan``.

        Args:
            plan: The read gate's plan.
            user_id: Whose memory; nothing of anybody else is read.
            now: The session's moment.
            weights: The user's weights (``weights_of``).
            chances: Fact id -> P(answers), where ``chances`` asked for the turn already.

        Returns:
            Memories, what was left out and why, and the block for the model. Where index or
            encoder fail, the answer without them, with ``fallback`` set.
        """
        started = time.perf_counter()
        if not plan.recall or plan.budget_tokens <= 0:
            return Recall(plan)
        with self._ledger.one_view():
            live = self._live(user_id)
            if not live and not plan.include_past:
                return replace(Recall(plan, reason="no memories"), elapsed_ms=_since(started))
            with memory_span("bmo.recall.retrieve"):
                found, hidden, failure = self._looked_up(plan, user_id, now, live)
        with memory_span("bmo.recall.score"):
            unlikely: list[RecalledMemory] = []
            shown = [_scored(c, plan, now, weights) for c in found if c.fact.id not in hidden]
            if plan.include_all:
                ranks = {f.id: n for n, f in enumerate(by_importance(m.fact for m in shown))}
                shown = [replace(m, score=1.0 - ranks[m.fact.id] * 1e-6) for m in shown]
            elif (judge := self._judge) is not None and judge.has_pairs:
                shown, unlikely, doubt = _weighed(judge, shown, plan, weights, chances or {})
                failure = failure or doubt
            shown, past = _of_now(shown, plan)
        with memory_span("bmo.recall.select"):
            given, left = select(shown, plan, self._settings.bmo_recall_threshold)
            left += [*unlikely, *past]
            left += [
                RecalledMemory(c.fact, 0.0, ScoreParts(), "withheld")
                for c in found
                if c.fact.id in hidden
            ]
        with memory_span("bmo.recall.assemble"):
            context = assemble([memory.fact for memory in given])
        return Recall(
            plan=plan,
            memories=tuple(given),
            left_out=tuple(left),
            context=context,
            tokens=tokens_of(context),
            elapsed_ms=_since(started),
            fallback=bool(failure),
            reason=failure,
        )

    def profile(self, user_id: str, now: datetime) -> Recall:
        """The once-per-session profile of a user, at the session's start."""
        started = time.perf_counter()
        budget = self._settings.bmo_profile_tokens
        plan = replace(PROFILE_PLAN, budget_tokens=budget)
        if budget <= 0:
            return Recall(plan)
        known = self._ledger.live_facts(user_id, at=now, limit=_PROFILE_READ)
        facts = [fact for fact in known if fact.is_for(self._settings.bmo_agent_id)]
        hidden = withheld(facts, _orders_of(facts), "")
        chosen, left = choose_profile([f for f in facts if f.id not in hidden], budget, now)
        context = assemble(chosen, profile=True)
        return Recall(
            plan=plan,
            memories=_listed(chosen, "profile"),
            left_out=_listed(left, "budget spent")
            + _listed((f for f in facts if f.id in hidden), "withheld"),
            context=context,
            tokens=tokens_of(context),
            elapsed_ms=_since(started),
        )

    def nearest(self, plan: RecallPlan, user_id: str, now: datetime) -> list[StoredFact]:
        """Memories by nearness to the plan's query, nothing left out: what evaluation measures."""
        asked = replace(plan, trigger="judge")
        found, _ = self._retriever.candidates(asked, user_id, now, self._live(user_id))
        return [candidate.fact for candidate in found]

    def chances(self, text: str, user_id: str, now: datetime) -> Mapping[str, float] | None:
        """Fact id -> P(answers) of the memories nearest to a turn; None without a pair head."""
        from bmo.judge import JudgeUnavailable

        judge = self._judge
        if judge is None or not judge.has_pairs:
            return None
        plan = RecallPlan(recall=True, trigger="judge", query=" ".join(text.split()))
        with self._ledger.one_view():
            found, hidden, _ = self._looked_up(plan, user_id, now, self._live(user_id))
        may = [one.fact for one in found if one.fact.id not in hidden]
        shown = [fact for fact in may if fact.kind != "hard_rule"][:DOZEN]
        try:
            told = judge.answers(("", plan.query), [(fact.asked, fact.text) for fact in shown])
        except JudgeUnavailable:
            return None
        return {fact.id: chance for fact, chance in zip(shown, told, strict=True)}

    def weights_of(self, user_id: str) -> Weights:
        """The user's weights: the defaults, moved by what helped and what was wrong so far."""
        judged = self._ledger.judged_items(user_id, limit=REMEMBERED)
        return adjusted(Judgement(item.parts, item.kind, item.helpful) for item in judged)

    def rehearse(self, plan: RecallPlan, user_id: str, now: datetime) -> None:
        """Looks for what a user without memories has, so that what that compiles is there."""
        for live, past in ((1, True), (WHOLE + 1, False)):
            asked = replace(plan, include_all=False, include_past=past)
            self._retriever.candidates(asked, user_id, now, live)
            self._orders(user_id, now, (), live)
        self._ledger.facts_by_id(user_id, ["none"], live_at=now)

    def close(self) -> None:
        """Lets go of the encoder; safe to call twice."""
        self._judge = None

    def _looked_up(
        self, plan: RecallPlan, user_id: str, now: datetime, live: int
    ) -> tuple[list[Candidate], set[str], str]:
        """What may serve a plan, nearest first; ids that are withheld; why the index failed."""
        found, failure = self._retriever.candidates(plan, user_id, now, live)
        found = [one for one in found if one.fact.is_for(self._settings.bmo_agent_id)]
        facts = [candidate.fact for candidate in found]
        return found, withheld(facts, self._orders(user_id, now, facts, live), plan.query), failure

    def _orders(
        self, user_id: str, now: datetime, facts: Iterable[StoredFact], live: int
    ) -> list[StoredFact]:
        """Live orders never to bring something up; in a large memory they are asked for."""
        if live > WHOLE:
            facts = self._ledger.live_facts(user_id, rules=(WITHHOLD_RULE,), at=now)
        return _orders_of(facts)

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


def _orders_of(facts: Iterable[StoredFact]) -> list[StoredFact]:
    return [fact for fact in facts if fact.rule_id == WITHHOLD_RULE and fact.valid_until is None]


def _scored(
    candidate: Candidate, plan: RecallPlan, now: datetime, weights: Weights
) -> RecalledMemory:
    parts = score(candidate.fact, plan, candidate.similarity, now, weights)
    return RecalledMemory(candidate.fact, parts.total, parts, candidate.why)


def _of_now(
    memories: list[RecalledMemory], plan: RecallPlan
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Memories without those that only tell what used to be, where a slot says what is now."""
    if plan.include_past or all(memory.why != "slot" for memory in memories):
        return memories, []
    past = {
        m.fact.id for m in memories if m.why != "slot" and "past" in read_cues(m.fact.text).seen
    }
    left = [replace(m, why="tells of the past") for m in memories if m.fact.id in past]
    return [m for m in memories if m.fact.id not in past], left


def _weighed(
    judge: Judge,
    memories: list[RecalledMemory],
    plan: RecallPlan,
    weights: Weights,
    known: Mapping[str, float],
) -> tuple[list[RecalledMemory], list[RecalledMemory], str]:
    """Those of the first few that may answer, P(answers) in their score; the others; a failure."""
    from bmo.judge import JudgeUnavailable

    ranked = sorted(memories, key=lambda m: (-m.score, m.fact.text, m.fact.id))
    rules = [memory for memory in ranked if memory.fact.kind == "hard_rule"]
    ranked = [memory for memory in ranked if memory.fact.kind != "hard_rule"]
    first, others = ranked[:DOZEN], ranked[DOZEN:]
    unknown = [memory.fact for memory in first if memory.fact.id not in known]
    try:
        told = judge.answers(("", plan.query), [(fact.asked, fact.text) for fact in unknown])
    except JudgeUnavailable as error:
        return memories, [], f"encoder: {error}"
    weighed: list[RecalledMemory] = []
    left = [replace(memory, why=f"not among the {DOZEN} nearest") for memory in others]
    chances = {**known, **dict(zip((fact.id for fact in unknown), told, strict=True))}
    for memory in first:
        chance = chances[memory.fact.id]
        certain = memory.why in CERTAIN
        if not certain and chance < ANSWERS:
            left.append(replace(memory, why=f"P(answers) {chance:.2f} under {ANSWERS:.2f}"))
            continue
        nearness = ANSWERS_SHARE * weights.semantic * chance
        nearness += (1.0 - ANSWERS_SHARE) * memory.parts.semantic
        parts = replace(memory.parts, semantic=nearness)
        weighed.append(memory if certain else replace(memory, parts=parts, score=parts.total))
    return [*rules, *weighed], left, ""


def _listed(facts: Iterable[StoredFact], why: str) -> tuple[RecalledMemory, ...]:
    return tuple(RecalledMemory(fact, 10.0 - importance(fact), ScoreParts(), why) for fact in facts)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1e3
