"""A participant of a room, as a process of its own.

    python -m tests.fakes.room_caller URL TOKEN

Takes a command a line on standard input, as JSON (``say``, ``type``, ``ask``, ``call``,
``attributes``, ``leave``), and prints what it does and all that it is given, as JSON: words of
transcriptions and chats, messages of the session channel, data packets, attributes, metadata, and
when sound begins and ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Coroutine
from typing import Any

import numpy as np
from livekit import rtc
from livekit.protocol.agent_pb import agent_session as session_pb

from tests.fakes.spoken_voice import SAMPLE_RATE, loudness, silence, spoken

CHANNEL = "lk.agent.session"
TEXTS = ("lk.transcription", "lk.chat", "lk.agent.response", "lk.agent.request")
FRAME = SAMPLE_RATE // 50
LOUD = 200.0
QUIET_S = 0.6
PAUSE_S = 1.5
"""Seconds of a quiet room after words."""


def tell(event: str, **what: Any) -> None:
    """One line for the test."""
    # One write: jobs are threads, and the lines of two must not mix.
    sys.stdout.write(json.dumps({"event": event, "at": time.time(), **what}) + "\n")
    sys.stdout.flush()


class Caller:
    """One participant."""

    def __init__(self) -> None:
        self.room = rtc.Room()
        self.source: rtc.AudioSource | None = None
        self.tasks: set[asyncio.Task[Any]] = set()
        self.left = asyncio.Event()
        for topic in TEXTS:
            self.room.register_text_stream_handler(topic, self._text)
        self.room.register_byte_stream_handler(CHANNEL, self._bytes)
        on = self.room.on
        on("track_subscribed", self._track)
        on("data_received", lambda packet: tell("data", text=repr(packet.data)))
        on("room_metadata_changed", lambda old, new: tell("metadata", text=new))
        on("participant_connected", lambda who: tell("came", who=who.identity))
        on("participant_disconnected", lambda who: tell("went", who=who.identity))
        on(
            "participant_attributes_changed",
            lambda changed, who: tell("attributes", who=who.identity, text=str(changed)),
        )
        on("disconnected", lambda reason: self.left.set())

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def agent(self) -> str:
        """Identity of the agent in the room, as soon as it is there."""
        agent = rtc.ParticipantKind.PARTICIPANT_KIND_AGENT
        while True:
            for participant in self.room.remote_participants.values():
                if participant.kind == agent:
                    return participant.identity
            await asyncio.sleep(0.02)

    # -- what it is given ----------------------------------------------------------------------

    def _text(self, reader: rtc.TextStreamReader, who: str) -> None:
        self.start(self._read_text(reader, who))

    async def _read_text(self, reader: rtc.TextStreamReader, who: str) -> None:
        topic = reader.info.topic
        tell("text", topic=topic, who=who, text=await reader.read_all())

    def _bytes(self, reader: rtc.ByteStreamReader, who: str) -> None:
        self.start(self._read_bytes(reader))

    async def _read_bytes(self, reader: rtc.ByteStreamReader) -> None:
        message = session_pb.AgentSessionMessage()
        message.ParseFromString(b"".join([chunk async for chunk in reader]))
        tell("session", text=str(message), id=message.response.request_id)

    def _track(self, track: rtc.Track, *more: Any) -> None:
        if track.kind == rtc.TrackKind.KIND_AUDIO:
            tell("track")
            self.start(self._hear(track))

    async def _hear(self, track: rtc.Track) -> None:
        speaking, quiet_since = False, 0.0
        async for event in rtc.AudioStream(track, sample_rate=SAMPLE_RATE, num_channels=1):
            loud = loudness(np.frombuffer(event.frame.data, dtype=np.int16)) > LOUD
            now = time.time()
            if loud:
                quiet_since = now
                if not speaking:
                    speaking = True
                    tell("sound")
            elif speaking and now - quiet_since > QUIET_S:
                speaking = False
                tell("silence")

    # -- what it does --------------------------------------------------------------------------

    async def say(self, words: str, voice: Any = "slt") -> None:
        """Speaks; the microphone stays open, in a quiet room."""
        if self.source is None:
            self.source = rtc.AudioSource(SAMPLE_RATE, 1, queue_size_ms=100)
            track = rtc.LocalAudioTrack.create_audio_track("microphone", self.source)
            source = rtc.TrackSource.SOURCE_MICROPHONE
            options = rtc.TrackPublishOptions(source=source)
            sent = await self.room.local_participant.publish_track(track, options)
            await sent.wait_for_subscription()
            await self._play(silence(1.0))
        await self._play(await asyncio.to_thread(spoken, words, voice))
        tell("said", words=words)
        await self._play(silence(PAUSE_S))

    async def _play(self, sound: Any) -> None:
        assert self.source is not None
        for start in range(0, len(sound) - FRAME + 1, FRAME):
            part = np.ascontiguousarray(sound[start : start + FRAME])
            await self.source.capture_frame(rtc.AudioFrame(part.tobytes(), SAMPLE_RATE, 1, FRAME))

    async def type(self, words: str) -> None:
        """Writes into the room's chat."""
        await self.room.local_participant.send_text(words, topic="lk.chat")

    async def ask(self, id: str, request: str, **fields: Any) -> None:
        """Asks the agent's session channel; "" for fields of the message that has none."""
        asked = session_pb.SessionRequest(request_id=id)
        part = getattr(asked, request)
        part.SetInParent()
        for name, value in fields.items():
            setattr(part, name, value)
        await self.room.local_participant.send_bytes(
            session_pb.AgentSessionMessage(request=asked).SerializeToString(),
            name=id,
            topic=CHANNEL,
            destination_identities=[await self.agent()],
        )

    async def call(self, method: str, payload: str = "") -> None:
        """A remote procedure of the application's."""
        agent = await self.agent()
        answer = await self.room.local_participant.perform_rpc(
            destination_identity=agent,
            method=method,
            payload=payload,
            response_timeout=30,
        )
        tell("answer", text=answer)

    async def attributes(self, **values: str) -> None:
        """Sets its own attributes, if its token lets it."""
        await self.room.local_participant.set_attributes(values)

    async def leave(self) -> None:
        """Hangs up."""
        await self.room.disconnect()
        self.left.set()


async def main(url: str, token: str) -> None:
    """Joins, and does what it is told until it leaves."""
    caller = Caller()
    await caller.room.connect(url, token)
    tell("joined")
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)

    loop.run_in_executor(None, read)
    gone = asyncio.ensure_future(caller.left.wait())
    while not caller.left.is_set():
        line = asyncio.ensure_future(lines.get())
        await asyncio.wait({line, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not line.done():
            break
        command = json.loads(line.result())
        do = command.pop("do")
        try:
            await getattr(caller, do)(**command)
        except Exception as error:
            tell("failed", do=do, text=repr(error))
        else:
            tell("did", do=do)
    tell("left")
    sys.stdout.flush()
    # The thread that reads standard input waits for its end.
    import os

    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
