"""Microphone and loudspeaker of an ``AgentSession`` in a test: sound in, sound out, no device."""

from __future__ import annotations

import asyncio
import time
from collections import deque

import numpy as np
from livekit import rtc
from livekit.agents.voice.io import AudioInput, AudioOutput, AudioOutputCapabilities

from tests.fakes.spoken_voice import SAMPLE_RATE, Sound, silence

FRAME_S = 0.02
"""Seconds of sound in a frame of the microphone."""


class Microphone(AudioInput):
    """Hears what is said to it, in real time, and a quiet room between."""

    def __init__(self) -> None:
        super().__init__(label="test microphone")
        self._sounds: deque[Sound] = deque()
        self._silent = asyncio.Event()
        self._silent.set()
        self._room = silence(FRAME_S)
        self._due = 0.0

    async def hear(self, sound: Sound) -> None:
        """Plays a sound into it; returns at its last sample."""
        self._silent.clear()
        self._sounds.append(sound)
        await self._silent.wait()

    async def __anext__(self) -> rtc.AudioFrame:
        now = time.monotonic()
        self._due = max(self._due, now - FRAME_S) + FRAME_S
        await asyncio.sleep(max(0.0, self._due - now))
        frame = self._room
        if self._sounds:
            step = len(self._room)
            whole = self._sounds.popleft()
            frame, rest = whole[:step], whole[step:]
            if len(rest):
                self._sounds.appendleft(rest)
            elif not self._sounds:
                self._silent.set()
        return rtc.AudioFrame(frame.tobytes(), SAMPLE_RATE, 1, len(frame))


class Loudspeaker(AudioOutput):
    """Keeps what the agent says aloud; plays in real time unless told to play at once.

    Attributes:
        segments: What was played, a sound a reply, mono at ``SAMPLE_RATE``.
        playing: Whether a reply is heard right now.
    """

    def __init__(self, *, at_once: bool = False) -> None:
        super().__init__(
            label="test loudspeaker",
            capabilities=AudioOutputCapabilities(pause=False),
            sample_rate=SAMPLE_RATE,
        )
        self.segments: list[Sound] = []
        self.playing = False
        self._at_once = at_once
        self._frames: list[Sound] = []
        self._began = 0.0
        self._player: asyncio.Task[None] | None = None

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        await super().capture_frame(frame)
        if not self._frames:
            self.playing, self._began = True, time.monotonic()
            self.on_playback_started(created_at=time.time())
        self._frames.append(np.frombuffer(frame.data, dtype=np.int16).copy())

    def flush(self) -> None:
        super().flush()
        if self._frames:
            self._player = asyncio.ensure_future(self._play())

    def clear_buffer(self) -> None:
        if self._frames and self._player is not None:
            self._player.cancel()
        if self._frames:
            self._finish(time.monotonic() - self._began, interrupted=True)

    async def _play(self) -> None:
        length = sum(map(len, self._frames)) / SAMPLE_RATE
        if not self._at_once:
            await asyncio.sleep(max(0.0, self._began + length - time.monotonic()))
        self._finish(length, interrupted=False)

    def _finish(self, position_s: float, *, interrupted: bool) -> None:
        self.segments.append(np.concatenate(self._frames)[: int(position_s * SAMPLE_RATE)])
        self._frames.clear()
        self.playing = False
        self.on_playback_finished(playback_position=position_s, interrupted=interrupted)
