"""The profile for models that get no context of each turn (realtime).

Such a model is told the profile behind its agent's instructions, on its own connection: not in the
agent's instructions, which LiveKit keeps in the conversation and shows in the room. It is told
anew when something in it ends or is forgotten, and without the profile while a guest speaks.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from livekit.agents import Agent

from bmo.agent.background import Background, contained
from bmo.agent.context_injection import ContextInjection
from bmo.agent.live_transcripts import is_realtime
from bmo.agent.speakers import Speakers


class LiveProfile:
    """Which agents' models were told the profile, and what they were told."""

    def __init__(
        self, injection: ContextInjection, speakers: Speakers, background: Background
    ) -> None:
        """No agent yet."""
        self._injection = injection
        self._speakers = speakers
        self._background = background
        self._told: WeakKeyDictionary[Agent, str] = WeakKeyDictionary()

    async def tell(self, agent: Agent, *, again: bool = False) -> None:
        """Tells the model of an agent that runs, if it is a realtime model. Never raises.

        ``again``: its model was told other instructions since.
        """
        with contained("profile"):
            if is_realtime(agent):
                await self._tell(agent, again)

    def renew(self) -> None:
        """Starts to tell it anew where it is no longer what it should be."""
        for agent in tuple(self._told):
            if self._injection.stale or self._told[agent] != self._wanted(agent):
                self._background.start(self.tell(agent))

    async def _tell(self, agent: Agent, again: bool) -> None:
        await self._injection.ready()
        now, before = self._wanted(agent), self._told.get(agent, "")
        self._told[agent] = now
        if now == before and not (again and now):
            return
        own = agent.instructions
        text = own if isinstance(own, str) else own.render(modality="audio")
        await agent.realtime_llm_session.update_instructions(f"{text}\n\n{now}" if now else text)

    def _wanted(self, agent: Agent) -> str:
        profile = self._injection.profile
        if profile is None or self._speakers.listening_to(agent.session):
            return ""
        return profile.context
