"""LiveKit's session channel (``lk.agent.session``), kept to the user.

By default every participant of the room may ask there for the agent's instructions and the whole
conversation, is told of each item and tool call, and may put words in that count as the user's.
"""

from __future__ import annotations

from typing import Any

from livekit.agents import AgentSession
from livekit.agents.voice.remote_session import RoomSessionTransport


def keep_to(session: AgentSession[Any], identity: str) -> None:
    """Lets one participant alone use a session's channel; of two users nobody may."""
    # LiveKit has no public way to it after ``start(session_host=...)``, which is the application's.
    transport = getattr(session._session_host, "_transport", None)
    if not isinstance(transport, RoomSessionTransport) or transport.remote_identity == identity:
        return
    if transport.remote_identity is not None:
        identity = transport._room.local_participant.identity
    transport.remote_identity = identity
