"""MemorySession: one visit of one user, the door that turns go through.

Nothing here blocks the event loop: the gate's rules run on it (microseconds), the judge and all
that touches a disk or an index run in an executor or on the recorder's thread. Turns of a visit
are gated one after the other, so that a correction finds what it corrects.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from bmo.memory.dialogue import KNOWN_FACTS, Dialogue
from bmo.memory.normal import raw_decision, raw_recall
from bmo.memory.notices import ask_to_erase, erased, kept, off_the_record, on_the_record
from bmo.memory.wishes import Wish, keeps_nothing, spoken, wish_of
from bmo.turn import Decision, Recall, RecallPlan, Signal, Turn

if TYPE_CHECKING:
    from bmo.ledger import PendingErasure, Recorded
    from bmo.memory.service import MemoryService

logger = logging.getLogger("bmo.memory")

RECORDED_KEPT = 64
"""Turns whose record can still be asked for with ``recorded``."""

_T = TypeVar("_T")


class MemorySession:
    """One visit of one user.

    ``submit_turn`` is what a voice hook calls; ``on_turn`` is the same and waits for the
    decision. All methods are called from one event loop.

    Attributes:
        service: The service it belongs to.
        user_id: Whose memory it is.
        session_id: Which visit it is.
        clock: Tells the time.
        off_record: While true nothing of what is said is written.
        profile_version: Goes up when something in the profile is no longer true or was forgotten.
    """

    def __init__(
        self,
        service: MemoryService,
        user_id: str,
        session_id: str,
        clock: Callable[[], datetime],
    ) -> None:
        """Use ``MemoryService.session``."""
        self.service = service
        self.user_id = user_id
        self.session_id = session_id
        self.clock = clock
        self.off_record = False
        self.profile_version = 0
        self._dialogue = Dialogue()
        self._dialogue_loaded: asyncio.Task[None] | None = None
        self._gating = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._recorded: dict[str, Future[Recorded]] = {}
        self._recent_ids: deque[str] = deque(maxlen=RECORDED_KEPT)
        self._profile: asyncio.Task[Recall] | None = None
        self._plan: RecallPlan | None = None
        self._reads: dict[str, asyncio.Task[Recall]] = {}
        self._given: Recall | None = None
        self._pending: PendingErasure | None = None
        self._on_disk: dict[str, asyncio.Event] = {}
        self._closed = False

    # -- writing -------------------------------------------------------------------------------

    async def on_turn(self, turn: Turn) -> Decision:
        """Gates a turn and hands it to the recorder.

        Args:
            turn: The user's words; user and session are set to this session's.

        Returns:
            The decision. The disk is not waited for; see ``recorded``.
        """
        return await self.submit_turn(turn)

    def submit_turn(self, turn: Turn) -> asyncio.Task[Decision]:
        """Starts gating a turn and returns at once; the task ends with the decision."""
        own = replace(
            turn,
            user_id=self.user_id,
            session_id=self.session_id,
            assistant_before=self._masked(turn.assistant_before),
            assistant_after=self._masked(turn.assistant_after),
        )
        return self._start(self._gate_and_record(own))

    async def recorded(self, turn_id: str) -> Recorded | None:
        """Waits until a turn of this session is in the ledger.

        Args:
            turn_id: ``Turn.id``.

        Returns:
            What was added, confirmed and ended; None when the turn was not recorded here.
        """
        future = self._recorded.get(turn_id)
        if future is None:
            return None
        recorded: Recorded = await asyncio.wrap_future(future)
        return recorded

    def note_reply(self, turn_id: str, text: str) -> None:
        """Tells the session what the assistant said after a turn.

        Args:
            turn_id: The turn it answers.
            text: The assistant's words, "" when there were none.
        """
        text = self._masked(text)
        self._dialogue.note_reply(turn_id, text)
        given, self._given = self._given, None
        if text and not self.off_record and turn_id in self._recorded:
            self.service.recorder.note_reply(turn_id, text, given)

    # -- reading -------------------------------------------------------------------------------

    async def profile(self) -> Recall:
        """The once-per-session profile. Never raises.

        The same bytes for the whole session, until something in it ends or is forgotten: what
        the user took back must not be shown again, which counts more than a warm prompt cache.
        """
        if self._profile is None:
            self._profile = self._start(self._load_profile())
        return await asyncio.shield(self._profile)

    async def recall(self, turn: Turn) -> Recall:
        """What memory has for this turn, within the deadline. Never raises.

        Args:
            turn: The user's words.

        Returns:
            The plan, the selected memories and the block to put before the model. When the
            deadline passes or a part fails the block is empty and ``fallback`` is true.
        """
        started = time.perf_counter()
        own = replace(turn, user_id=self.user_id, session_id=self.session_id)
        pending = self._pending  # gating this very turn may answer it while we read
        deadline_s = self.service.settings.bmo_recall_deadline_ms / 1000
        try:
            recall = await asyncio.wait_for(asyncio.shield(self._read(own)), deadline_s)
        except TimeoutError:
            recall = _nothing("deadline", "the deadline passed")
        except Exception as error:  # whatever a part raises, the reply must go out
            logger.warning("recall failed", extra={"error": repr(error)})
            recall = _nothing("failed", repr(error))
        notice = await self._notice(own, pending, deadline_s - (time.perf_counter() - started))
        if notice:
            recall = replace(recall, context="\n".join(filter(None, (recall.context, notice))))
        recall = replace(recall, elapsed_ms=(time.perf_counter() - started) * 1000)
        self._plan = recall.plan
        self._given = recall if recall.memories else None
        if not self.off_record:
            self.service.recorder.note_recall(own, recall)
        return recall

    def prefetch(self, interim_text: str) -> None:
        """Starts recall on an interim transcript; it is used if the final words agree.

        Args:
            interim_text: The words so far.
        """
        if not self._closed and len(interim_text.split()) > 1:
            before = self._dialogue.assistant_before
            self._read(
                Turn(
                    text=interim_text,
                    user_id=self.user_id,
                    session_id=self.session_id,
                    at=self.clock(),
                    assistant_before=before,
                )
            )

    def drop_reads(self) -> None:
        """Forgets cached recalls; called after every write."""
        self._reads.clear()

    # -- ending --------------------------------------------------------------------------------

    async def flush(self) -> None:
        """Waits until everything said so far is in the ledger, and in the index if it is up."""
        while pending := [task for task in self._tasks if not task.done()]:
            await asyncio.gather(*pending, return_exceptions=True)
        await asyncio.to_thread(self.service.recorder.flush, 30.0)
        self.drop_reads()

    async def aclose(self) -> None:
        """Flushes and ends the visit. Safe to call twice."""
        if not self._closed:
            await self.flush()
            self._closed = True
            self.service.ended(self)

    # -- gating --------------------------------------------------------------------------------

    async def _gate_and_record(self, turn: Turn) -> Decision:
        async with self._gating:
            await self._load_dialogue()
            if keeps_nothing(turn.text):
                return _own_word(turn, "command", "off the record, this turn")
            decision = self._granted(wish_of(turn.text), turn)
            if decision is None:
                decision = await self._decide(turn)
            if not self.off_record:
                self._record(turn, decision)
            self._dialogue.note_turn(turn, decision)
            return decision

    def _granted(self, wish: Wish | None, turn: Turn) -> Decision | None:
        """Does what a short utterance asks of memory itself; None when it asks for nothing."""
        pending, self._pending = self._pending, None
        if wish == "off_record" or (wish == "on_record" and self.off_record):
            self.off_record = wish == "off_record"
            return _own_word(turn, "command", wish.replace("_", " "))
        if pending is None or wish not in ("yes", "no"):
            return None
        ledger, recorder = self.service.ledger, self.service.recorder
        answer = ledger.confirm_erasure if wish == "yes" else ledger.cancel_erasure
        self._start(self._after_answer(recorder.call(answer, self.user_id, pending.id)))
        return _own_word(turn, "forget", f"erasure {'confirmed' if wish == 'yes' else 'cancelled'}")

    async def _after_answer(self, answered: Future[Any]) -> None:
        try:
            await asyncio.wrap_future(answered)
        except Exception as error:  # the request stays pending; bmo memories shows it
            logger.error("erasure not carried out", extra={"error": repr(error)})
            return
        self.service.wrote(self.user_id)
        await self._refresh_dialogue()

    async def _notice(self, turn: Turn, pending: PendingErasure | None, remaining_s: float) -> str:
        """What the assistant must say about memory itself with this reply, or ""."""
        wish = wish_of(turn.text)
        if wish == "off_record":
            return off_the_record()
        if wish == "on_record":
            return on_the_record()
        if pending is not None and wish in ("yes", "no"):
            return erased(pending) if wish == "yes" else kept(pending)
        if not self._asks_to_forget_much(turn):
            return ""
        event = self._on_disk.setdefault(turn.id, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), max(remaining_s, 0.01))
        except TimeoutError:
            return ""
        return ask_to_erase(self._pending) if self._pending is not None else ""

    def _asks_to_forget_much(self, turn: Turn) -> bool:
        if self.service.settings.mem0_setting == "NORMAL" or self.off_record:
            return False
        ruled = self.service.write_gate.decide_by_rules(turn, self._dialogue.context())
        return any(
            fact.op == "retract" and fact.scope in ("subject", "all") for fact in ruled.facts
        )

    async def _decide(self, turn: Turn) -> Decision:
        if self.service.settings.mem0_setting == "NORMAL":
            return raw_decision(turn, self.service.settings)
        from bmo.gate import wants_judge

        gate = self.service.write_gate
        context = self._dialogue.context()
        try:
            ruled = gate.decide_by_rules(turn, context)
        except Exception as error:  # a turn must leave its row, whatever a rule does
            logger.exception("rules failed", extra={"turn_id": turn.id})
            return _unjudged(turn, error)
        if self.service.judge is None or not wants_judge(ruled):
            return ruled
        loop = asyncio.get_running_loop()
        judged = loop.run_in_executor(self.service.gate_pool, gate.decide, turn, context)
        try:
            deadline_s = self.service.settings.bmo_judge_deadline_ms / 1000
            return await asyncio.wait_for(asyncio.shield(judged), deadline_s)
        except TimeoutError:
            logger.warning("judge missed its deadline", extra={"deadline_s": deadline_s})
        except Exception as error:  # the rules' word stands, whatever the judge does
            logger.warning("judge failed", extra={"error": repr(error)})
        return replace(ruled, fallback=True)

    def _record(self, turn: Turn, decision: Decision) -> None:
        future = self.service.recorder.submit(turn, decision)
        if len(self._recent_ids) == RECORDED_KEPT:
            self._recorded.pop(self._recent_ids[0], None)
        self._recent_ids.append(turn.id)
        self._recorded[turn.id] = future
        self._start(self._after_record(turn, future))

    async def _after_record(self, turn: Turn, future: Future[Recorded]) -> None:
        try:
            recorded = await asyncio.wrap_future(future)
        except Exception as error:  # the recorder has logged it and keeps the turn for later
            logger.error("turn not recorded", extra={"error": repr(error), "turn_id": turn.id})
            return
        finally:
            asked = self._on_disk.pop(turn.id, None)
        if recorded.pending_erasure is not None:
            self._pending = recorded.pending_erasure
        if asked is not None:
            asked.set()
        if recorded.ended or recorded.changed:
            gone = {ended.fact.id for ended in recorded.ended}
            self._renew_profile(gone | {fact.id for fact in recorded.changed})
        if recorded.added or recorded.ended or recorded.confirmed:
            self.service.wrote(self.user_id)
            await self._refresh_dialogue()

    async def _load_dialogue(self) -> None:
        if self._dialogue_loaded is None:
            self._dialogue_loaded = self._start(self._refresh_dialogue())
        await asyncio.shield(self._dialogue_loaded)

    async def _refresh_dialogue(self) -> None:
        """Reads people and the newest live facts of the user, for the gate's context."""
        try:
            ledger = self.service.ledger
            subjects = await asyncio.to_thread(ledger.known_subjects, self.user_id)
            known = await asyncio.to_thread(ledger.live_facts, self.user_id, limit=KNOWN_FACTS)
        except Exception as error:  # the gate can do without
            logger.warning("dialogue context not loaded", extra={"error": repr(error)})
            return
        self._dialogue.know(subjects, known)

    # -- recalling -----------------------------------------------------------------------------

    def _read(self, turn: Turn) -> asyncio.Task[Recall]:
        """The task that recalls for these words: the prefetched one if there is one."""
        key = spoken(turn.text)
        task = self._reads.get(key)
        if task is None or task.cancelled() or (task.done() and task.exception() is not None):
            task = self._start(self._plan_and_recall(turn))
            self._reads[key] = task
        return task

    async def _plan_and_recall(self, turn: Turn) -> Recall:
        if self.service.settings.mem0_setting == "GATED":
            ruled = self.service.read_gate.plan_by_rules(
                turn,
                previous=self._plan,
                conversation_turns=self._dialogue.turns,
                subjects=self._dialogue.subjects,
            )
            if not ruled.recall and (ruled.trigger != "open" or self.service.judge is None):
                return Recall(plan=ruled)
        for future in tuple(self._recorded.values()):
            if not future.done():
                await asyncio.wait([asyncio.wrap_future(future)])
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.service.recall_pool, self._recall_blocking, turn)

    def _recall_blocking(self, turn: Turn) -> Recall:
        settings = self.service.settings
        if settings.mem0_setting == "NORMAL":
            return raw_recall(self.service.index, turn, settings.bmo_recall_top_k, self.clock())
        plan = self.service.read_gate.plan(
            turn,
            previous=self._plan,
            conversation_turns=self._dialogue.turns,
            subjects=self._dialogue.subjects,
        )
        if not plan.recall:
            return Recall(plan=plan)
        return self.service.recaller.recall(plan, self.user_id, self.clock())

    def _renew_profile(self, gone: set[str]) -> None:
        """Lets the profile be loaded again when it shows a fact that is gone."""
        shown = self._profile
        if shown is None or not shown.done() or shown.cancelled() or shown.exception():
            return
        if any(memory.fact.id in gone for memory in shown.result().memories):
            self._profile = None
            self.profile_version += 1

    async def _load_profile(self) -> Recall:
        empty = RecallPlan(recall=False, trigger="profile")
        if self.service.settings.mem0_setting == "NORMAL":
            return Recall(plan=empty)
        loop = asyncio.get_running_loop()
        try:
            recalled: Recall = await loop.run_in_executor(
                self.service.recall_pool,
                self.service.recaller.profile,
                self.user_id,
                self.clock(),
            )
            return recalled
        except Exception as error:  # a conversation without profile is better than none
            logger.warning("profile failed", extra={"error": repr(error)})
            return Recall(plan=empty, fallback=True, reason=repr(error))

    def _masked(self, text: str) -> str:
        """An assistant may repeat a secret: its words are written down masked as well."""
        from bmo.gate import scan_sensitive

        return scan_sensitive(text, self.service.settings.bmo_sensitive).masked if text else ""

    def _start(self, coroutine: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _own_word(turn: Turn, signal: Signal, reason: str) -> Decision:
    """A decision about an utterance that was meant for memory itself."""
    return Decision(
        verdict="discard",
        signals=(signal,),
        reason=reason,
        confidence=1.0,
        extraction_method="session",
        gate_version="session",
        text=turn.text,
    )


def _unjudged(turn: Turn, error: Exception) -> Decision:
    """The gate failed: the turn is held, without words that nothing has scanned for secrets."""
    return Decision(
        verdict="hold",
        signals=("other",),
        reason=f"the gate failed: {type(error).__name__}",
        confidence=0.0,
        fallback=True,
        text="",
    )


def _nothing(trigger: str, reason: str) -> Recall:
    return Recall(plan=RecallPlan(recall=False, trigger=trigger), fallback=True, reason=reason)
