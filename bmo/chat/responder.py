"""The offline responder: an ``llm.LLM`` that answers from the memory it was given, and says so.

It is no language model. Without a key there is none, and an honest "I don't know" is worth more
than an imitation: it puts the memories that fit the question into sentences, says when it has
none, and claims nothing about what it did.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    APIConnectOptions,
    NotGivenOr,
    llm,
    utils,
)

from bmo.agent.placement import memory_blocks
from bmo.chat.acknowledgement import Kept
from bmo.chat.wording import answer, asks_for_source
from bmo.gate import WriteGate
from bmo.settings import Settings, load_settings
from bmo.turn import Turn

logger = logging.getLogger(__name__)

NAME = "offline responder"
"""How it is named on the screen."""


class OfflineResponder(llm.LLM[Any]):
    """Answers from the memory blocks in its chat context.

    Attributes:
        rules: Tell a question from a command.
        outcome: What became of the turn with these words, once it is written; None: nobody knows,
            and nothing is claimed.
        source: Where the memories come from that some words name ("": the latest answer's); None:
            nobody knows.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        """Prepares the rules that tell a question from a command.

        Args:
            settings: None: environment and defaults.
        """
        super().__init__()
        # Its look at the words is no decision about them: nothing of it is logged.
        quiet = (settings or load_settings()).model_copy(update={"gatekeeper_debug": False})
        self.rules = WriteGate.from_settings(quiet, load_judge=False)
        self.outcome: Callable[[str], Awaitable[Kept | None]] | None = None
        self.source: Callable[[str], Awaitable[str]] | None = None

    @property
    def model(self) -> str:
        """Its name."""
        return NAME

    @property
    def provider(self) -> str:
        """Who runs it."""
        return "bmo"

    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        parallel_tool_calls: NotGivenOr[bool] = NOT_GIVEN,
        tool_choice: NotGivenOr[llm.ToolChoice] = NOT_GIVEN,
        extra_kwargs: NotGivenOr[dict[str, Any]] = NOT_GIVEN,
    ) -> llm.LLMStream:
        """One reply made from the context."""
        return _Reply(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _Reply(llm.LLMStream):
    def __init__(
        self,
        responder: OfflineResponder,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(responder, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._responder = responder

    async def _run(self) -> None:
        words = ""
        for message in self._chat_ctx.messages():
            if message.role == "user":
                words = message.text_content or ""
        blocks = memory_blocks(self._chat_ctx)
        try:
            signals = self._responder.rules.decide_by_rules(Turn(words)).signals
        except Exception as error:  # whatever part of memory fails, the reply comes
            logger.error("no signals for the offline reply", extra={"error": repr(error)})
            signals = ()
        kept = None if self._responder.outcome is None else await self._responder.outcome(words)
        source = await self._source_of(words)
        self._event_ch.send_nowait(
            llm.ChatChunk(
                id=utils.shortuuid(),
                delta=llm.ChoiceDelta(
                    role="assistant", content=answer(words, blocks, signals, kept, source)
                ),
            )
        )

    async def _source_of(self, words: str) -> str | None:
        named = asks_for_source(words)
        if named is None or self._responder.source is None:
            return None
        try:
            return await self._responder.source(named)
        except Exception as error:  # the ledger's; the reply then says how to look it up
            logger.warning("no source for the offline reply", extra={"error": repr(error)})
            return None
