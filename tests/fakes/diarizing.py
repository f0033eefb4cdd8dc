"""A recogniser that tells voices apart: a turn is made of final transcripts with speaker labels."""

from __future__ import annotations

from collections import deque
from typing import Any

from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    APIConnectOptions,
    LanguageCode,
    NotGivenOr,
    stt,
    utils,
)
from livekit.agents.utils.audio import AudioBuffer

Said = tuple[str | None, str]
"""(label or None, words)."""


class DiarizingRecogniser(stt.STT[Any]):
    """Says the queued transcripts of one turn at each flush."""

    def __init__(self) -> None:
        super().__init__(
            capabilities=stt.STTCapabilities(
                streaming=True, interim_results=True, diarization=True, manual_flush=True
            )
        )
        self._script: deque[tuple[Said, ...]] = deque()

    def will_hear(self, *turn: Said) -> None:
        """Queues one turn: who said what, in order."""
        self._script.append(turn)

    def next_turn(self) -> tuple[Said, ...]:
        """Takes what is to be heard now."""
        return self._script.popleft() if self._script else ()

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> stt.SpeechEvent:
        raise AssertionError("this recogniser streams")

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.RecognizeStream:
        return _Stream(self, conn_options)


class _Stream(stt.RecognizeStream):
    def __init__(self, recogniser: DiarizingRecogniser, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=recogniser, conn_options=conn_options)
        self._recogniser = recogniser

    async def _run(self) -> None:
        async for item in self._input_ch:
            if not isinstance(item, self._FlushSentinel):
                continue
            for label, words in self._recogniser.next_turn():
                for kind in (
                    stt.SpeechEventType.INTERIM_TRANSCRIPT,
                    stt.SpeechEventType.FINAL_TRANSCRIPT,
                ):
                    self._event_ch.send_nowait(_event(kind, label, words))


def _event(kind: stt.SpeechEventType, label: str | None, words: str) -> stt.SpeechEvent:
    data = stt.SpeechData(language=LanguageCode("en"), text=words, confidence=0.9, speaker_id=label)
    return stt.SpeechEvent(type=kind, request_id=utils.shortuuid(), alternatives=[data])
