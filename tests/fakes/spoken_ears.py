"""A recogniser without network: pocketsphinx with a closed grammar, as a LiveKit STT."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
from livekit.agents.stt import SpeechEventType
from livekit.agents.utils.audio import AudioBuffer
from pocketsphinx import Config, Decoder, Endpointer, get_model_path

SAMPLE_RATE = 16_000

INTERIM_EVERY_S = 0.3
"""Seconds of speech between two interim transcripts."""


def grammar_of(sentences: Sequence[str]) -> str:
    """A JSGF grammar that knows these sentences; "(sam|tom)" stands for one of its words."""
    return "#JSGF V1.0;\ngrammar spoken;\npublic <spoken> = " + "\n | ".join(sentences) + ";\n"


class PocketsphinxSTT(stt.STT[Any]):
    """Hears the sentences of a grammar and nothing else."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=True, interim_results=True))
        self._grammar = grammar_of(sentences)
        self.heard: list[str] = []
        """Final transcripts, in order."""

    def decoder(self) -> Decoder:
        """A decoder of its own for one stream."""
        model = get_model_path("en-us")
        config = Config(
            hmm=f"{model}/en-us", dict=f"{model}/cmudict-en-us.dict", lm=None, loglevel="FATAL"
        )
        made = Decoder(config)
        made.add_jsgf_string("spoken", self._grammar)
        made.activate_search("spoken")
        return made

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> stt.SpeechEvent:
        raise RuntimeError("this recogniser only listens to streams")

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.RecognizeStream:
        return _Listening(self, conn_options)


class _Listening(stt.RecognizeStream):
    def __init__(self, ears: PocketsphinxSTT, conn_options: APIConnectOptions) -> None:
        super().__init__(stt=ears, conn_options=conn_options, sample_rate=SAMPLE_RATE)
        self._ears = ears

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        # Decoding blocks, and a decoder belongs to one thread.
        with ThreadPoolExecutor(1, "pocketsphinx") as thread:
            segments = await loop.run_in_executor(thread, _Segments, self._ears.decoder)
            waiting = bytearray()
            async for item in self._input_ch:
                if isinstance(item, self._FlushSentinel):
                    continue
                waiting += bytes(item.data)
                while len(waiting) >= segments.frame_bytes:
                    frame = bytes(waiting[: segments.frame_bytes])
                    del waiting[: segments.frame_bytes]
                    for kind, text in await loop.run_in_executor(thread, segments.hear, frame):
                        self._say(kind, text)
            for kind, text in await loop.run_in_executor(thread, segments.end, bytes(waiting)):
                self._say(kind, text)

    def _say(self, kind: SpeechEventType, text: str) -> None:
        if kind is SpeechEventType.FINAL_TRANSCRIPT:
            self._ears.heard.append(text)
        data = stt.SpeechData(language=LanguageCode("en"), text=text, confidence=0.9)
        self._event_ch.send_nowait(
            stt.SpeechEvent(
                type=kind, request_id=utils.shortuuid(), alternatives=[data] if text else []
            )
        )


class _Segments:
    """Cuts sound into utterances (WebRTC's detector) and decodes each; used in one thread."""

    def __init__(self, make_decoder: Any) -> None:
        self._decoder: Decoder = make_decoder()
        self._ends = Endpointer(sample_rate=SAMPLE_RATE)
        self.frame_bytes: int = self._ends.frame_bytes
        self._speaking = False
        self._since_interim = 0.0
        self._interim = ""

    def hear(self, frame: bytes) -> list[tuple[SpeechEventType, str]]:
        """What one frame of sound brings."""
        speech = self._ends.process(frame)
        return [] if speech is None else self._decode(speech, ended=not self._ends.in_speech)

    def end(self, rest: bytes) -> list[tuple[SpeechEventType, str]]:
        """What is left when the sound ends in the middle of an utterance."""
        if not self._speaking:
            return []
        speech = self._ends.end_stream(rest) if self._ends.in_speech else None
        return self._decode(speech or b"", ended=True)

    def _decode(self, speech: bytes, *, ended: bool) -> list[tuple[SpeechEventType, str]]:
        said: list[tuple[SpeechEventType, str]] = []
        if not self._speaking:
            self._speaking = True
            self._since_interim, self._interim = 0.0, ""
            self._decoder.start_utt()
            said.append((SpeechEventType.START_OF_SPEECH, ""))
        if speech:
            self._decoder.process_raw(speech)
        if ended:
            self._speaking = False
            self._decoder.end_utt()
            text = self._words()
            if text:
                said.append((SpeechEventType.FINAL_TRANSCRIPT, text))
            said.append((SpeechEventType.END_OF_SPEECH, ""))
            return said
        self._since_interim += len(speech) / 2 / SAMPLE_RATE
        if self._since_interim >= INTERIM_EVERY_S:
            self._since_interim = 0.0
            text = self._words()
            if text and text != self._interim:
                self._interim = text
                said.append((SpeechEventType.INTERIM_TRANSCRIPT, text))
        return said

    def _words(self) -> str:
        best = self._decoder.hyp()
        return best.hypstr.strip() if best is not None else ""
