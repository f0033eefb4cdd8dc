"""Recall: retrieve, score, select, assemble. Synchronous; called in an executor."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from bmo.recall.assembly import assemble
from bmo.recall.budget import tokens_of
from bmo.recall.cues import read_cues
from bmo.recall.feedback import REMEMBERED, adjusted
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
    from bmo.encoder import Encoder
    from bmo.index import MemoryIndex
    from bmo.ledger import Ledger

PROFILE_PLAN = RecallPlan(recall=True, trigger="profile", include_all=True)
"""The plan that a profile is shown under."""

WEIGHED: Final = 12
"""Memories that the pair head weighs for a turn, 3 to 6 ms each: the nearest, whatever else makes
their score. With the encoder 20261128-1e5845e0, of 78 wanted memories of six long talks the eight
of the best score give .68, the eight nearest .73, twelve .78, sixteen .79; of 468 of conversations
kept from training .882, .889, .895 and .895."""

ANSWERS: Final = 0.03
"""P(answers) below which a memory is not given: a model can pass over a line that it does not need,
and cannot answer from one that it was not given. Of 91 wanted memories of eighteen short talks
(``training/development``) .77 are given with .03 and a twentieth of the best one's, .76 with a
sixteenth, .74 with .04 and .08, .67 with .04 and .12, beside .22, .22, .20 and .22 of what is
stale."""

ANSWERS_OF_BEST: Final = 0.06
"""The same as a share of the best memory's: where one surely answers, a doubtful one is noise."""

ANSWERS_SHARE: Final = 0.5
"""What P(answers) counts beside the similarity of the vectors."""

_PROFILE_READ: Final = 2000
"""Live facts read for a profile, at most."""

_COUNT_LARGE, _COUNT_S = 500, 600.0
"""A count of at least so many live facts is believed for so many seconds."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What memory holds for a plan: looked up, scored and weighed; nothing is chosen yet.

    Attributes:
        memories: Those that may be given.
        left_out: Those that may not, with the reason in ``why``.
        chances: Fact id -> P(answers) of those that the pair head weighed, or None where nothing
            did.
        failure: Why index or encoder failed, or "".
    """

    memories: Sequence[RecalledMemory] = ()
    left_out: Sequence[RecalledMemory] = ()
    chances: Mapping[str, float] | None = None
    failure: str = ""


