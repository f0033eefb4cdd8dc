"""One conversation: every turn of it gated exactly once, whichever way the turn came.

A turn can come through the agent's hook (speech, or typed words through ``user_turn``), or only as
a conversation item (``session.run``, room chat, ``console --text``, a realtime model, last words
at close). ``ConversationMemory`` listens to both and keeps one record a turn, so that what came
one way is not gated again the other way.

Nothing of memory may reach the framework as an error: an exception in the hook loses the user's
turn (no reply, not in history). Every call into memory here is guarded and has a deadline.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakSet

from livekit.agents import (
    Agent,
    AgentSession,
    ConversationItemAddedEvent,
    UserInputTranscribedEvent,
    llm,
)
from livekit.agents.voice.events import CloseEvent

from bmo import telemetry
from bmo.agent.placement import (
    last_user_message,
    place_profile,
    place_recall,
    words_of_assistant_before,
)
from bmo.turn import Decision, Recall, Turn

if TYPE_CHECKING:
    from bmo.memory import MemorySession

logger = logging.getLogger("bmo.agent")

Way = Literal["hook", "item"]
"""How a turn reached the gate: through the agent's hook, or as a conversation item."""

DEADLINE_GRACE_S = 0.1
"""Seconds past the session's own recall deadline after which a reply goes out without memory."""

FLUSH_TIMEOUT_S = 60.0
"""Seconds a flush may take before the conversation ends without it."""

TURNS_KEPT = 256
"""Turns of a conversation whose records are kept for matching and for display."""

_THROUGH_HOOK = "on_user_turn_completed_delay"
"""LiveKit's metric on a user message that went through the hook."""


@dataclass(slots=True)
class HeardTurn:
    """What memory did with one turn.

    Attributes:
        turn: The turn as it is gated.
        way: How it reached the gate, or None while it did not.
        decision: The gate's answer, or None while it was not asked or when asking failed.
        recall: The recall that was started for it, or None.
        given: What was put before the model for it, or None.
        reply: The assistant's words after it.
        hook_ms: Milliseconds memory's part of the hook took, 0 when there was no hook.
        error: "" or what failed.
    """

    turn: Turn
    way: Way | None = None
    decision: asyncio.Task[Decision] | None = None
    recall: asyncio.Task[Recall] | None = None
    given: Recall | None = None
    reply: str = ""
    hook_ms: float = 0.0
    error: str = ""


