"""The offline responder: an ``llm.LLM`` that answers from the memory it was given, and says so.

It is no language model. Without a key there is none, and an honest "I don't know" is worth more
than an imitation: it quotes the memories that were recalled, says when there are none, and claims
only what the ledger says was done.
"""

from __future__ import annotations

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

from bmo.agent.placement import last_user_message, memory_blocks, words_of_assistant_before
from bmo.chat.outcome import Outcome
from bmo.chat.replies import reply
from bmo.language import LanguageCode, clean, identify
from bmo.settings import Settings, load_settings
from bmo.turn import utc_now

NAME = "offline responder"
"""How it is named on the screen."""

LOOKED_BACK = 4
"""The user's turns, this one among them, that tell the language of a few words."""

FEW_WORDS = 2
"""So few words may be of any language."""


class OfflineResponder(llm.LLM[Any]):
    """Answers from what memory gave for a turn.

    Attributes:
        settings: For BMO_LANGUAGE.
        outcome: What became of the turn with these words, once it is written; None: nobody knows,
            and nothing is claimed.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        """A responder that is told nothing of outcomes yet.

        Args:
            settings: None: environment and defaults.
        """
        super().__init__()
        self.settings = settings or load_settings()
        self.outcome: Callable[[str], Awaitable[Outcome | None]] | None = None

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
        message, _ = last_user_message(self._chat_ctx)
        words = (message.text_content or "") if message is not None else ""
        asked = words_of_assistant_before(self._chat_ctx, message)
        tell = self._responder.outcome
        said = reply(
            words,
            memory_blocks(self._chat_ctx),
            None if tell is None else await tell(words),
            self._language(words, asked),
            utc_now(),
            asked,
        )
        self._event_ch.send_nowait(
            llm.ChatChunk(
                id=utils.shortuuid(), delta=llm.ChoiceDelta(role="assistant", content=said)
            )
        )

    def _language(self, words: str, asked: str) -> LanguageCode:
        """The language of the conversation: a word or two say little of theirs ("ta", "no")."""
        said = [m.text_content or "" for m in self._chat_ctx.messages() if m.role == "user"]
        before = " ".join(said[-LOOKED_BACK:-1])
        told = f"{before} {words}" if len(words.split()) <= FEW_WORDS else words
        setting = self._responder.settings.bmo_language
        return identify(clean(told), setting=setting, previous=f"{before} {asked}") or "en"
