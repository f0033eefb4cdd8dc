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
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from bmo import telemetry
from bmo.memory.deciding import decide
from bmo.memory.dialogue import KNOWN_FACTS, Dialogue
from bmo.memory.normal import raw_recall
from bmo.memory.notices import ask_to_erase, erased, kept, off_the_record, on_the_record
from bmo.memory.wishes import Wish, keeps_nothing, spoken, wish_of
from bmo.turn import Decision, Recall, RecallPlan, Signal, Turn

if TYPE_CHECKING:
    from bmo.ledger import PendingErasure, Recorded
    from bmo.memory.service import MemoryService
    from bmo.recall import Weights

logger = logging.getLogger("bmo.memory")

RECORDED_KEPT = 64
"""Turns whose record can still be asked for with ``recorded``."""

DIALOGUE_DEADLINE_S = 2.0
"""Longest wait for the ledger before a turn is gated without what it knows of the user."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Talk:
    """What the read gate may know of the conversation before a turn."""

    previous: RecallPlan | None
    turns: int
    subjects: Mapping[str, str]


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
        self._answered: tuple[str, Recall, str] | None = None
        self._weights: Weights | None = None
        self._pending: PendingErasure | None = None
        self._on_disk: dict[str, asyncio.Event] = {}
        self._closed = False
        self._hides_reply = False
        self._undecided: set[str] = set()
        self._early_replies: dict[str, tuple[str, Recall | None]] = {}

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
        self._undecided.add(own.id)
        return self._start(self._gate_and_note(own))

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
        given, self._given = self._given, None
        if turn_id in self._undecided:
            # A reply can be faster than the judge: it is noted once its turn is.
            _, already = self._early_replies.get(turn_id, ("", None))
            self._early_replies[turn_id] = (text, given or already)
        else:
            self._note_reply(turn_id, text, given)

    def _note_reply(self, turn_id: str, text: str, given: Recall | None) -> None:
        self._dialogue.note_reply(turn_id, text)
        self._answered = None
        if text and not self.off_record and turn_id in self._recorded:
            self.service.recorder.note_reply(turn_id, text, given, at=self.clock())
            if given is not None:
                self._answered = (turn_id, given, text)

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
        own = replace(turn, user_id=self.user_id, session_id=self.session_id)
        with telemetry.memory_span("bmo.recall", "search_memory") as span:
            recall = await self._recall_in_time(own)
            kept = not self.off_record and not keeps_nothing(own.text)
            telemetry.describe_recall(span, own, recall, words=kept)
        telemetry.note_recall(recall)
        self._plan = recall.plan
        self._given = recall if recall.memories else None
        if kept:
            self.service.recorder.note_recall(own, recall)
        return recall

    async def _recall_in_time(self, turn: Turn) -> Recall:
        """What is recalled, with what the assistant must say of memory itself; never raises."""
        started = time.perf_counter()
        pending = self._pending  # gating this very turn may answer it while we read
        deadline_s = self.service.settings.bmo_recall_deadline_ms / 1000
        try:
            read: object = await asyncio.wait_for(asyncio.shield(self._read(turn)), deadline_s)
            if not isinstance(read, Recall):
                raise TypeError(f"recall answered with {type(read).__name__}, not a Recall")
            recall = read
        except TimeoutError:
            logger.warning("recall missed its deadline", extra={"deadline_s": deadline_s})
            recall = _nothing("deadline", "the deadline passed")
        except Exception as error:  # whatever a part raises, the reply must go out
            logger.warning("recall failed", extra={"error": repr(error)})
            recall = _nothing("failed", repr(error))
        try:
            remaining_s = deadline_s - (time.perf_counter() - started)
            notice = await self._notice(turn, pending, remaining_s)
        except Exception as error:  # e.g. rules that fail; gating the turn says so in the ledger
            logger.warning("notice failed", extra={"error": repr(error)})
            notice = ""
        if notice:
            recall = replace(recall, context="\n".join(filter(None, (recall.context, notice))))
        return replace(recall, elapsed_ms=(time.perf_counter() - started) * 1000)

    def prefetch(self, interim_text: str) -> None:
        """Starts recall on an interim transcript; it is used if the final words agree.

        Args:
            interim_text: The words so far.
        """
        if not self._closed and len(interim_text.split()) > 1:
            before = self._dialogue.assistant_before
            turn = Turn(
                text=interim_text,
                user_id=self.user_id,
                session_id=self.session_id,
                at=self.clock(),
                assistant_before=before,
            )
            self._read(turn, "bmo.recall.prefetch")

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

    async def _gate_and_note(self, turn: Turn) -> Decision:
        """Gates a turn, then notes the reply that came before its decision, if one did."""
        try:
            return await self._gate_and_record(turn)
        finally:
            self._undecided.discard(turn.id)
            early = self._early_replies.pop(turn.id, None)
            if early is not None:
                self._note_reply(turn.id, *early)

    async def _gate_and_record(self, turn: Turn) -> Decision:
        async with self._gating:
            with telemetry.memory_span("bmo.gate", "upsert_memory") as span:
                await self._load_dialogue()
                if self._hides_reply:
                    # It answered words that are not kept, and may repeat them.
                    turn = replace(turn, assistant_before="")
                decision, kept = await self._decided(turn)
                shown = decision if kept else replace(decision, text="", facts=())
                telemetry.describe_decision(span, turn, shown)
                telemetry.note_decision(turn, shown, debug=self.service.settings.gatekeeper_debug)
                self._hides_reply = not kept
                if kept:
                    self._record(turn, decision)
                    self._note_wrong(turn, decision)
                    self._dialogue.note_turn(turn, decision)
            return decision

    async def _decided(self, turn: Turn) -> tuple[Decision, bool]:
        """What becomes of a turn, and whether anything of it is kept."""
        if keeps_nothing(turn.text):
            return _own_word(turn, "command", "off the record, this turn"), False
        decision = self._granted(wish_of(turn.text), turn)
        if decision is None:
            decision = await decide(self.service, turn, self._dialogue.context())
        return decision, not self.off_record

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
        if not await self._asks_to_forget_much(turn, max(remaining_s, 0.01)):
            return ""
        event = self._on_disk.setdefault(turn.id, asyncio.Event())
        try:
            await asyncio.wait_for(event.wait(), max(remaining_s, 0.01))
        except TimeoutError:
            return ""
        return ask_to_erase(self._pending) if self._pending is not None else ""

    async def _asks_to_forget_much(self, turn: Turn, remaining_s: float) -> bool:
        if self.service.settings.mem0_setting == "NORMAL" or self.off_record:
            return False
        asked = asyncio.get_running_loop().run_in_executor(
            self.service.recall_pool,
            self.service.write_gate.decide_by_rules,
            turn,
            self._dialogue.context(),
        )
        try:
            ruled = await asyncio.wait_for(asyncio.shield(asked), remaining_s)
        except TimeoutError:
            return False
        return any(
            fact.op == "retract" and fact.scope in ("subject", "all") for fact in ruled.facts
        )

    def _note_wrong(self, turn: Turn, decision: Decision) -> None:
        """Counts a correction against what was recalled for the turn before."""
        from bmo.recall import counts_against

        answered, self._answered = self._answered, None
        if answered is not None:
            turn_id, given, reply = answered
            wrong = counts_against(given, reply, turn.text, decision)
            self.service.recorder.note_wrong(turn_id, wrong, at=turn.at)

    def _record(self, turn: Turn, decision: Decision) -> None:
        future = self.service.recorder.submit(turn, decision)
        if self.service.settler is not None:
            self.service.settler.spoke(self.user_id)
        if len(self._recent_ids) == RECORDED_KEPT:
            self._recorded.pop(self._recent_ids[0], None)
        self._recent_ids.append(turn.id)
        self._recorded[turn.id] = future
        self._start(self._after_record(turn, future))

    async def _after_record(self, turn: Turn, future: Future[Recorded]) -> None:
        from bmo.ledger import Recorded

        try:
            answer: object = await cast("asyncio.Future[object]", asyncio.wrap_future(future))
            if not isinstance(answer, Recorded):
                raise TypeError(f"the ledger answered with {type(answer).__name__}")
            recorded = answer
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
        done, _ = await asyncio.wait({self._dialogue_loaded}, timeout=DIALOGUE_DEADLINE_S)
        if not done:
            logger.warning("dialogue context missed its deadline")
            telemetry.note_fault("ledger")

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

    def _read(self, turn: Turn, span: str = "bmo.recall.read") -> asyncio.Task[Recall]:
        """The task that recalls for these words: the prefetched one if there is one."""
        key = spoken(turn.text)
        task = self._reads.get(key)
        if task is None or task.cancelled() or (task.done() and task.exception() is not None):
            task = self._start(self._plan_and_recall(turn, span))
            self._reads[key] = task
        return task

    async def _plan_and_recall(self, turn: Turn, span: str) -> Recall:
        loop, pool = asyncio.get_running_loop(), self.service.recall_pool
        with telemetry.memory_span(span):
            await self._load_dialogue()
            # As it is before this turn is gated, whichever of the two is faster: who is named
            # for the first time here is nobody to ask about.
            talk = _Talk(self._plan, self._dialogue.turns, self._dialogue.subjects)
            if self.service.settings.mem0_setting == "GATED":
                plan = telemetry.carried(self._plan_by_rules)
                ruled = await loop.run_in_executor(pool, plan, turn, talk)
                if not ruled.recall and (ruled.trigger != "open" or self.service.judge is None):
                    return Recall(plan=ruled)
            with telemetry.memory_span("bmo.recall.wait_for_writes"):
                for future in tuple(self._recorded.values()):
                    if not future.done():
                        await asyncio.wait([asyncio.wrap_future(future)])
            recall = telemetry.carried(self._recall_blocking)
            return await loop.run_in_executor(pool, recall, turn, talk)

    def _plan_by_rules(self, turn: Turn, talk: _Talk) -> RecallPlan:
        with telemetry.memory_span("bmo.recall.plan_by_rules"):
            return self.service.read_gate.plan_by_rules(
                turn,
                previous=talk.previous,
                conversation_turns=talk.turns,
                subjects=talk.subjects,
            )

    def _recall_blocking(self, turn: Turn, talk: _Talk) -> Recall:
        settings = self.service.settings
        if settings.mem0_setting == "NORMAL":
            return raw_recall(self.service.index, turn, settings.bmo_recall_top_k, self.clock())
        with telemetry.memory_span("bmo.recall.plan"):
            plan = self.service.read_gate.plan(
                turn,
                previous=talk.previous,
                conversation_turns=talk.turns,
                subjects=talk.subjects,
            )
        if not plan.recall:
            return Recall(plan=plan)
        recaller = self.service.recaller
        if self._weights is None:
            # Once a visit: what a conversation is given does not change under it.
            self._weights = recaller.weights_of(self.user_id)
        return recaller.recall(plan, self.user_id, self.clock(), weights=self._weights)

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
            load = telemetry.carried(self.service.recaller.profile)
            with telemetry.memory_span("bmo.profile", "search_memory"):
                recalled: object = await loop.run_in_executor(
                    self.service.recall_pool, load, self.user_id, self.clock()
                )
            if not isinstance(recalled, Recall):
                raise TypeError(f"the profile is a {type(recalled).__name__}, not a Recall")
            return recalled
        except Exception as error:  # a conversation without profile is better than none
            logger.warning("profile failed", extra={"error": repr(error)})
            telemetry.note_fault("profile")
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


def _nothing(trigger: str, reason: str) -> Recall:
    return Recall(plan=RecallPlan(recall=False, trigger=trigger), fallback=True, reason=reason)
