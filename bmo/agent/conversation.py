"""One conversation: every turn of it gated exactly once, whichever way the turn came.

A turn can come through the agent's hook (speech, or typed words through ``user_turn``), or only as
a conversation item (``session.run``, room chat, ``console --text``, a realtime model, last words
at close). ``ConversationMemory`` listens to both and keeps one record a turn, so that what came
one way is not gated again the other way.

Nothing of memory may reach the framework as an error; every call into memory is guarded and has a
deadline (``bmo.agent.background``, ``bmo.agent.context_injection``).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from livekit.agents import (
    Agent,
    AgentSession,
    ConversationItemAddedEvent,
    UserInputTranscribedEvent,
    UserStateChangedEvent,
    llm,
)
from livekit.agents.voice.events import CloseEvent, EventTypes

from bmo import telemetry
from bmo.agent import session_channel
from bmo.agent.background import Background, contained
from bmo.agent.context_injection import ContextInjection
from bmo.agent.guests import Guests
from bmo.agent.heard import HeardTurn, HeardTurns
from bmo.agent.live_profile import LiveProfile
from bmo.agent.live_transcripts import LiveTranscripts, is_realtime, model_of
from bmo.agent.placement import last_user_message, take_memory_away
from bmo.agent.speakers import NameSpeaker, Part, Speakers, typed_by_user
from bmo.agent.turn_gating import TurnGating, speaks_for
from bmo.ids import identity_of
from bmo.turn import Recall, Turn

if TYPE_CHECKING:
    from bmo.memory import MemorySession

FLUSH_TIMEOUT_S = 60.0
"""Seconds a flush may take before the conversation ends without it."""


class ConversationMemory:
    """What the agents of one visit share: one memory session, one record a turn.

    Attributes:
        memory: The memory session of the user.
        live_profile: Tells realtime models the profile.
    """

    def __init__(self, memory: MemorySession, name_speaker: NameSpeaker | None = None) -> None:
        """Listens to nothing yet; see ``bind``."""
        self.memory = memory
        self._background = Background()
        self._guests = Guests(memory)
        self._speakers = Speakers(
            memory.user_id,
            memory.session_id,
            name_speaker,
            participant=lambda: memory.participant,
        )
        self._injection = ContextInjection(memory, self._guests, self._background)
        self.live_profile = LiveProfile(self._injection, self._speakers, self._background)
        self._live_transcripts = LiveTranscripts()
        self._turns = HeardTurns()
        self._gating = TurnGating(
            memory, self._guests, self._speakers, self._turns, self._background
        )
        self._agents: WeakSet[Agent] = WeakSet()
        self._sessions: WeakSet[AgentSession[Any]] = WeakSet()
        self._finals: list[Part] = []

    @property
    def turns(self) -> deque[HeardTurn]:
        """Records of the latest turns that were gated, oldest first."""
        return self._turns.gated

    @property
    def latest(self) -> HeardTurn | None:
        """The record of the latest turn that was gated, or None before the first."""
        return self.turns[-1] if self.turns else None

    @property
    def profile(self) -> Recall | None:
        """The once-per-session profile once it is there, or None."""
        return self._injection.profile

    # -- joining -------------------------------------------------------------------------------

    def admit(self, agent: Agent) -> None:
        """Turns that ``agent`` hears belong to this conversation."""
        self._agents.add(agent)

    def joined(self, agent: Agent, session: AgentSession[Any]) -> None:
        """An agent runs in a session: what stands in its context already was said before."""
        self.bind(session)
        self._background.guarded("history", self._turns.pass_by, agent.chat_ctx.messages())

    def bind(self, session: AgentSession[Any]) -> None:
        """Listens to a session's events. Safe to call twice."""
        if session in self._sessions:
            return
        self._sessions.add(session)

        guarded = self._background.guarded
        user = self.memory.participant or identity_of(self.memory.user_id)
        guarded("channel", session_channel.keep_to, session, user)
        guarded("link", self._speakers.watch, session, self.live_profile.renew)
        handlers: dict[EventTypes, tuple[str, Callable[..., None]]] = {
            "user_state_changed": ("item", self._on_user_state),
            "user_input_transcribed": ("prefetch", self._on_transcribed),
            "conversation_item_added": ("item", self._on_item),
            "speech_created": ("item", self._gate_transcripts),
            "close": ("item", self._on_close),
        }
        for event, (part, handler) in handlers.items():
            session.on(event, partial(guarded, part, handler, session))
        self._injection.load_profile()

    async def ready(self) -> Recall | None:
        """The profile, as soon as it is there; None when it cannot be had within the deadline."""
        return await self._injection.ready()

    async def flush(self) -> None:
        """Waits until every turn heard so far is written down. Never raises."""
        with contained("flush"):
            async with asyncio.timeout(FLUSH_TIMEOUT_S):
                await self.memory.flush()
                await self._guests.flush()

    async def aclose(self) -> None:
        """Writes down what is in flight and ends the visit, the guests' too."""
        await self._guests.aclose()
        await self.memory.aclose()

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
        """
        began = time.perf_counter()
        guarded = self._background.guarded
        opened: tuple[HeardTurn, Sequence[Part]] | None = None
        if guarded("hook", _hook_hears, agent, new_message) is not False:
            opened = guarded("hook", self._open_from_hook, agent, turn_ctx, new_message)
        memory_s = time.perf_counter() - began
        try:
            await own_hook(turn_ctx, new_message=new_message)
            if opened is not None and typed_by_user(new_message) and is_realtime(agent):
                # Its item will have another id: LiveKit makes the message anew for such a model.
                self._turns.expect(opened[0])
        finally:
            began = time.perf_counter()
            if opened is not None:
                text = new_message.text_content or ""
                guarded("hook", self._gating.gate, *opened, text, "hook")
                memory_s += time.perf_counter() - began
                telemetry.note("bmo_hook_duration_seconds", memory_s)

    async def before_model(self, agent: Agent, chat_ctx: llm.ChatContext) -> None:
        """Puts profile and recall into the context a model is about to get. Never raises.

        Also runs for a preemptive reply, which may be thrown away: nothing is gated here.
        """
        with contained("inject"):
            message, answered = last_user_message(chat_ctx)
            heard: HeardTurn | None = None
            if message is not None:
                heard = self._turns.of_message(message)
                if heard is None and not answered:
                    heard = self._draft(agent, message, chat_ctx)
                    self._background.guarded("item", self._gate_unannounced, agent, message, heard)
            for_user = self._is_for_user(agent, None if answered else heard)
            if not for_user:
                take_memory_away(chat_ctx, before=message)
                heard = None if answered else heard
            await self._injection.inject(chat_ctx, heard, message, with_profile=for_user)

    def _is_for_user(self, agent: Agent, heard: HeardTurn | None) -> bool:
        """Whether a reply is the user's: to his words, or to none while the session hears him."""
        if heard is not None:
            return not heard.speaker
        return not self._speakers.listening_to(agent.session)

    @property
    def hears_user(self) -> bool:
        """Whether the user speaks and not a guest: no other turn's tools may act on memory."""
        latest = self.latest
        return not (latest and latest.speaker) and not any(
            self._speakers.listening_to(session) for session in self._sessions
        )

    # -- records -------------------------------------------------------------------------------

    def _open_from_hook(
        self, agent: Agent, turn_ctx: llm.ChatContext, message: llm.ChatMessage
    ) -> tuple[HeardTurn, Sequence[Part]] | None:
        """The record of a turn that came through the hook; a preemptive reply may have one."""
        self.bind(agent.session)
        if not (message.text_content or "").strip():
            return None
        if not typed_by_user(message):
            self._live_transcripts.through_hook()
        self._finals.clear()
        parts = self._speakers.parts_of(agent.session, message)
        heard = self._turns.of_message(message)
        if heard is None:
            heard = self._turns.draft_for(message)
            self._turns.drop_drafts()
            if heard is None or heard.speaker != speaks_for(parts):
                heard = self._gating.record(parts, message, turn_ctx)
            self._turns.link(message, heard)
        self._injection.start_recall(heard, message.text_content or "")
        return heard, parts

    def _draft(
        self, agent: Agent, message: llm.ChatMessage, chat_ctx: llm.ChatContext
    ) -> HeardTurn:
        """A record for words a model answers before the turn is complete (or typed words)."""
        heard = self._turns.draft_for(message)
        if heard is None:
            parts = self._speakers.parts_of(agent.session, message)
            heard = self._gating.record(parts, message, chat_ctx)
            self._turns.add_draft(message, heard)
        return heard

    def _gate_unannounced(self, agent: Agent, message: llm.ChatMessage, heard: HeardTurn) -> None:
        """Gates words that were put into an agent's history (``update_chat_ctx``) for a reply.

        Neither hook nor event tells of them. A preemptive reply's are not in the history yet.
        """
        text = message.text_content or ""
        unannounced = agent.chat_ctx.get_by_id(message.id) is not None
        if unannounced and text.strip() and not self._turns.passed_by(message):
            self._gating.gate(heard, self._speakers.parts_of(agent.session, message), text, "item")

    # -- events --------------------------------------------------------------------------------

    def _on_user_state(self, session: AgentSession[Any], event: UserStateChangedEvent) -> None:
        if event.new_state == "speaking":
            self._speakers.begin(session)

    def _on_close(self, session: AgentSession[Any], event: CloseEvent) -> None:
        self._background.guarded("item", self._gate_transcripts, session)
        self._background.start(self.flush())

    def _on_transcribed(self, session: AgentSession[Any], event: UserInputTranscribedEvent) -> None:
        if isinstance(event.language, str) and len(event.language) >= 2:
            self._gating.language = event.language[:2].lower()
        if session.current_agent not in self._agents:
            return
        speaker = self._speakers.hear(session, event)
        earlier = [part.text for part in self._finals if part.speaker == speaker]
        words = " ".join([*earlier, event.transcript]).strip()
        if event.is_final and event.transcript:
            self._finals.append(Part(speaker, event.transcript))
            self._live_transcripts.hear(session, event, speaker)
        memory = self._guests.memory_of(speaker)
        if words and memory is not None:
            memory.prefetch(words)

    def _on_item(self, session: AgentSession[Any], event: ConversationItemAddedEvent) -> None:
        item = event.item
        if not isinstance(item, llm.ChatMessage):
            return
        if all(agent.chat_ctx.get_by_id(item.id) is None for agent in self._agents):
            # Said to or by an agent without this memory. LiveKit puts an item into its agent's
            # context first, and may tell of it when another agent runs already.
            self._turns.pass_by([item])
            return
        self.live_profile.renew()
        text = item.text_content or ""
        if item.role == "assistant":
            self._note_reply(text)
        elif item.role == "user" and text.strip():  # LiveKit commits an empty turn at close
            self._gate_item(session, item, text)

    def _gate_item(self, session: AgentSession[Any], item: llm.ChatMessage, text: str) -> None:
        """The net under the hook: words that only appeared in the conversation."""
        heard = self._turns.of_message(item)
        if heard is not None and heard.way is not None:
            return
        if self._turns.adopted(item) or self._live_transcripts.heard_twice(session, item):
            return
        parts = self._speakers.parts_of(session, item)
        if heard is None:
            heard = self._gating.record(parts, item, None)
            self._turns.link(item, heard)
        self._gate_words(session, heard, parts, text)

    def _gate_transcripts(self, session: AgentSession[Any], event: object = None) -> None:
        """Gates what only a recogniser heard beside a realtime model, when its turn is over."""
        parts = self._live_transcripts.turn()
        if not parts:
            return
        message = llm.ChatMessage(role="user", content=[" ".join(part.text for part in parts)])
        heard = self._gating.record(parts, message, None)
        self._gate_words(session, heard, parts, message.text_content or "")

    def _gate_words(
        self, session: AgentSession[Any], heard: HeardTurn, parts: Sequence[Part], text: str
    ) -> None:
        """Gates a turn that no hook saw.

        A realtime model answers of its own accord, and gets no context of each turn to read a
        notice in: what must be said of memory is looked up from before the turn is gated, and the
        model asked for a reply of its own.
        """
        self._finals.clear()
        memory = self._guests.memory_of(heard.speaker)
        if memory is not None and is_realtime(session.current_agent, session):
            self._background.start(_say_notice(session, memory, heard.turn))
        self._gating.gate(heard, parts, text, "item")

    def _note_reply(self, text: str) -> None:
        self._gating.last_words = text
        latest = self.latest
        if latest is None or not text:
            return
        latest.reply = f"{latest.reply} {text}".strip()
        memory = self._guests.memory_of(latest.speaker)
        if memory is not None:
            memory.note_reply(latest.turn.id, latest.reply)


async def _say_notice(session: AgentSession[Any], memory: MemorySession, turn: Turn) -> None:
    """Has a realtime model say what memory must have said after a turn."""
    with contained("notice"):
        notice: object = await memory.notice(turn)
        if isinstance(notice, str) and notice:
            session.generate_reply(instructions=notice)


def _hook_hears(agent: Agent, message: llm.ChatMessage) -> bool:
    """Whether the hook has the words of this turn.

    With a realtime model that transcribes, what is spoken comes as conversation items; the hook
    (which fires only with client-side turn detection) then has no words or other ones.
    """
    model = model_of(agent)
    transcribes = isinstance(model, llm.RealtimeModel) and model.capabilities.user_transcription
    return not transcribes or typed_by_user(message)