class ConversationMemory:
    """What the agents of one visit share: one memory session, one record a turn.

    Attributes:
        memory: The memory session.
        turns: Records of the latest turns that were gated, oldest first.
        profile: The once-per-session profile once it is there, or None.
    """

    def __init__(self, memory: MemorySession) -> None:
        """Listens to nothing yet; see ``bind``."""
        self.memory = memory
        self.turns: deque[HeardTurn] = deque(maxlen=TURNS_KEPT)
        self.profile: Recall | None = None
        self._settings = memory.service.settings
        self._deadline_s = self._settings.bmo_recall_deadline_ms / 1000 + DEADLINE_GRACE_S
        self._agents: WeakSet[Agent] = WeakSet()
        self._sessions: WeakSet[AgentSession[Any]] = WeakSet()
        self._by_message: dict[str, HeardTurn] = {}
        self._drafts: deque[HeardTurn] = deque(maxlen=8)
        self._last_words = ""
        self._finals: list[str] = []
        self._language: str | None = None
        self._profile_task: asyncio.Task[Recall | None] | None = None
        self._profile_version = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def latest(self) -> HeardTurn | None:
        """The record of the latest turn that was gated, or None before the first."""
        return self.turns[-1] if self.turns else None

    # -- joining -------------------------------------------------------------------------------

    def admit(self, agent: Agent) -> None:
        """Turns that ``agent`` hears belong to this conversation."""
        self._agents.add(agent)

    def bind(self, session: AgentSession[Any]) -> None:
        """Listens to a session's events. Safe to call twice."""
        if session in self._sessions:
            return
        self._sessions.add(session)

        def transcribed(event: UserInputTranscribedEvent) -> None:
            self._guarded("prefetch", self._on_transcribed, event)

        def item_added(event: ConversationItemAddedEvent) -> None:
            self._guarded("item", self._on_item, session, event)

        def closed(event: CloseEvent) -> None:
            self._start(self.flush())

        session.on("user_input_transcribed", transcribed)
        session.on("conversation_item_added", item_added)
        session.on("close", closed)
        self.load_profile()

    def load_profile(self) -> asyncio.Task[Recall | None]:
        """Starts loading the profile; once loaded it stays until something in it is gone."""
        version = self.memory.profile_version
        stale = version != self._profile_version
        if self._profile_task is None or stale or self._gave_nothing(self._profile_task):
            self._profile_version = version
            self._profile_task = self._start(self._profile())
        return self._profile_task

    async def ready(self) -> Recall | None:
        """The profile, as soon as it is there; None when it cannot be had within the deadline."""
        task = self.load_profile()
        await asyncio.wait({task}, timeout=self._deadline_s)
        return self.profile

    async def flush(self) -> None:
        """Waits until every turn heard so far is written down. Never raises."""
        try:
            async with asyncio.timeout(FLUSH_TIMEOUT_S):
                await self.memory.flush()
        except TimeoutError:
            logger.error("memory was not flushed in time", extra={"timeout_s": FLUSH_TIMEOUT_S})
        except Exception:
            logger.exception("memory could not be flushed")

    # -- hearing -------------------------------------------------------------------------------

    async def through_hook(
        self,
        agent: Agent,
        own_hook: Callable[..., Awaitable[None]],
        turn_ctx: llm.ChatContext,
        new_message: llm.ChatMessage,
    ) -> None:
        """Runs an agent's own hook with memory around it.

        Recall starts before the agent's own hook and the turn is gated after it, with the words
        the hook left in the message; also when it raised ``StopResponse``, which goes on to
        LiveKit as it would without memory.

        Args:
            agent: The agent that hears the turn.
            own_hook: Its ``on_user_turn_completed``.
            turn_ctx: The context of this reply.
            new_message: The user's words.
        """
        began = time.perf_counter()
        heard: HeardTurn | None = None
        gates_here = self._guarded("hook", _hook_hears, agent) is not False
        if gates_here:
            heard = self._guarded("hook", self._open_from_hook, agent, turn_ctx, new_message)
        if heard is not None and self._settings.bmo_inject_at == "turn_ctx":
            try:
                await self._inject(turn_ctx, heard, new_message, with_profile=False)
            except Exception:
                logger.exception("memory was left out of a reply")
        memory_ms = (time.perf_counter() - began) * 1000
        try:
            await own_hook(turn_ctx, new_message=new_message)
        finally:
            began = time.perf_counter()
            if heard is not None:
                self._guarded("hook", self._gate, heard, new_message.text_content or "", "hook")
                heard.hook_ms = memory_ms + (time.perf_counter() - began) * 1000

    async def before_model(self, agent: Agent, chat_ctx: llm.ChatContext) -> None:
        """Puts profile and recall into the context a model is about to get. Never raises.

        Also runs for a preemptive reply, which may be thrown away: nothing is gated here.

        Args:
            agent: The agent whose model is called.
            chat_ctx: The model's working copy of the context; changed in place.
        """
        try:
            message, answered = last_user_message(chat_ctx)
            heard: HeardTurn | None = None
            if message is not None:
                heard = self._by_message.get(message.id)
                if heard is None and not answered:
                    heard = self._draft(message, chat_ctx)
            in_hook = self._settings.bmo_inject_at == "turn_ctx"
            if heard is not None and heard.way == "hook" and in_hook:
                heard = None
            await self._inject(chat_ctx, heard, message, with_profile=True)
        except Exception:
            logger.exception("memory was left out of a reply")

    # -- gating --------------------------------------------------------------------------------

    def _open_from_hook(
        self, agent: Agent, turn_ctx: llm.ChatContext, message: llm.ChatMessage
    ) -> HeardTurn:
        """The record of a turn that came through the hook; a preemptive reply may have one."""
        self.bind(agent.session)
        self._finals.clear()
        heard = self._by_message.get(message.id)
        if heard is None:
            heard = self._claim_draft(message) or HeardTurn(self._turn(message, turn_ctx))
            self._by_message[message.id] = heard
        self._start_recall(heard, message.text_content or "")
        return heard

    def _draft(self, message: llm.ChatMessage, chat_ctx: llm.ChatContext) -> HeardTurn:
        """A record for words a model answers before the turn is complete (or typed words)."""
        text = message.text_content or ""
        for draft in self._drafts:
            # Each preemptive attempt at the same turn is a message of its own.
            if draft.way is None and _same_words(draft.turn.text, text):
                self._by_message[message.id] = draft
                return draft
        heard = HeardTurn(self._turn(message, chat_ctx))
        self._by_message[message.id] = heard
        self._drafts.append(heard)
        return heard

    def _claim_draft(self, message: llm.ChatMessage) -> HeardTurn | None:
        text = message.text_content or ""
        for draft in reversed(self._drafts):
            if draft.way is None and _same_words(draft.turn.text, text):
                self._drafts.clear()
                return draft
        self._drafts.clear()
        return None

    def _gate(self, heard: HeardTurn, text: str, way: Way) -> None:
        """Hands a turn to the gate unless it was already. Returns at once."""
        if heard.way is not None:
            return
        if text != heard.turn.text:
            heard.turn = replace(heard.turn, text=text)
        heard.way = way
        self.turns.append(heard)
        self._forget_old()
        try:
            # Whatever comes back: a fault there must not become one in the framework.
            decision: object = self.memory.submit_turn(heard.turn)
        except Exception as error:
            heard.error = repr(error)
            raise
        if isinstance(decision, asyncio.Task):
            heard.decision = decision
            self._start(self._observe_gate(heard.turn, decision))
        else:
            heard.error = f"not a decision: {decision!r}"

    async def _observe_gate(self, turn: Turn, decision: asyncio.Task[Decision]) -> None:
        """Span, counters and debug line of a decision, under LiveKit's span of the turn."""
        with telemetry.memory_span("bmo.gate", "upsert_memory") as span:
            decided = await asyncio.shield(decision)
            telemetry.describe_decision(span, turn, decided)
        telemetry.note_decision(turn, decided, debug=self._settings.gatekeeper_debug)

    def _turn(self, message: llm.ChatMessage, chat_ctx: llm.ChatContext | None) -> Turn:
        before = self._last_words
        if chat_ctx is not None:
            before = words_of_assistant_before(chat_ctx, message) or before
        return Turn(
            text=message.text_content or "",
            user_id=self.memory.user_id,
            session_id=self.memory.session_id,
            at=self.memory.clock(),
            assistant_before=before,
            language=self._language,
            confidence=message.transcript_confidence,
        )

    # -- events --------------------------------------------------------------------------------

    def _on_transcribed(self, event: UserInputTranscribedEvent) -> None:
        if isinstance(event.language, str) and len(event.language) >= 2:
            self._language = event.language[:2].lower()
        words = " ".join([*self._finals, event.transcript]).strip()
        if event.is_final and event.transcript:
            self._finals.append(event.transcript)
        if words:
            self.memory.prefetch(words)

    def _on_item(self, session: AgentSession[Any], event: ConversationItemAddedEvent) -> None:
        item = event.item
        if not isinstance(item, llm.ChatMessage):
            return
        text = item.text_content or ""
        if item.role == "assistant":
            self._note_reply(text)
        elif item.role == "user" and text.strip() and session.current_agent in self._agents:
            # LiveKit commits an empty turn at close.
            self._gate_item(item, text)

    def _gate_item(self, item: llm.ChatMessage, text: str) -> None:
        """The net under the hook: words that only appeared in the conversation."""
        heard = self._by_message.get(item.id)
        if heard is not None and heard.way is not None:
            return
        if _THROUGH_HOOK in item.metrics:
            # A preemptive reply that was adopted puts its own message (its own id) into the
            # history, with the words and metrics of the message the hook saw.
            for known in reversed(self.turns):
                if known.way == "hook" and known.turn.text == text:
                    self._by_message[item.id] = known
                    return
        if heard is None:
            heard = HeardTurn(self._turn(item, None))
            self._by_message[item.id] = heard
        self._finals.clear()
        self._gate(heard, text, "item")

    def _note_reply(self, text: str) -> None:
        self._last_words = text
        if self.turns and text:
            latest = self.turns[-1]
            latest.reply = f"{latest.reply} {text}".strip()
            self.memory.note_reply(latest.turn.id, latest.reply)

    # -- recall --------------------------------------------------------------------------------

    def _start_recall(self, heard: HeardTurn, text: str) -> asyncio.Task[Recall]:
        if heard.recall is None or not _same_words(heard.turn.text, text):
            if text != heard.turn.text:
                heard.turn = replace(heard.turn, text=text)
            heard.recall = self._start(self._recall(heard.turn))
        return heard.recall

    async def _recall(self, turn: Turn) -> Recall:
        with telemetry.memory_span("bmo.recall", "search_memory") as span:
            recall = await self.memory.recall(turn)
            if isinstance(recall, Recall):
                telemetry.describe_recall(span, turn, recall)
                telemetry.note_recall(recall)
        return recall

    async def _inject(
        self,
        chat_ctx: llm.ChatContext,
        heard: HeardTurn | None,
        message: llm.ChatMessage | None,
        *,
        with_profile: bool,
    ) -> None:
        """Waits for profile and recall, both within the deadline, and puts them in place.

        The profile always goes in before the model: in a hook's context it would cost the
        preemptive reply of every turn, also of those that need no recall.
        """
        role = self._settings.bmo_inject_role
        waits: set[asyncio.Task[Any]] = set()
        if with_profile:
            waits.add(self.load_profile())
        if heard is not None and message is not None:
            waits.add(self._start_recall(heard, message.text_content or ""))
        if waits:
            await asyncio.wait(waits, timeout=self._deadline_s)
        if with_profile:
            place_profile(chat_ctx, self.profile.context if self.profile else "", role)
        if heard is not None and message is not None:
            heard.given = self._outcome(heard)
            text = heard.given.context if heard.given else ""
            place_recall(chat_ctx, text, role, before=message)

    def _outcome(self, heard: HeardTurn) -> Recall | None:
        task = heard.recall
        if task is None or not task.done():
            heard.error = "recall deadline"
            logger.warning("recall missed its deadline")
            telemetry.note_fault("recall")
            return None
        recall = _result_of(task, Recall)
        if isinstance(recall, Recall):
            return recall
        heard.error = recall
        logger.warning("recall failed", extra={"error": recall})
        telemetry.note_fault("recall")
        return None

    async def _profile(self) -> Recall | None:
        try:
            profile = await self.memory.profile()
        except Exception:
            logger.exception("the profile could not be loaded")
            return None
        if isinstance(profile, Recall):
            self.profile = profile
        return self.profile

    # -- keeping -------------------------------------------------------------------------------

    def _guarded(self, part: str, call: Callable[..., Any], *args: Any) -> Any:
        """Calls memory's code so that nothing of it reaches the framework."""
        try:
            return call(*args)
        except Exception:
            logger.exception("memory failed and the conversation goes on", extra={"part": part})
            telemetry.note_fault(part)
            return None

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.debug("a memory task failed", extra={"error": repr(task.exception())})

    def _gave_nothing(self, task: asyncio.Task[Recall | None]) -> bool:
        return task.done() and (task.cancelled() or task.result() is None)

    def _forget_old(self) -> None:
        while len(self._by_message) > 2 * TURNS_KEPT:
            del self._by_message[next(iter(self._by_message))]


def _hook_hears(agent: Agent) -> bool:
    """Whether the hook is where this agent's turns are heard.

    With a realtime model that transcribes, the words come as conversation items; the hook (which
    fires only with client-side turn detection) then has no words or other ones.
    """
    model = agent.llm if isinstance(agent.llm, llm.LLM | llm.RealtimeModel) else agent.session.llm
    return not (isinstance(model, llm.RealtimeModel) and model.capabilities.user_transcription)


def _same_words(one: str, other: str) -> bool:
    """Equal but for case and punctuation, as LiveKit compares when it adopts a reply."""
    return one == other or _bare(one) == _bare(other)


def _bare(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text.casefold() if c not in "'’").split()


def _result_of(task: asyncio.Task[Any], kind: type[Recall]) -> Recall | str:
    """The task's result when it is what it should be, else what is wrong with it."""
    if task.cancelled():
        return "cancelled"
    error = task.exception()
    if error is not None:
        return repr(error)
    result = task.result()
    return result if isinstance(result, kind) else f"not a Recall: {type(result).__name__}"
