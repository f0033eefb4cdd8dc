"""The terminal conversation: a real ``AgentSession`` behind a prompt."""

from bmo.chat.conversation import run_chat

__all__ = ["run_chat"]
