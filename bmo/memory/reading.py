"""The reading side of one visit: plan, recall, prefetch and profile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from bmo import telemetry
from bmo.memory.normal import raw_recall
from bmo.memory.visit import Visit
from bmo.memory.wishes import spoken
from bmo.turn import Recall, RecallPlan, Turn

if TYPE_CHECKING:
    from bmo.recall import Familiarity, Weights

logger = logging.getLogger("bmo.memory")

WRITES_SHARE = 0.5
"""Share of the recall deadline that is waited for what was said just before to be written: when
the disk is slow, a reply without the last turn is better than one without memory."""

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class _Talk:
    """What the read gate may know of the conversation before a turn.

    Attributes:
        previous: The plan of the turn before.
        turns: User turns so far.
        subjects: Lower-case name -> subject of the people who are known.
        ruled: The rules' word on the turn, once they were asked.
    """

    previous: RecallPlan | None
    turns: int
    subjects: Mapping[str, str]
    ruled: RecallPlan | None = None


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
        deadline_s = visit.service.settings.bmo_recall_deadline_ms / 1000
        self._patience_s = deadline_s * WRITES_SHARE

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
        if self._profile is not None and _may_show(self._profile, gone):
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
        with telemetry.memory_span(span):
            await self._visit.load_dialogue()
            # As it is before this turn is gated, whichever of the two is faster: who is named
            # for the first time here is nobody to ask about.
            talk = _Talk(self.plan, self._visit.dialogue.turns, self._visit.dialogue.subjects)
            unwritten = self._visit.unwritten()
            if not unwritten:
                # In one go: each way to another thread and back waits for the event loop.
                return await self._in_pool(self._plan_and_recall_blocking, turn, talk)
            if self._visit.service.settings.mem0_setting == "GATED":
                ruled = await self._in_pool(self._plan_by_rules, turn, talk)
                if self._needs_nothing(ruled):
                    return Recall(plan=ruled)
                talk = replace(talk, ruled=ruled)
            with telemetry.memory_span("bmo.recall.wait_for_writes"):
                await asyncio.wait(unwritten, timeout=self._patience_s)
            return await self._in_pool(self._recall_blocking, turn, talk)

    async def _in_pool(self, call: Callable[[Turn, _Talk], _R], turn: Turn, talk: _Talk) -> _R:
        service = self._visit.service
        return await asyncio.get_running_loop().run_in_executor(
            service.recall_pool, service.turnstile.through(telemetry.carried(call)), turn, talk
        )

    def _needs_nothing(self, ruled: RecallPlan) -> bool:
        """Whether the rules' word stands and nothing is to be recalled."""
        service = self._visit.service
        return not ruled.recall and (ruled.trigger != "open" or service.judge is None)

    def _plan_and_recall_blocking(self, turn: Turn, talk: _Talk) -> Recall:
        if self._visit.service.settings.mem0_setting == "GATED":
            ruled = self._plan_by_rules(turn, talk)
            if self._needs_nothing(ruled):
                return Recall(plan=ruled)
            talk = replace(talk, ruled=ruled)
        return self._recall_blocking(turn, talk)

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
            plan = self._planned(turn, talk)
        if not plan.recall:
            return Recall(plan=plan)
        recaller = self._visit.service.recaller
        if self._weights is None:
            # Once a visit: what a conversation is given does not change under it.
            self._weights = recaller.weights_of(self._visit.user_id)
        return recaller.recall(
            plan, self._visit.user_id, self._visit.clock(), weights=self._weights
        )

    def _planned(self, turn: Turn, talk: _Talk) -> RecallPlan:
        """The rules' word where they have one, else the judge's."""
        if talk.ruled is not None and talk.ruled.trigger != "open":
            return talk.ruled
        return self._visit.service.read_gate.plan(
            turn,
            previous=talk.previous,
            conversation_turns=talk.turns,
            subjects=talk.subjects,
            familiar=self._familiar,
        )

    async def _load_profile(self) -> Recall:
        empty = RecallPlan(recall=False, trigger="profile")
        if self._visit.service.settings.mem0_setting == "NORMAL":
            return Recall(plan=empty)
        loop = asyncio.get_running_loop()
        try:
            service = self._visit.service
            load = service.turnstile.through(telemetry.carried(service.recaller.profile))
            with telemetry.memory_span("bmo.profile", "search_memory"):
                recalled: object = await loop.run_in_executor(
                    service.recall_pool, load, self._visit.user_id, self._visit.clock()
                )
            if not isinstance(recalled, Recall):
                raise TypeError(f"the profile is a {type(recalled).__name__}, not a Recall")
            return recalled
        except Exception as error:  # a conversation without profile is better than none
            logger.warning("profile failed", extra={"error": repr(error)})
            telemetry.note_fault("profile")
            return Recall(plan=empty, fallback=True, reason=repr(error))


def _may_show(profile: asyncio.Task[Recall], gone: Collection[str] | None) -> bool:
    """Whether a profile may hold a fact of ``gone``; one that is still being read may."""
    if gone is None or not profile.done():
        return gone is None or bool(gone)
    if profile.cancelled() or profile.exception():
        return False
    return any(memory.fact.id in gone for memory in profile.result().memories)


def _nothing(trigger: str, reason: str) -> Recall:
    return Recall(plan=RecallPlan(recall=False, trigger=trigger), fallback=True, reason=reason)
