"""The reading side of one visit: plan, recall, prefetch and profile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bmo import telemetry
from bmo.memory.normal import raw_recall
from bmo.memory.visit import Visit
from bmo.memory.wishes import spoken
from bmo.turn import Recall, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.recall import Familiarity, Weights

logger = logging.getLogger("bmo.memory")


@dataclass(frozen=True, slots=True)
class _Talk:
    """What the read gate may know of the conversation before a turn."""

    previous: RecallPlan | None
    turns: int
    subjects: Mapping[str, str]


class Reading:
    """What one visit is given from memory.

    Attributes:
        plan: The read gate's latest plan.
        profile_version: Goes up when something in the profile is no longer true or was forgotten.
    """

    def __init__(self, visit: Visit) -> None:
        """Nothing is read yet."""
        self.plan: RecallPlan | None = None
        self.profile_version = 0
        self._visit = visit
        self._profile: asyncio.Task[Recall] | None = None
        self._reads: dict[str, asyncio.Task[Recall]] = {}
        self._weights: Weights | None = None

    async def recall(self, turn: Turn, deadline_s: float) -> Recall:
        """What memory has for a turn of this visit, within the deadline. Never raises."""
        try:
            read: object = await asyncio.wait_for(asyncio.shield(self._read(turn)), deadline_s)
            if not isinstance(read, Recall):
                raise TypeError(f"recall answered with {type(read).__name__}, not a Recall")
            return read
        except TimeoutError:
            logger.warning("recall missed its deadline", extra={"deadline_s": deadline_s})
            return _nothing("deadline", "the deadline passed")
        except Exception as error:  # whatever a part raises, the reply must go out
            logger.warning("recall failed", extra={"error": repr(error)})
            return _nothing("failed", repr(error))

    def prefetch(self, interim_text: str) -> None:
        """Starts recall on an interim transcript; it is used if the final words agree.

        Args:
            interim_text: The words so far.
        """
        if len(interim_text.split()) > 1:
            before = self._visit.dialogue.assistant_before
            turn = Turn(
                text=interim_text,
                user_id=self._visit.user_id,
                session_id=self._visit.session_id,
                at=self._visit.clock(),
                assistant_before=before,
            )
            self._read(turn, "bmo.recall.prefetch")

    def drop(self) -> None:
        """Forgets cached recalls; called after every write."""
        self._reads.clear()

    async def profile(self) -> Recall:
        """The profile of this visit, loaded once. Never raises."""
        if self._profile is None:
            self._profile = self._visit.start(self._load_profile())
        return await asyncio.shield(self._profile)

    def renew_profile(self, gone: Collection[str] | None) -> None:
        """Lets the profile be loaded again if it shows a fact of ``gone``; None: in any case."""
        shown = self._profile
        if shown is None or not shown.done() or shown.cancelled() or shown.exception():
            return
        if gone is None or any(memory.fact.id in gone for memory in shown.result().memories):
            self._profile = None
            self.profile_version += 1

    def _read(self, turn: Turn, span: str = "bmo.recall.read") -> asyncio.Task[Recall]:
        """The task that recalls for these words: the prefetched one if there is one."""
        key = spoken(turn.text)
        task = self._reads.get(key)
        if task is None or task.cancelled() or (task.done() and task.exception() is not None):
            task = self._visit.start(self._plan_and_recall(turn, span))
            self._reads[key] = task
        return task

    async def _plan_and_recall(self, turn: Turn, span: str) -> Recall:
        loop, pool = asyncio.get_running_loop(), self._visit.service.recall_pool
        with telemetry.memory_span(span):
            await self._visit.load_dialogue()
            # As it is before this turn is gated, whichever of the two is faster: who is named
            # for the first time here is nobody to ask about.
            talk = _Talk(self.plan, self._visit.dialogue.turns, self._visit.dialogue.subjects)
            at_work = [f for f in self._visit.recorded.values() if not f.done()]
            if self._visit.service.settings.mem0_setting == "GATED":
                # One way to the other thread and back, where nothing has to be waited for.
                begin = telemetry.carried(self._begin_blocking)
                begun = await loop.run_in_executor(pool, begin, turn, talk, not at_work)
                if begun is not None:
                    return begun
            with telemetry.memory_span("bmo.recall.wait_for_writes"):
                if at_work:
                    await asyncio.wait([asyncio.wrap_future(future) for future in at_work])
            recall = telemetry.carried(self._recall_blocking)
            return await loop.run_in_executor(pool, recall, turn, talk)

    def _begin_blocking(self, turn: Turn, talk: _Talk, settled: bool) -> Recall | None:
        """What the rules alone end, or with all writes ``settled`` the recall; else None."""
        ruled = self._plan_by_rules(turn, talk)
        if not ruled.recall and (ruled.trigger != "open" or self._visit.service.judge is None):
            return Recall(plan=ruled)
        return self._recall_blocking(turn, talk) if settled else None

    def _plan_by_rules(self, turn: Turn, talk: _Talk) -> RecallPlan:
        with telemetry.memory_span("bmo.recall.plan_by_rules"):
            return self._visit.service.read_gate.plan_by_rules(
                turn,
                previous=talk.previous,
                conversation_turns=talk.turns,
                subjects=talk.subjects,
            )

    def _familiar(self, text: str) -> Familiarity | None:
        """How much of some words is in this user's memory; None where it is large."""
        recaller = self._visit.service.recaller
        return recaller.familiarity(text, self._visit.user_id, self._visit.clock())

    def _recall_blocking(self, turn: Turn, talk: _Talk) -> Recall:
        settings = self._visit.service.settings
        if settings.mem0_setting == "NORMAL":
            return raw_recall(
                self._visit.service.index, turn, settings.bmo_recall_top_k, self._visit.clock()
            )
        with telemetry.memory_span("bmo.recall.plan"):
            plan = self._visit.service.read_gate.plan(
                turn,
                previous=talk.previous,
                conversation_turns=talk.turns,
                subjects=talk.subjects,
                familiar=self._familiar,
            )
        if not plan.recall:
            return Recall(plan=plan)
        recaller = self._visit.service.recaller
        if self._weights is None:
            # Once a visit: what a conversation is given does not change under it.
            self._weights = recaller.weights_of(self._visit.user_id)
        return recaller.recall(
            plan, self._visit.user_id, self._visit.clock(), weights=self._weights
        )

    async def _load_profile(self) -> Recall:
        empty = RecallPlan(recall=False, trigger="profile")
        if self._visit.service.settings.mem0_setting == "NORMAL":
            return Recall(plan=empty)
        loop = asyncio.get_running_loop()
        try:
            load = telemetry.carried(self._visit.service.recaller.profile)
            with telemetry.memory_span("bmo.profile", "search_memory"):
                recalled: object = await loop.run_in_executor(
                    self._visit.service.recall_pool, load, self._visit.user_id, self._visit.clock()
                )
            if not isinstance(recalled, Recall):
                raise TypeError(f"the profile is a {type(recalled).__name__}, not a Recall")
            return recalled
        except Exception as error:  # a conversation without profile is better than none
            logger.warning("profile failed", extra={"error": repr(error)})
            telemetry.note_fault("profile")
            return Recall(plan=empty, fallback=True, reason=repr(error))


def _nothing(trigger: str, reason: str) -> Recall:
    return Recall(plan=RecallPlan(recall=False, trigger=trigger), fallback=True, reason=reason)
