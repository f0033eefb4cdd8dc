"""The reading side of one visit: plan, recall, prefetch and profile."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from bmo import telemetry
from bmo.language import spoken
from bmo.memory.normal import raw_recall
from bmo.memory.visit import Visit
from bmo.turn import Recall, RecallPlan, StoredFact, Turn

if TYPE_CHECKING:
    from bmo.ledger import Version
    from bmo.recall import Weights

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
        before: The user's words of the turn before.
        ruled: The rules' word on the turn, once they were asked.
    """

    previous: RecallPlan | None
    turns: int
    subjects: Mapping[str, str]
    before: str
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
        self._shared = visit.service.shares_ledger
        self._version: Version | None = None  # nothing that is cached is older
        self._profile_checked: Version | None = None
        self._weights: Weights | None = None
        deadline_s = visit.service.settings.bmo_recall_deadline_ms / 1000
        self._patience_s = deadline_s * WRITES_SHARE

    async def recall(self, turn: Turn, deadline_s: float) -> Recall:
        """What memory has for a turn of this visit, within the deadline. Never raises."""
        try:
            read: object = await asyncio.wait_for(self._read_as_it_stands(turn), deadline_s)
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
        await self.look_elsewhere()
        if self._profile is None:
            self._profile = self._visit.start(self._load_profile())
        return await asyncio.shield(self._profile)

    def renew_profile(self, gone: Collection[str] | None) -> None:
        """Lets the profile be loaded again if it shows a fact of ``gone``; None: in any case."""
        if self._profile is not None and _may_show(self._profile, gone):
            self._profile = None
            self.profile_version += 1

    async def look_elsewhere(self) -> None:
        """Drops what is cached if another worker ended or erased memories meanwhile.

        Never raises: a ledger that does not answer now lets nothing cached be used.
        """
        if not self._shared:
            return
        service, profile = self._visit.service, self._profile
        shown: tuple[StoredFact, ...] | None = None
        if profile is not None and profile.done() and not profile.cancelled():
            shown = tuple(memory.fact for memory in profile.result().memories)
        look = service.turnstile.through(telemetry.carried(self._look))
        try:
            version, gone = await asyncio.get_running_loop().run_in_executor(
                service.recall_pool, look, shown
            )
        except Exception as error:  # whatever the ledger raises, the reply must go out
            logger.warning("the ledger was not looked at", extra={"error": repr(error)})
            self.drop()
            return
        if version != self._version:
            self.drop()
            self._version = version
        if shown is not None and profile is self._profile:
            self._profile_checked = version
            if gone:
                self.renew_profile(gone)

    def _look(self, shown: Sequence[StoredFact] | None) -> tuple[Version, Collection[str]]:
        """The version of the user's memory, and which facts of his profile are no longer so."""
        ledger, user_id = self._visit.service.ledger, self._visit.user_id
        with ledger.one_view():
            version = ledger.version(user_id)
            if version == self._profile_checked or not shown:
                return version, ()
            live = ledger.live_by_ids(user_id, [fact.id for fact in shown])
        stands = {(fact.id, fact.text) for fact in live}
        return version, {fact.id for fact in shown if (fact.id, fact.text) not in stands}

    async def _read_as_it_stands(self, turn: Turn) -> Recall:
        await self.look_elsewhere()
        return await asyncio.shield(self._read(turn))

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
            dialogue = self._visit.dialogue
            talk = _Talk(
                self.plan, dialogue.turns, dialogue.subjects, dialogue.words_before(turn.id)
            )
            if not self._visit.is_behind(turn.id):
                # In one go: each way to another thread and back waits for the event loop.
                return await self._in_pool(self._plan_and_recall_blocking, turn, talk)
            if self._visit.service.settings.mem0_setting == "GATED":
                ruled = await self._in_pool(self._plan_by_rules, turn, talk)
                if self._needs_nothing(ruled):
                    return Recall(plan=ruled)
                talk = replace(talk, ruled=ruled)
            with telemetry.memory_span("bmo.recall.wait_for_writes"):
                await self._visit.catch_up(turn.id, self._patience_s)
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

    def _nearest(self, text: str) -> float | None:
        """Similarity of this user's memory nearest to a text; None when the index cannot say."""
        recaller = self._visit.service.recaller
        return recaller.nearest_similarity(text, self._visit.user_id, self._visit.clock())

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
            nearest=self._nearest,
            before=talk.before,
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
