"""A voice without network: Debian's flite, as sound for a test's speaker and as a LiveKit TTS."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import wave
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, APIConnectOptions, tts, utils
from numpy.typing import NDArray

SAMPLE_RATE = 16_000
"""Samples a second of flite's better voices."""

Voice = Literal["slt", "rms", "awb"]
"""A woman and two men."""

Sound = NDArray[np.int16]
"""Mono samples at ``SAMPLE_RATE``."""

needs_voice = pytest.mark.skipif(
    os.environ.get("BMO_TEST_VOICE") != "1",
    reason="spoken audio: set BMO_TEST_VOICE=1 (Debian's package flite)",
)
"""Skips a test by name where no voice is installed; CI installs it."""


@cache
def spoken(text: str, voice: Voice) -> Sound:
    """The sound of a sentence.

    Raises:
        FileNotFoundError: flite is not installed.
    """
    made = subprocess.run(
        ["flite", "-voice", voice, "-t", text, "-o", "/dev/stdout"],
        capture_output=True,
        check=True,
        timeout=60,
    )
    return _samples(made.stdout)


def silence(seconds: float) -> Sound:
    """A quiet room: noise far below speech, as microphones give, and the same each time."""
    noise = np.random.default_rng(7).normal(0.0, 6.0, int(seconds * SAMPLE_RATE))
    return noise.astype(np.int16)


def loudness(sound: Sound) -> float:
    """Root mean square of the samples; speech of flite has 1,000 to 4,000."""
    return float(np.sqrt(np.mean(sound.astype(np.float64) ** 2))) if len(sound) else 0.0


def _samples(wav: bytes) -> Sound:
    # flite cannot seek in a pipe: the length in the header is not the sound's.
    with wave.open(io.BytesIO(wav)) as opened:
        assert (opened.getframerate(), opened.getnchannels()) == (SAMPLE_RATE, 1)
        header = wav.index(b"data") + 8
    return np.frombuffer(wav[header : len(wav) - (len(wav) - header) % 2], dtype=np.int16).copy()


class FliteTTS(tts.TTS[Any]):
    """Speaks with flite."""

    def __init__(self, voice: Voice = "rms") -> None:
        super().__init__(
            capabilities=tts.TTSCapabilities(streaming=False),
            sample_rate=SAMPLE_RATE,
            num_channels=1,
        )
        self.voice: Voice = voice

    def synthesize(
        self, text: str, *, conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS
    ) -> tts.ChunkedStream:
        return _Spoken(self, text, conn_options)


class _Spoken(tts.ChunkedStream):
    def __init__(self, voice: FliteTTS, text: str, conn_options: APIConnectOptions) -> None:
        super().__init__(tts=voice, input_text=text, conn_options=conn_options)
        self._voice = voice.voice

    async def _run(self, output_emitter: tts.AudioEmitter) -> None:
        output_emitter.initialize(
            request_id=utils.shortuuid(),
            sample_rate=SAMPLE_RATE,
            num_channels=1,
            mime_type="audio/pcm",
        )
        sound = await asyncio.to_thread(spoken, self._input_text, self._voice)
        output_emitter.push(sound.tobytes())
        output_emitter.flush()
