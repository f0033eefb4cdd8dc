"""The two actors of a replay: a recogniser that "hears" the script and an assistant that reads it.

Both speak livekit-agents' real protocol, so a scenario goes through the same ``AgentSession``, the
same hook and the same ``llm_node`` as a spoken conversation.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    APIConnectOptions,
    LanguageCode,
    NotGivenOr,
    llm,
    stt,
    utils,
)
from livekit.agents.utils.audio import AudioBuffer


class ScriptedRecogniser(stt.STT[Any]):
    """Says the queued words at each flush, as a recogniser does when a turn is committed."""

    def __init__(self, language: str) -> None:
        """Hears nothing until ``will_hear``."""
        super().__init__(
            capabilities=stt.STTCapabilities(
                streaming=True, interim_results=False, manual_flush=True
            )
        )
        self.language = LanguageCode(language)
        self._script: deque[str] = deque()

    def will_hear(self, words: str) -> None:
        """Queues what is heard at the next flush."""
        self._script.append(words)

    def next_words(self) -> str | None:
        """Takes what is to be heard now, or None."""
        return self._script.popleft() if self._script else None

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> stt.SpeechEvent:
        return _final(self.next_words() or "", self.language)

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.RecognizeStream:
        """A stream that says the script."""
        return _ScriptedStream(self, conn_options)


class _ScriptedStream(stt.RecognizeStream):
    def __init__(self, recogniser: ScriptedRecogniser, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=recogniser, conn_options=conn_options)
        self._recogniser = recogniser

    async def _run(self) -> None:
        async for item in self._input_ch:
            if isinstance(item, self._FlushSentinel):
                words = self._recogniser.next_words()
                if words is not None:
                    self._event_ch.send_nowait(_final(words, self._recogniser.language))


def _final(words: str, language: LanguageCode) -> stt.SpeechEvent:
    return stt.SpeechEvent(
        type=stt.SpeechEventType.FINAL_TRANSCRIPT,
        request_id=utils.shortuuid(),
        alternatives=[stt.SpeechData(language=language, text=words, confidence=1.0)],
    )


class ScriptedAssistant(llm.LLM[Any]):
    """Answers each turn with the line that was set for it.

    Attributes:
        line: What it says next.
    """

    def __init__(self) -> None:
        """Says nothing until ``line`` is set."""
        super().__init__()
        self.line = ""

    @property
    def model(self) -> str:
        """Name shown in telemetry."""
        return "scripted"

    @property
    def provider(self) -> str:
        """Provider shown in telemetry."""
        return "bmo.replay"

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
        """One reply: the line."""
        return _Line(self, chat_ctx, tools or [], conn_options, self.line)


class _Line(llm.LLMStream):
    def __init__(
        self,
        assistant: ScriptedAssistant,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool],
        conn_options: APIConnectOptions,
        line: str,
    ) -> None:
        super().__init__(assistant, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._line = line

    async def _run(self) -> None:
        self._event_ch.send_nowait(
            llm.ChatChunk(
                id=utils.shortuuid(),
                delta=llm.ChoiceDelta(role="assistant", content=self._line or "."),
            )
        )
