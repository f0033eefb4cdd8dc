"""The reading side of one visit: plan, recall, prefetch and profile."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from bmo import telemetry
from bmo.language import spoken
from bmo.memory.normal import raw_recall
from bmo.memory.visit import Visit
from bmo.turn import Recall, RecallPlan, StoredFact, Turn

if TYPE_CHECKING:
    from bmo.ledger import Version
    from bmo.recall import Looked, Weights

logger = logging.getLogger("bmo.memory")

WRITES_SHARE = 0.5
"""Share of the recall deadline that is waited for what was said just before to be written: when
the disk is slow, a reply without the last turn is better than one without memory."""

WEIGHING_SHARE = 0.7
"""Share of the recall deadline after which no further memory is weighed: on a slow or busy machine
the nearest few are better than none."""


class _Talk(TypedDict):
    """What the read gate may know before a turn, as ``ReadGate.plan`` takes it."""

    previous: RecallPlan | None
    conversation_turns: int
    subjects: Mapping[str, str]


class Reading:
    """What one visit is given from memory.

    Attributes:
        plan: The read gate's latest plan.
    """

    def __init__(self, visit: Visit) -> None:
        """Nothing is read yet."""
        self.plan: RecallPlan | None = None
        self._visit = visit
        self._service = visit.service
        self._version: Version | None = None  # nothing that is cached is older
        self._profile_checked: Version | None = None
        self._weights: Weights | None = None
        self._prefetched: asyncio.Task[Recall] | None = None

    async def recall(self, turn: Turn, deadline_s: float) -> Recall:
        """What memory has for a turn of this visit, within the deadline. Never raises."""
        try:
            until = time.monotonic() + deadline_s * WEIGHING_SHARE
            return await asyncio.wait_for(self._read_as_it_stands(turn, until), deadline_s)
        except TimeoutError:
            logger.warning("recall missed its deadline", extra={"deadline_s": deadline_s})
            return _nothing("deadline", "the deadline passed")
        except Exception as error:  # whatever a part raises, the reply must go out
            logger.warning("recall failed", extra={"error": repr(error)})
            return _nothing("failed", repr(error))

    def prefetch(self, interim_text: str) -> None:
        """Starts recall on an interim transcript, and gives up what was begun on an earlier one."""
        if len(interim_text.split()) > 1:
            turn = Turn(
                text=interim_text,
                user_id=self._visit.user_id,
                session_id=self._visit.session_id,
                at=self._visit.clock(),
                assistant_before=self._visit.dialogue.assistant_before,
            )
            self._prefetched = self._read(turn, "bmo.recall.prefetch")

    async def profile(self) -> Recall:
        """The profile of this visit, loaded once. Never raises."""
        await self.look_elsewhere()
        if self._visit.profile_task is None:
            self._visit.profile_task = self._visit.start(self._load_profile())
        return await asyncio.shield(self._visit.profile_task)

    async def look_elsewhere(self) -> None:
        """Drops what is cached if another worker ended or erased memories meanwhile.

        Never raises: a ledger that does not answer now lets nothing cached be used.
        """
        if not self._service.shares_ledger:
            return
        visit, profile = self._visit, self._visit.profile_task
        shown: tuple[StoredFact, ...] | None = None
        if profile is not None and profile.done() and not profile.cancelled():
            shown = tuple(memory.fact for memory in profile.result().memories)
        try:
            version, gone = await self._service.run(self._service.recall_pool, self._look, shown)
        except Exception as error:  # whatever the ledger raises, the reply must go out
            logger.warning("the ledger was not looked at", extra={"error": repr(error)})
            visit.reads.clear()
            return
        if version != self._version:
            visit.reads.clear()
            self._version = version
        if shown is not None and profile is visit.profile_task:
            self._profile_checked = version
            if gone:
                visit.renew_profile(gone)

    def _look(self, shown: Sequence[StoredFact] | None) -> tuple[Version, Collection[str]]:
        """The version of the user's memory, and which facts of his profile are no longer so."""
        ledger, user_id = self._service.ledger, self._visit.user_id
        with ledger.one_view():
            version = ledger.version(user_id)
            if version == self._profile_checked or not shown:
                return version, ()
            live = ledger.live_by_ids(user_id, [fact.id for fact in shown])
        stands = {(fact.id, fact.text) for fact in live}
        return version, {fact.id for fact in shown if (fact.id, fact.text) not in stands}

    async def _read_as_it_stands(self, turn: Turn, until: float) -> Recall:
        await self.look_elsewhere()
        return await asyncio.shield(self._read(turn, "bmo.recall.read", until))

    def _read(self, turn: Turn, span: str, until: float = float("inf")) -> asyncio.Task[Recall]:
        """The task that recalls for these words: the prefetched one if there is one."""
        key = spoken(turn.text)
        task = self._visit.reads.get(key)
        if task is None or task.cancelling() or (task.done() and task.exception() is not None):
            task = self._visit.start(self._plan_and_recall(turn, span, until))
            self._visit.reads[key] = task
        if self._prefetched is not None and self._prefetched is not task:
            self._prefetched.cancel()  # of other words; these do not queue behind it
        self._prefetched = None
        return task

    async def _plan_and_recall(self, turn: Turn, span: str, until: float) -> Recall:
        visit, service = self._visit, self._service
        run, pool = service.run, service.recall_pool
        with telemetry.memory_span(span):
            await visit.load_dialogue()
            # As it is before this turn is gated, whichever of the two is faster: who is named
            # for the first time here is nobody to ask about.
            said = visit.dialogue
            talk = _Talk(previous=self.plan, conversation_turns=said.turns, subjects=said.subjects)
            before, behind = said.words_before(turn.id), visit.is_behind(turn.id)
            turn, ruled = await run(pool, self._plan_by_rules, turn, talk)
            if ruled is not None and not ruled.recall:
                if ruled.trigger != "open" or service.encoder is None:
                    return Recall(plan=ruled)
            if behind:
                with telemetry.memory_span("bmo.recall.wait_for_writes"):
                    deadline_s = service.settings.bmo_recall_deadline_ms / 1000
                    await visit.catch_up(turn.id, deadline_s * WRITES_SHARE)
            if ruled is None:
                top_k = service.settings.bmo_recall_top_k
                return await run(pool, raw_recall, service.index, turn, top_k, visit.clock())
            return await run(pool, self._recall_blocking, turn, talk, before, ruled, until)

    def _plan_by_rules(self, turn: Turn, talk: _Talk) -> tuple[Turn, RecallPlan | None]:
        """The turn as it is searched for, and the rules' word; None without gates."""
        turn = self._visit.searchable(turn)
        if not self._service.is_gated:
            return turn, None
        with telemetry.memory_span("bmo.recall.plan_by_rules"):
            return turn, self._service.read_gate.plan_by_rules(turn, **talk)

    def _recall_blocking(
        self, turn: Turn, talk: _Talk, before: str, ruled: RecallPlan, until: float
    ) -> Recall:
        """Lets the encoder plan where the rules do not, and recalls.

        Args:
            turn: What was said.
            talk: What was known before it.
            before: The user's words of the turn before.
            ruled: The rules' word.
            until: As of ``Recaller.look``.
        """
        visit, recaller = self._visit, self._service.recaller
        if self._weights is None:
            # Once a visit: what a conversation is given does not change under it.
            self._weights = recaller.weights_of(visit.user_id)
        weights = self._weights
        looked: Looked | None = None

        def chances(wanted: RecallPlan) -> Mapping[str, float] | None:
            nonlocal looked
            looked = recaller.look(
                wanted, visit.user_id, visit.clock(), weights=weights, until=until
            )
            return looked.chances

        with telemetry.memory_span("bmo.recall.plan"):
            plan = ruled
            if ruled.trigger == "open":
                gate = self._service.read_gate
                plan = gate.plan(turn, chances=chances, before=before, **talk)
        if not plan.recall:
            return Recall(plan=plan)
        return recaller.recall(
            plan, visit.user_id, visit.clock(), weights=weights, until=until, looked=looked
        )

    async def _load_profile(self) -> Recall:
        empty = RecallPlan(recall=False, trigger="profile")
        service, visit = self._service, self._visit
        if not service.is_gated:
            return Recall(plan=empty)
        try:
            with telemetry.memory_span("bmo.profile", "search_memory"):
                return await service.run(
                    service.recall_pool, service.recaller.profile, visit.user_id, visit.clock()
                )
        except Exception as error:  # a conversation without profile is better than none
            logger.warning("profile failed", extra={"error": repr(error)})
            telemetry.note_fault("profile")
            return Recall(plan=empty, fallback=True, reason=repr(error))


def _nothing(trigger: str, reason: str) -> Recall:
    return Recall(plan=RecallPlan(recall=False, trigger=trigger), fallback=True, reason=reason)
