"""A realtime model that keeps to livekit-agents' protocol: server-side turns and transcripts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Literal

from livekit import rtc
from livekit.agents import NOT_GIVEN, NotGivenOr, llm, utils


class FakeRealtimeModel(llm.RealtimeModel):
    """Answers every committed turn with a fixed text.

    Attributes:
        sessions: Sessions that were opened.
        reply: What it says.
        calls: Tools it calls with its next answer, as (name, JSON arguments).
        held: While not set, an answer stops after its first word.
        asked: Instructions of the replies it was asked for.
    """

    def __init__(
        self,
        *,
        reply: str = "Okay.",
        user_transcription: bool = True,
        turn_detection: bool = True,
    ) -> None:
        super().__init__(
            capabilities=llm.RealtimeCapabilities(
                message_truncation=False,
                turn_detection=turn_detection,
                user_transcription=user_transcription,
                auto_tool_reply_generation=False,
                audio_output=False,
                manual_function_calls=False,
                mutable_chat_context=True,
                mutable_instructions=True,
                mutable_tools=True,
            )
        )
        self.reply = reply
        self.calls: list[tuple[str, str]] = []
        self.asked: list[str] = []
        self.held = asyncio.Event()
        self.held.set()
        self.sessions: list[FakeRealtimeSession] = []

    @property
    def model(self) -> str:
        return "fake-live"

    @property
    def provider(self) -> str:
        return "tests"

    def session(self, *, turn_detection_disabled: bool = False) -> FakeRealtimeSession:
        session = FakeRealtimeSession(self)
        self.sessions.append(session)
        return session

    async def aclose(self) -> None:
        pass


class FakeRealtimeSession(llm.RealtimeSession[Any]):
    """One connection: notes instructions and tools, and speaks when the test says so."""

    def __init__(self, model: FakeRealtimeModel) -> None:
        super().__init__(model)
        self._fake = model
        self._chat_ctx = llm.ChatContext.empty()
        self._tools = llm.ToolContext.empty()
        self.instructions = ""

    def hears(self, words: str) -> None:
        """The server ended the user's turn: transcript, then a reply of its own accord."""
        item_id = utils.shortuuid("item_")
        self.emit("input_speech_started", llm.InputSpeechStartedEvent())
        self.emit(
            "input_speech_stopped", llm.InputSpeechStoppedEvent(user_transcription_enabled=True)
        )
        self.transcribes(words, item_id)
        self.emit("generation_created", self._generation(user_initiated=False))

    def transcribes(self, words: str, item_id: str | None = None) -> None:
        """The server says what it heard, if it does so at all."""
        if self.capabilities.user_transcription:
            self.emit(
                "input_audio_transcription_completed",
                llm.InputTranscriptionCompleted(
                    item_id=item_id or utils.shortuuid("item_"), transcript=words, is_final=True
                ),
            )

    def _generation(self, *, user_initiated: bool) -> llm.GenerationCreatedEvent:
        async def text() -> AsyncIterator[str]:
            first, _, rest = self._fake.reply.partition(" ")
            yield first
            await self._fake.held.wait()
            if rest:
                yield f" {rest}"

        async def audio() -> AsyncIterator[rtc.AudioFrame]:
            nothing: tuple[rtc.AudioFrame, ...] = ()
            for frame in nothing:
                yield frame

        modalities: asyncio.Future[list[Literal["text", "audio"]]] = asyncio.Future()
        modalities.set_result(["text"])

        async def messages() -> AsyncIterator[llm.MessageGeneration]:
            yield llm.MessageGeneration(
                message_id=utils.shortuuid("item_"),
                text_stream=text(),
                audio_stream=audio(),
                modalities=modalities,
            )

        async def calls() -> AsyncIterator[llm.FunctionCall]:
            while self._fake.calls:
                name, arguments = self._fake.calls.pop(0)
                call_id = utils.shortuuid("call_")
                yield llm.FunctionCall(call_id=call_id, name=name, arguments=arguments)

        return llm.GenerationCreatedEvent(
            message_stream=messages(),
            function_stream=calls(),
            user_initiated=user_initiated,
            response_id=utils.shortuuid("response_"),
        )

    @property
    def chat_ctx(self) -> llm.ChatContext:
        return self._chat_ctx

    @property
    def tools(self) -> llm.ToolContext:
        return self._tools

    async def update_instructions(self, instructions: str) -> None:
        self.instructions = instructions

    async def update_chat_ctx(self, chat_ctx: llm.ChatContext) -> None:
        self._chat_ctx = chat_ctx.copy()

    async def update_tools(self, tools: list[llm.Tool]) -> None:
        self._tools = llm.ToolContext(list(tools))

    def update_options(self, *, tool_choice: NotGivenOr[llm.ToolChoice | None] = NOT_GIVEN) -> None:
        pass

    def push_audio(self, frame: rtc.AudioFrame) -> None:
        pass

    def push_video(self, frame: rtc.VideoFrame) -> None:
        pass

    def generate_reply(
        self,
        *,
        instructions: NotGivenOr[str] = NOT_GIVEN,
        tool_choice: NotGivenOr[llm.ToolChoice] = NOT_GIVEN,
        tools: NotGivenOr[list[llm.Tool]] = NOT_GIVEN,
    ) -> asyncio.Future[llm.GenerationCreatedEvent]:
        if isinstance(instructions, str):
            self._fake.asked.append(instructions)
        future: asyncio.Future[llm.GenerationCreatedEvent] = asyncio.Future()
        event = self._generation(user_initiated=True)
        future.set_result(event)
        self.emit("generation_created", event)
        return future

    def commit_audio(self) -> None:
        pass

    def clear_audio(self) -> None:
        pass

    def interrupt(self) -> None:
        pass

    def truncate(
        self,
        *,
        message_id: str,
        modalities: list[Literal["text", "audio"]],
        audio_end_ms: int,
        audio_transcript: NotGivenOr[str] = NOT_GIVEN,
    ) -> None:
        pass

    async def aclose(self) -> None:
        pass
