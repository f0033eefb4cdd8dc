"""A line into a running session's ``SessionHost``: what ``console --text`` types over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from livekit.agents import AgentSession
from livekit.agents.voice.remote_session import SessionHost, SessionTransport
from livekit.protocol.agent_pb import agent_session as proto

TIMEOUT_S = 60.0


class ConsoleLine(SessionTransport):
    """Both ends of the line in one object: the test types, LiveKit's host answers."""

    def __init__(self) -> None:
        self._to_host: asyncio.Queue[proto.AgentSessionMessage | None] = asyncio.Queue()
        self._answers: asyncio.Queue[proto.SessionResponse] = asyncio.Queue()

    async def type(self, words: str) -> None:
        """Types a line and waits for the end of its run."""
        request = proto.SessionRequest(
            request_id="typed", run_input=proto.SessionRequest.RunInput(text=words)
        )
        await self._to_host.put(proto.AgentSessionMessage(request=request))
        async with asyncio.timeout(TIMEOUT_S):
            answer = await self._answers.get()
        assert not answer.error, answer.error

    async def start(self) -> None:
        """Nothing to connect."""

    async def send_message(self, msg: proto.AgentSessionMessage) -> None:
        if msg.HasField("response"):
            await self._answers.put(msg.response)

    async def close(self) -> None:
        await self._to_host.put(None)

    def __aiter__(self) -> AsyncIterator[proto.AgentSessionMessage]:
        return self

    async def __anext__(self) -> proto.AgentSessionMessage:
        message = await self._to_host.get()
        if message is None:
            raise StopAsyncIteration
        return message


@asynccontextmanager
async def console_line(session: AgentSession[Any]) -> AsyncIterator[ConsoleLine]:
    """LiveKit's console host on a session, as ``console --text`` has it."""
    line = ConsoleLine()
    host = SessionHost(line)
    host.register_session(session)
    await host.start()
    try:
        yield line
    finally:
        await host.aclose()
