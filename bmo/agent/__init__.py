"""LiveKit's hooks on one side, a ``MemorySession`` on the other.

``MemoryAgent`` is a LiveKit ``Agent`` that remembers; ``attach`` gives the same to an agent that
exists already. Importing this package imports livekit-agents (about a second); ``import bmo`` does
not.
"""

from bmo.agent.attachment import MemoryAgent, attach, conversation_of, prepare
from bmo.agent.conversation import ConversationMemory
from bmo.agent.heard import HeardTurn
from bmo.agent.jobs import end_memory, memory_for, user_of
from bmo.agent.process_memory import close_shared_service, prewarm, shared_service
from bmo.agent.typed import user_turn

__all__ = [
    "ConversationMemory",
    "HeardTurn",
    "MemoryAgent",
    "attach",
    "close_shared_service",
    "conversation_of",
    "end_memory",
    "memory_for",
    "prepare",
    "prewarm",
    "shared_service",
    "user_of",
    "user_turn",
]
