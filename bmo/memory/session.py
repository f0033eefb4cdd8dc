"""MemorySession: one visit of one user, the door that turns go through.

Nothing here blocks the event loop: rules, encoder and all that touches a disk or an index run in an
executor or on the recorder's thread. Turns of a visit are gated one after the other, so that a
correction finds what it corrects.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from bmo import telemetry
from bmo.memory.gating import Gating
from bmo.memory.reading import Reading
from bmo.memory.requests import Requests
from bmo.memory.visit import MemoryParts, Visit
from bmo.memory.wishes import keeps_nothing
from bmo.turn import Decision, Recall, Turn

if TYPE_CHECKING:
    from bmo.ledger import Recorded
    from bmo.settings import Settings

logger = logging.getLogger("bmo.memory")


class MemorySession(Visit):
    """One visit of one user.

    ``submit_turn`` is what a voice hook calls; ``on_turn`` is the same and waits for the
    decision. All methods are called from one event loop.

    Attributes:
        participant: The user's identity in the room of the visit; None where there is no room.
        shared_by_agents: What the agents of the visit share (``bmo.agent``), or None. It stands
            here and in no table, so that the visit and what is known of its turns go together.
        is_open: True; what stands for a session while memory opens (``bmo.agent.late``) says False.
    """

    is_open = True

    def __init__(
        self, service: MemoryParts, user_id: str, session_id: str, clock: Callable[[], datetime]
    ) -> None:
        """Use ``MemoryService.session``."""
        super().__init__(service, user_id, session_id, clock)
        self.participant: str | None = None
        self.shared_by_agents: object | None = None
        self._requests = Requests(self)
        self._reading = Reading(self)
        self._gating = Gating(self, self._requests)
        self._given: Recall | None = None
        self._judgeable: tuple[str, Recall] | None = None

    def of_guest(self, user_id: str) -> MemorySession:
        """A session of somebody else who speaks in the same visit."""
        guest = MemorySession(self.service, user_id, self.session_id, self.clock)
        guest.secrets = self.secrets  # each may repeat what the other told
        return guest

    @property
    def settings(self) -> Settings:
        """Settings of the process."""
        return self.service.settings

    def keeps(self, text: str) -> bool:
        """Whether anything of such a turn may be written: not off the record, not said to be."""
        return not self.off_record and not keeps_nothing(text)

    async def aclose(self) -> None:
        """Flushes and ends the visit. Safe to call twice."""
        if not self.ended:
            try:
                await self.flush()
                await self._gating.decide_again()
            finally:
                await super().aclose()

    # -- writing -------------------------------------------------------------------------------

    async def on_turn(self, turn: Turn) -> Decision:
        """Gates a turn, as this session's user's, and hands it to the recorder.

        The disk is not waited for; see ``recorded``. Whoever gives up waiting gives up the wait and
        not the turn: it is kept as if he had waited, and the end of the visit waits for it.
        """
        return await asyncio.shield(self.submit_turn(turn))

    def submit_turn(self, turn: Turn) -> asyncio.Task[Decision]:
        """Starts gating a turn and returns at once; the task ends with the decision.

        Cancelling the task before it ends takes the turn back: nothing of it is kept.

        Raises:
            ValueError: The turn has something that cannot be recorded: a confidence of 93, say.
        """
        from bmo.ledger import check_turn

        own = self._own(turn)
        check_turn(own)
        if self.service.shares_ledger:
            # A model that is told the profile once, and asks for nothing, must learn of it too.
            self.start(self._reading.look_elsewhere())
        return self._gating.submit(own)

    async def recorded(self, turn_id: str) -> Recorded | None:
        """Waits until a turn is in the ledger: what was added, confirmed and ended.

        None when it was not recorded here, or the ledger does not take it now.
        """
        recording = self.records.get(turn_id)
        return await asyncio.shield(recording) if recording is not None else None

    def note_reply(self, turn_id: str, text: str) -> None:
        """Tells what the assistant said after a turn, "" when that was nothing."""
        given, self._given = self._given, None
        if given is not None:
            self._judgeable = (turn_id, given)
        self._gating.note_reply(turn_id, text, given)
        # The same words may mean something else in the next turn ("and where does she live").
        self.drop_reads()

    def judge_last_recall(self, *, helpful: bool) -> int:
        """Notes what the user says of the memories that the last answered recall gave.

        Returns:
            Number of memories it is noted for; 0 when none were given, or off the record.
        """
        judged, self._judgeable = self._judgeable, None
        if judged is None or self.off_record:
            return 0
        turn_id, given = judged
        ids = [memory.fact.id for memory in given.memories]
        now, recorder = self.clock(), self.service.recorder
        recorder.note_judged(self.user_id, turn_id, ids, helpful, now, "user")
        return len(ids)

    # -- reading -------------------------------------------------------------------------------

    async def profile(self) -> Recall:
        """The once-per-session profile. Never raises.

        The same bytes for the whole session, until something in it ends or is forgotten: what
        the user took back must not be shown again, which counts more than a warm prompt cache.
        """
        if self.service.is_gated:
            self.begin_dialogue()  # the first turn needs it, often of many visits at once
        return await self._reading.profile()

    async def recall(self, turn: Turn) -> Recall:
        """What memory has for this turn, within the deadline. Never raises.

        Only a turn that may ask to forget much (``may_ask_back``) takes longer: until it is known
        what is to be erased, or that it cannot be known in time.

        Returns:
            The plan, the selected memories and the block to put before the model. When the
            deadline passes or a part fails the block is empty and ``fallback`` is true.
        """
        own = self._own(turn)
        with telemetry.memory_span("bmo.recall", "search_memory") as span:
            recall = await self._recall_in_time(own)
            kept = self.keeps(own.text)
            telemetry.describe_recall(span, own, recall, words=kept)
        telemetry.note_recall(recall)
        self._reading.plan = recall.plan
        self._given = recall if recall.memories else None
        if kept:
            self.service.recorder.note_recall(own, recall)
        return recall

    async def _recall_in_time(self, turn: Turn) -> Recall:
        """What is recalled, with what the assistant must say of memory itself; never raises."""
        started = time.perf_counter()
        pending = self._requests.pending  # gating this very turn may answer it while we read
        deadline_s = self.settings.bmo_recall_deadline_ms / 1000
        recall = await self._reading.recall(turn, deadline_s)
        try:
            notice = await self._requests.notice(turn, pending)
        except Exception as error:  # a pool that is closed, say; the reply goes out without
            logger.warning("notice failed", extra={"error": repr(error)})
            notice = ""
        # The block for the model, with what it must say of memory itself behind it.
        context = "\n".join(filter(None, (recall.context, notice)))
        return replace(recall, context=context, elapsed_ms=(time.perf_counter() - started) * 1000)

    async def notice(self, turn: Turn) -> str:
        """What the assistant must say of memory itself after a turn, for a model without context.

        To be started before the turn is submitted, which may answer what was asked before it. ""
        when there is nothing to say.
        """
        return await self._requests.notice(self._own(turn), self._requests.pending)

    def may_ask_back(self, turn: Turn) -> bool:
        """Whether a turn could ask to forget so much that the assistant must ask back."""
        return self._requests.may_ask_back(turn)

    def prefetch(self, interim_text: str) -> None:
        """Starts recall on an interim transcript; it is used if the final words agree."""
        if not self.ended:
            self._reading.prefetch(interim_text)

    def drop_reads(self) -> None:
        """Forgets cached recalls."""
        self.reads.clear()

    def _own(self, turn: Turn) -> Turn:
        own, settings = turn.visibility != "shared", self.settings
        return replace(
            turn,
            user_id=self.user_id,
            session_id=self.session_id,
            agent_id=turn.agent_id or settings.bmo_agent_id,
            visibility=turn.visibility if own else settings.bmo_visibility,
        )
