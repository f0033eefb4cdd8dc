"""``bmo chat``: a text conversation through a real ``AgentSession``, the hook and the memory.

Every line goes the way a spoken turn goes (``user_turn``); the terminal has no path of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from livekit.agents import AgentSession, llm
from rich.console import Console

from bmo.agent import MemoryAgent, prepare, user_turn
from bmo.agent.models import google_llm
from bmo.chat.commands import Commands
from bmo.chat.listening import lines_of
from bmo.chat.outcome import Outcomes
from bmo.chat.responder import NAME as OFFLINE_NAME
from bmo.chat.responder import OfflineResponder
from bmo.chat.screen import Screen
from bmo.language.identification import warm_up as load_identification
from bmo.settings import Settings
from bmo.telemetry import debug_to_stderr, quiet_logs

if TYPE_CHECKING:
    from bmo.agent import HeardTurn
    from bmo.memory import MemoryService

logger = logging.getLogger(__name__)

INSTRUCTIONS = (
    "You are BMO, a friendly assistant who remembers what matters about the person you talk "
    "with. Answer in one to three short sentences. Use what is remembered when it helps; never "
    "claim to remember what is not there."
)

REPLY_TIMEOUT_S = 60.0
"""Longest wait for a reply."""

RECALL_DEADLINE_MS = 1000
"""Milliseconds recall may take for a typed turn, unless BMO_RECALL_DEADLINE_MS says otherwise."""

RECORD_TIMEOUT_S = 5.0
"""Longest wait for a turn's record before its line is shown without it."""


async def run_chat(
    settings: Settings,
    *,
    stdin: TextIO | None = None,
    console: Console | None = None,
    responder: llm.LLM[Any] | None = None,
) -> int:
    """Talks until the end of input, ``/quit``, Ctrl-C or SIGTERM; flushes and leaves.

    Args:
        settings: Settings of this process.
        stdin: Where lines come from; None: the process's.
        console: Where to print; None: standard output.
        responder: Who replies; None: Gemini with GOOGLE_API_KEY, else the offline responder.

    Returns:
        Exit code: 0; 1 where the ledger did not take all that was said.

    Raises:
        MemoryUnavailable: The store cannot be opened; the message names the fix.
    """
    source = stdin if stdin is not None else sys.stdin
    screen = Screen(console or Console(highlight=False), echo=not source.isatty())
    if settings.gatekeeper_debug:
        debug_to_stderr()
    with quiet_logs(), _leaving() as leave:
        from bmo.memory import MemoryService

        model = responder or _responder(settings)
        service = await MemoryService.open(_patient(settings))
        try:
            # While the person reads and types; the first question must not wait for rules.
            warm = asyncio.create_task(_warmed(service))
            memory = service.session(user_id=settings.bmo_user_id)
            agent = MemoryAgent(memory=memory, instructions=INSTRUCTIONS)
            await prepare(agent)
            if isinstance(model, OfflineResponder):
                model.outcome = Outcomes(agent.conversation)
            _welcome(screen, service, model)
            known = len(service.notices)
            session = _typed_session(model)
            await session.start(agent, record=False)
            await warm
            try:
                await _talk(_Conversation(screen, agent, session), source, leave)
            finally:
                await session.aclose()
                await memory.aclose()
        finally:
            await service.aclose()
            await model.aclose()
        if wrong := service.notices[known:]:
            for notice in wrong:
                screen.note(notice.message)
            return 1
    return 0


def _typed_session(model: llm.LLM[Any]) -> AgentSession[Any]:
    """A session that hears nothing: its turns are typed, and end when they are sent."""
    return AgentSession(
        llm=model,
        vad=None,
        user_away_timeout=None,
        session_close_transcript_timeout=0,
        turn_handling={"turn_detection": "manual"},
    )