class Recaller:
    """Answers plans from memory."""

    def __init__(
        self,
        ledger: Ledger,
        index: MemoryIndex | None,
        settings: Settings,
        encoder: Encoder | None = None,
    ) -> None:
        """Reads from these.

        Args:
            ledger: Facts and their validity.
            index: The search index, or None: words and slots of the ledger answer alone.
            settings: Top k, threshold, profile tokens.
            encoder: The encoder, for its pair head; without one the nearest by score are given.
        """
        self._ledger = ledger
        self._settings = settings
        self._encoder = encoder
        self._counts: dict[str, tuple[int, float]] = {}
        self._retriever = Retriever(ledger, index, settings.bmo_recall_top_k)

    def recall(
        self,
        plan: RecallPlan,
        user_id: str,
        now: datetime,
        *,
        weights: Weights = DEFAULT_WEIGHTS,
        until: float = float("inf"),
        looked: Looked | None = None,
    ) -> Recall:
        """Selects memories for ``plan``.

        Args:
            plan: The read gate's plan.
            user_id: Whose memory; nothing of anybody else is read.
            now: The session's moment.
            weights: The user's weights (``weights_of``).
            until: As of ``look``.
            looked: What ``look`` found for the plan, where it was asked already.

        Returns:
            Memories, what was left out and why, and the block for the model. Where index or
            encoder fail, the answer without them, with ``fallback`` set.
        """
        started = time.perf_counter()
        if not plan.recall or plan.budget_tokens <= 0:
            return Recall(plan)
        looked = looked or self.look(plan, user_id, now, weights=weights, until=until)
        with memory_span("bmo.recall.select"):
            given, left = select(looked.memories, plan)
        with memory_span("bmo.recall.assemble"):
            context = assemble([memory.fact for memory in given])
        return Recall(
            plan=plan,
            memories=tuple(given),
            left_out=(*left, *looked.left_out),
            context=context,
            tokens=tokens_of(context),
            elapsed_ms=_since(started),
            fallback=bool(looked.failure),
            reason=looked.failure or ("" if given or left or looked.left_out else "no memories"),
        )

    def look(
        self,
        plan: RecallPlan,
        user_id: str,
        now: datetime,
        *,
        weights: Weights = DEFAULT_WEIGHTS,
        until: float = float("inf"),
    ) -> Looked:
        """What memory holds for a plan; see ``recall``. The read gate decides by it too.

        Args:
            plan: As of ``recall``, like the others that are not named here.
            user_id: Whose.
            now: The session's moment.
            weights: The user's.
            until: Moment of ``time.monotonic`` from which no further memory is weighed: what was
                not is not given, and where none was the nearest by score are.
        """
        with self._ledger.one_view(), memory_span("bmo.recall.retrieve"):
            live = self._live(user_id)
            if live or plan.include_past:
                found, failure = self._retriever.candidates(plan, user_id, now, live)
            else:
                found, failure = [], ""
            found = [one for one in found if one.fact.is_for(self._settings.bmo_agent_id)]
            facts = [candidate.fact for candidate in found]
            hidden = withheld(facts, self._orders(user_id, now, facts, live), plan.query)
        with memory_span("bmo.recall.score"):
            shown = [_scored(c, plan, now, weights) for c in found if c.fact.id not in hidden]
            unlikely: list[RecalledMemory] = []
            chances: Mapping[str, float] | None = None
            if plan.include_all:
                ranks = {f.id: n for n, f in enumerate(by_importance(m.fact for m in shown))}
                shown = [replace(m, score=1.0 - ranks[m.fact.id] * 1e-6) for m in shown]
            elif (encoder := self._encoder) is not None:
                chances, doubt = self._answers(encoder, shown, plan, user_id, until)
                failure = failure or doubt
            if chances is not None:
                shown, unlikely = _weighed(shown, chances, weights)
            shown, past = _of_now(shown, plan)
            secret = [c for c in found if c.fact.id in hidden]
            kept_back = self._kept_back(secret, plan, user_id, until, weigh=chances is not None)
            if chances is not None:  # that it answers says that memory is asked for
                told = {m.fact.id: m.answers for m in kept_back if m.answers is not None}
                chances = {**chances, **told}
        return Looked(shown, [*unlikely, *past, *kept_back], chances, failure)

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

    def weights_of(self, user_id: str) -> Weights:
        """The user's weights: the defaults, moved by what helped and what was wrong so far."""
        return adjusted(self._ledger.judged_items(user_id, limit=REMEMBERED))

    def rehearse(self, plan: RecallPlan, user_id: str, now: datetime) -> None:
        """Looks for what a user without memories has, so that what that compiles is there."""
        for live, past in ((1, True), (WHOLE + 1, False)):
            asked = replace(plan, include_all=False, include_past=past)
            self._retriever.candidates(asked, user_id, now, live)
            self._orders(user_id, now, (), live)
        self._ledger.facts_by_id(user_id, ["none"], live_at=now)

    def close(self) -> None:
        """Lets go of the encoder; safe to call twice."""
        self._encoder = None

    def _orders(
        self, user_id: str, now: datetime, facts: Iterable[StoredFact], live: int
    ) -> list[StoredFact]:
        """Live orders never to bring something up; in a large memory they are asked for."""
        if live > WHOLE:
            facts = self._ledger.live_facts(user_id, rules=(WITHHOLD_RULE,), at=now)
        return _orders_of(facts)

    def _kept_back(
        self,
        secret: Sequence[Candidate],
        plan: RecallPlan,
        user_id: str,
        until: float,
        *,
        weigh: bool,
    ) -> list[RecalledMemory]:
        """What is never to be brought up, the nearest of it with P(answers).

        Nobody is shown it, but who is asked must not say that he was never told.
        """
        left = [RecalledMemory(one.fact, 0.0, ScoreParts(), "withheld") for one in secret]
        told = [one for one in secret if one.fact.rule_id != WITHHOLD_RULE]
        if not weigh or not told or self._encoder is None:
            return left
        nearest = max(told, key=lambda one: one.similarity).fact
        only = [m for m in left if m.fact.id == nearest.id]
        chances, _ = self._answers(self._encoder, only, plan, user_id, until)
        answers = (chances or {}).get(nearest.id)
        return [replace(m, answers=answers) if m.fact.id == nearest.id else m for m in left]

    def _answers(
        self,
        encoder: Encoder,
        memories: Sequence[RecalledMemory],
        plan: RecallPlan,
        user_id: str,
        until: float,
    ) -> tuple[Mapping[str, float] | None, str]:
        """Fact id -> P(answers) of the first few that are no rules; None and why if that failed.

        A change seldom says of what ("it's wednesdays now"): what it replaced is read with it.
        """
        from bmo.encoder import EncoderUnavailable

        ranked = sorted(memories, key=lambda m: (-m.parts.semantic, m.fact.text, m.fact.id))
        first = [memory.fact for memory in ranked if memory.fact.kind != "hard_rule"][:WEIGHED]
        before = self._ledger.words_replaced(user_id, [fact.id for fact in first])
        known = [(f"{fact.asked} {before.get(fact.id, '')}".strip(), fact.text) for fact in first]
        try:
            told = encoder.answers((plan.asked, plan.query), known, until)
        except EncoderUnavailable as error:
            return None, f"encoder: {error}"
        chances = {
            fact.id: chance for fact, chance in zip(first, told, strict=True) if chance is not None
        }
        if first and not chances:
            return None, "no time to weigh memories"
        return chances, ""

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
    memories: Sequence[RecalledMemory], chances: Mapping[str, float], weights: Weights
) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """Those that may answer, P(answers) in their score, and hard rules as they are; the others."""
    least = max(ANSWERS, ANSWERS_OF_BEST * max(chances.values(), default=0.0))
    weighed: list[RecalledMemory] = []
    left: list[RecalledMemory] = []
    for scored in memories:
        chance = chances.get(scored.fact.id)
        memory = replace(scored, answers=chance)
        if memory.fact.kind == "hard_rule" or (chance is not None and memory.why in CERTAIN):
            weighed.append(memory)
        elif chance is None:
            left.append(replace(memory, why=f"not among the {WEIGHED} nearest"))
        elif chance < least:
            digits = 2 if f"{chance:.2f}" != f"{least:.2f}" else 4
            why = f"P(answers) {chance:.{digits}f} under {least:.{digits}f}"
            left.append(replace(memory, why=why))
        else:
            nearness = ANSWERS_SHARE * weights.semantic * chance
            nearness += (1.0 - ANSWERS_SHARE) * memory.parts.semantic
            parts = replace(memory.parts, semantic=nearness)
            weighed.append(replace(memory, parts=parts, score=parts.total))
    return weighed, left


def _listed(facts: Iterable[StoredFact], why: str) -> tuple[RecalledMemory, ...]:
    return tuple(RecalledMemory(fact, 10.0 - importance(fact), ScoreParts(), why) for fact in facts)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1e3
