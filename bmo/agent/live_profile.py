"""The profile in an agent's instructions, for models that get no context of each turn (realtime).

Such a model is told the profile once. When something in it ends or is forgotten while the
conversation runs, the instructions are written anew.
"""

from __future__ import annotations

import logging
from weakref import WeakKeyDictionary

from livekit.agents import Agent

from bmo import telemetry
from bmo.agent.background import Background
from bmo.agent.context_injection import ContextInjection

logger = logging.getLogger("bmo.agent")


class LiveProfile:
    """Which agents have the profile in their instructions, and what stands there."""

    def __init__(self, injection: ContextInjection, background: Background) -> None:
        """No agent yet.

        Args:
            injection: Where the profile comes from.
            background: Where its tasks live.
        """
        self._injection = injection
        self._background = background
        self._written: WeakKeyDictionary[Agent, str] = WeakKeyDictionary()

    async def put(self, agent: Agent) -> None:
        """Writes the profile behind an agent's own instructions, in place of an earlier one."""
        profile = await self._injection.ready()
        now, before = profile.context if profile is not None else "", self._written.get(agent, "")
        if now == before:
            return
        own = agent.instructions
        text = own if isinstance(own, str) else own.render()
        if before:
            text = text.replace(before, "").rstrip()
        if now and now not in text:
            text = f"{text}\n\n{now}"
        self._written[agent] = now
        await agent.update_instructions(text)

    def renew(self) -> None:
        """Starts to write them anew if the profile is no longer what it was."""
        if self._written and self._injection.stale:
            for agent in tuple(self._written):
                self._background.start(self._put_again(agent))

    async def _put_again(self, agent: Agent) -> None:
        try:
            await self.put(agent)
        except Exception:
            logger.exception("the instructions could not be renewed")
            telemetry.note_fault("profile")