class _Conversation:
    """The parts of a running chat."""

    def __init__(self, screen: Screen, agent: MemoryAgent, session: AgentSession[Any]) -> None:
        self.screen = screen
        self.agent = agent
        self.session = session
        self.commands = Commands(screen, agent.conversation)

    async def line(self, text: str) -> bool:
        """One line of the person; False when it ends the conversation."""
        if not text.strip():
            return True
        self.screen.said(text)
        if text.startswith("/"):
            return await self.commands.run(text)
        before = self.agent.conversation.latest
        self.screen.reply(await self._reply(text))
        heard = self.agent.conversation.latest
        if not await self._memory_line(heard if heard is not before else None):
            return True  # the ledger takes nothing now: waiting longer changes nothing
        # What the turn left to do is done before the next line is read: lines that come from a
        # pipe get the same answers on a slow machine.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(RECORD_TIMEOUT_S):
                await self.agent.conversation.memory.flush()
        return True

    async def _reply(self, text: str) -> str:
        try:
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                handle = await user_turn(self.session, text)
                if handle is None:
                    return "(no reply)"
                await handle
        except TimeoutError:
            return f"(no reply within {REPLY_TIMEOUT_S:.0f} seconds)"
        error = handle.exception()
        if error is not None:
            return f"(no reply: {_first_line(error)})"
        said = [
            item.text_content or ""
            for item in handle.chat_items
            if isinstance(item, llm.ChatMessage) and item.role == "assistant"
        ]
        return " ".join(said) or "(no reply)"

    async def _memory_line(self, heard: HeardTurn | None) -> bool:
        """Shows what became of a turn; False when it was not written in time."""
        if self.screen.quiet or heard is None:
            return True
        decision = recorded = None
        trouble = heard.error
        memory = self.agent.conversation.memory
        try:
            async with asyncio.timeout(RECORD_TIMEOUT_S):
                if heard.decision is not None:
                    decision = await asyncio.shield(heard.decision)
                    recorded = await memory.recorded(heard.turn.id)
        except TimeoutError:
            trouble = "not written down yet"
        except Exception as error:  # shown to the person; the conversation goes on
            trouble = f"not written down: {_first_line(error)}"
        kept = memory.keeps(heard.said)
        if kept and decision is not None and recorded is None:
            trouble = trouble or "not written down yet"
        self.screen.memory_line(decision, recorded, heard.given, trouble, kept=kept)
        return not kept or recorded is not None


async def _talk(conversation: _Conversation, source: TextIO, leave: asyncio.Event) -> None:
    """Takes lines until there are no more or someone leaves."""
    lines = lines_of(source)
    leaving = asyncio.ensure_future(leave.wait())
    try:
        while True:
            line = asyncio.ensure_future(_next(lines))
            await asyncio.wait({line, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not line.done():
                line.cancel()
                return
            text = line.result()
            if text is None or not await conversation.line(text):
                return
    finally:
        leaving.cancel()


async def _next(lines: AsyncIterator[str]) -> str | None:
    return await anext(lines, None)


async def _warmed(service: MemoryService) -> None:
    try:
        await asyncio.to_thread(service.warm_up)
        if service.settings.bmo_language == "auto":
            await asyncio.to_thread(load_identification)  # typed words have no language tag
    except Exception as error:  # the first turn pays for loading, and says what is wrong
        logger.warning("memory not warmed up", extra={"error": repr(error)})


def _patient(settings: Settings) -> Settings:
    """Settings for typing: nobody hears a pause, so recall may take longer than in speech."""
    if "bmo_recall_deadline_ms" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"bmo_recall_deadline_ms": RECALL_DEADLINE_MS})


def _responder(settings: Settings) -> llm.LLM[Any]:
    return OfflineResponder(settings) if settings.google_api_key is None else google_llm(settings)


def _welcome(screen: Screen, service: MemoryService, model: llm.LLM[Any]) -> None:
    settings = service.settings
    who = (
        f"the {OFFLINE_NAME} (no GOOGLE_API_KEY; it answers from memory only)"
        if model.model == OFFLINE_NAME
        else model.model
    )
    gate = settings.effective_mode if settings.mem0_setting == "GATED" else "none"
    screen.note(
        f"BMO remembers {settings.bmo_user_id!r}. Gate: {gate}. Replies: {who}. /help, /quit"
    )
    for notice in service.notices:
        screen.note(notice.message)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


@contextlib.contextmanager
def _leaving() -> Iterator[asyncio.Event]:
    """An event that Ctrl-C and SIGTERM set; a second Ctrl-C interrupts as usual."""
    leave = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask() -> None:
        leave.set()
        loop.remove_signal_handler(signal.SIGINT)

    try:
        loop.add_signal_handler(signal.SIGINT, ask)
        loop.add_signal_handler(signal.SIGTERM, leave.set)
    except (NotImplementedError, ValueError, RuntimeError):
        # Windows, or not the main thread: Ctrl-C then cancels the conversation's task instead.
        yield leave
        return
    try:
        yield leave
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
