"""The other end of LiveKit's console protocol: starts a worker, talks to it, hears it.

``python -m livekit.agents console ENTRYPOINT --connect-addr HOST:PORT`` connects to a peer
(LiveKit's own is ``lk agent console``): messages are a length of four bytes and an
``AgentSessionMessage``. This peer has a microphone that never stops and a loudspeaker that plays in
real time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import struct
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from livekit import rtc
from livekit.protocol.agent_pb import agent_session as proto

from tests.deadlines import deadline
from tests.fakes.spoken_voice import SAMPLE_RATE, Sound, silence

ROOT = Path(__file__).parents[2]

WIRE_RATE = 48_000
"""Samples a second on the wire, both ways."""

FRAME_S = 0.02
"""Seconds of sound in a message of the microphone."""

TIMEOUT_S = 60.0
"""Longest wait for anything the worker does; its start builds a store and loads models."""


class ConsolePeer:
    """One conversation with a worker in a process of its own.

    Attributes:
        process: The worker.
        log: What it wrote, standard output and error together.
        heard: Final transcripts it reported, in order.
        items: (role, text) of every message of the conversation, in order.
        sound: Everything it said aloud, mono at ``WIRE_RATE``.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.log = ""
        self.heard: list[str] = []
        self.items: list[tuple[str, str]] = []
        self._sound: list[Sound] = []
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._changed = asyncio.Condition()
        self._answers: dict[str, asyncio.Future[proto.SessionResponse]] = {}
        self._to_say: list[Sound] = []
        self._said = asyncio.Event()
        self._gone = asyncio.Event()
        self._played_until = 0.0
        self._player: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def sound(self) -> Sound:
        return np.concatenate(self._sound) if self._sound else np.zeros(0, np.int16)

    @property
    def replies(self) -> list[str]:
        """What the agent said, in order."""
        return [text for role, text in self.items if role == "assistant"]

    # -- talking -------------------------------------------------------------------------------

    async def say(self, sound: Sound) -> None:
        """Speaks into the microphone; returns when the last sample was sent."""
        self._said.clear()
        self._to_say.append(sound)
        await asyncio.wait_for(self._said.wait(), TIMEOUT_S)

    async def type(self, words: str) -> list[str]:
        """Types a line, as ``console --text`` does; returns the texts of the run's messages."""
        request = proto.SessionRequest(
            request_id=f"r{len(self._answers)}", run_input=proto.SessionRequest.RunInput(text=words)
        )
        answer = asyncio.get_running_loop().create_future()
        self._answers[request.request_id] = answer
        self._send(proto.AgentSessionMessage(request=request))
        response = await asyncio.wait_for(answer, TIMEOUT_S)
        assert not response.error, response.error
        return [_text(item) for item in response.run_input.items if item.HasField("message")]

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Waits for something the worker reports.

        Raises:
            AssertionError: It did not come in time, or the worker ended before; with its log.
        """
        try:
            async with asyncio.timeout(TIMEOUT_S), self._changed:
                await self._changed.wait_for(condition)
        except TimeoutError:
            raise AssertionError(f"not seen: {what}; heard {self.heard}\n{self.log}") from None

    def signal(self, number: signal.Signals) -> None:
        """Sends the worker a signal."""
        self.process.send_signal(number)

    async def ended(self) -> int:
        """Waits for the worker's end; its exit code."""
        try:
            return await asyncio.wait_for(self.process.wait(), TIMEOUT_S)
        except TimeoutError:
            raise AssertionError(f"the worker did not end\n{self.log}") from None

    # -- the wire ------------------------------------------------------------------------------

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The worker called: starts microphone and loudspeaker."""
        self._reader, self._writer = reader, writer
        self._start(self._listen())
        self._start(self._microphone())

    def follow_log(self) -> None:
        """Starts reading what the worker writes."""
        self._start(self._read_log())

    async def hang_up(self) -> None:
        """Closes the line and ends the worker if it still runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()
            with suppress(ConnectionError):
                await self._writer.wait_closed()
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.add(asyncio.ensure_future(work))

    def _send(self, message: proto.AgentSessionMessage) -> None:
        assert self._writer is not None
        data = message.SerializeToString()
        self._writer.write(struct.pack(">I", len(data)) + data)

    async def _microphone(self) -> None:
        upsampler = rtc.AudioResampler(SAMPLE_RATE, WIRE_RATE, num_channels=1)
        step = int(SAMPLE_RATE * FRAME_S)
        room = silence(FRAME_S)
        due = time.monotonic()
        while not self._gone.is_set():
            frame = room
            if self._to_say:
                frame, rest = self._to_say[0][:step], self._to_say[0][step:]
                self._to_say[:1] = [rest] if len(rest) else []
                if not self._to_say:
                    self._said.set()
            heard = rtc.AudioFrame(frame.tobytes(), SAMPLE_RATE, 1, len(frame))
            for wire in upsampler.push(heard):
                self._send(proto.AgentSessionMessage(audio_input=_on_wire(wire)))
            due += FRAME_S
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _listen(self) -> None:
        assert self._reader is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                (length,) = struct.unpack(">I", await self._reader.readexactly(4))
                message = proto.AgentSessionMessage()
                message.ParseFromString(await self._reader.readexactly(length))
                async with self._changed:
                    self._take(message)
                    self._changed.notify_all()
        self._gone.set()

    def _take(self, message: proto.AgentSessionMessage) -> None:
        kind = message.WhichOneof("message")
        if kind == "audio_output":
            played = np.frombuffer(message.audio_output.data, dtype=np.int16)
            self._sound.append(played)
            self._played_until = max(self._played_until, time.monotonic()) + len(played) / WIRE_RATE
        elif kind == "audio_playback_flush":
            self._player = asyncio.ensure_future(self._play())
        elif kind == "audio_playback_clear":
            self._played_until = 0.0
            if self._player is not None:
                self._player.cancel()
        elif kind == "response":
            answer = self._answers[message.response.request_id]
            if not answer.done():
                answer.set_result(message.response)
        elif kind == "event":
            self._take_event(message.event)

    def _take_event(self, event: proto.AgentSessionEvent) -> None:
        if event.HasField("user_input_transcribed") and event.user_input_transcribed.is_final:
            self.heard.append(event.user_input_transcribed.transcript)
        if event.HasField("conversation_item_added"):
            item = event.conversation_item_added.item
            if item.HasField("message"):
                role = proto.ChatRole.Name(item.message.role).lower()
                self.items.append((role, _text(item)))

    async def _play(self) -> None:
        await asyncio.sleep(max(0.0, self._played_until - time.monotonic()))
        finished = proto.AgentSessionMessage.ConsoleIO.AudioPlaybackFinished()
        self._send(proto.AgentSessionMessage(audio_playback_finished=finished))

    async def _read_log(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            async with self._changed:
                self.log += line.decode(errors="replace")
                self._changed.notify_all()


@asynccontextmanager
async def console(
    entrypoint: Path, environment: Mapping[str, str], directory: Path
) -> AsyncIterator[ConsolePeer]:
    """Starts a worker by LiveKit's own command and waits until it listens.

    Args:
        entrypoint: File that defines the ``AgentServer``.
        environment: Variables added to a bare environment.
        directory: Where it runs.
    """
    arrived: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    arrived = asyncio.get_running_loop().create_future()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.set_result((reader, writer))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "livekit.agents", "console", str(entrypoint)),
        *("--connect-addr", f"127.0.0.1:{port}"),
        cwd=directory,
        env={
            **kept,
            **deadline(),
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            **environment,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        # LiveKit kills the process group on a second signal: it must not be the tests' own.
        start_new_session=True,
    )
    peer = ConsolePeer(process)
    peer.follow_log()
    try:
        done = asyncio.ensure_future(process.wait())
        first: set[asyncio.Future[Any]] = {arrived, done}
        await asyncio.wait(first, timeout=TIMEOUT_S, return_when="FIRST_COMPLETED")
        done.cancel()
        assert arrived.done(), f"the worker did not call\n{peer.log}"
        peer.connected(*arrived.result())
        yield peer
    finally:
        await peer.hang_up()
        server.close()
        await server.wait_closed()


def _on_wire(frame: rtc.AudioFrame) -> proto.AgentSessionMessage.ConsoleIO.AudioFrame:
    return proto.AgentSessionMessage.ConsoleIO.AudioFrame(
        data=bytes(frame.data),
        sample_rate=frame.sample_rate,
        num_channels=frame.num_channels,
        samples_per_channel=frame.samples_per_channel,
    )


def _text(item: proto.ChatContext.ChatItem) -> str:
    return " ".join(part.text for part in item.message.content if part.text)
