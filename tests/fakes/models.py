"""Models for LiveKit sessions in tests: they speak the framework's real protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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

Rule = Callable[[llm.ChatContext], str | llm.FunctionToolCall]


class RuleLLM(llm.LLM[Any]):
    """Answers by a rule on the context and notes every context it was given."""

    def __init__(self, rule: Rule | str = "Okay.", *, delay_s: float = 0.0) -> None:
        super().__init__()
        self.rule: Rule = (lambda _: rule) if isinstance(rule, str) else rule
        self.delay_s = delay_s
        self.contexts: list[llm.ChatContext] = []

    @property
    def last_texts(self) -> list[tuple[str, str]]:
        """(role, text) of the messages of the latest call."""
        return [(m.role, m.text_content or "") for m in self.contexts[-1].messages()]

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
        self.contexts.append(chat_ctx.copy())
        return _RuleStream(self, chat_ctx, tools or [], conn_options)


class _RuleStream(llm.LLMStream):
    def __init__(
        self,
        model: RuleLLM,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool],
        conn_options: APIConnectOptions,
    ) -> None:
        super().__init__(model, chat_ctx=chat_ctx, tools=tools, conn_options=conn_options)
        self._model = model

    async def _run(self) -> None:
        if self._model.delay_s:
            await asyncio.sleep(self._model.delay_s)
        answer = self._model.rule(self._chat_ctx)
        delta = (
            llm.ChoiceDelta(role="assistant", content=answer)
            if isinstance(answer, str)
            else llm.ChoiceDelta(role="assistant", tool_calls=[answer])
        )
        self._event_ch.send_nowait(llm.ChatChunk(id=utils.shortuuid(), delta=delta))


class EventSTT(stt.STT[Any]):
    """A recogniser whose events the test sends itself: interim, preflight, final, end of speech."""

    def __init__(self) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=True))
        self._streams: list[_EventStream] = []
        self._early: list[stt.SpeechEvent] = []

    def say(
        self,
        kind: stt.SpeechEventType,
        text: str = "",
        *,
        language: str = "en",
        speaker_id: str | None = None,
    ) -> None:
        """Sends one event into the running stream."""
        data = [
            stt.SpeechData(
                language=LanguageCode(language), text=text, confidence=0.9, speaker_id=speaker_id
            )
        ]
        event = stt.SpeechEvent(
            type=kind, request_id=utils.shortuuid(), alternatives=data if text else []
        )
        if self._streams:
            self._streams[-1].send(event)
        else:
            self._early.append(event)

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> stt.SpeechEvent:
        return stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT)

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.RecognizeStream:
        stream = _EventStream(self, conn_options)
        self._streams.append(stream)
        for event in self._early:
            stream.send(event)
        self._early.clear()
        return stream


class _EventStream(stt.RecognizeStream):
    def send(self, event: stt.SpeechEvent) -> None:
        self._event_ch.send_nowait(event)

    def __init__(self, recogniser: EventSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=recogniser, conn_options=conn_options)

    async def _run(self) -> None:
        async for _ in self._input_ch:
            pass
