"""What a model is given of memory: the profile, and recall for the turn, within a deadline."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from livekit.agents import llm

from bmo import telemetry
from bmo.agent.background import Background, contained
from bmo.agent.guests import Guests
from bmo.agent.heard import HeardTurn, same_words
from bmo.agent.placement import place_profile, place_recall
from bmo.turn import Recall, RecallPlan

if TYPE_CHECKING:
    from bmo.memory import MemorySession

logger = logging.getLogger("bmo.agent")

DEADLINE_GRACE_S = 0.1
"""Seconds past the session's own recall deadline after which a reply goes out without memory."""

ASK_BACK_DEADLINE_S = 4.0
"""The same for a turn that may ask to forget much, in seconds: a model that is not told what was
asked of memory says that it is done. A little over the session's own."""


class ContextInjection:
    """Loads the profile, recalls for turns, and puts both into a model's context.

    Attributes:
        profile: The once-per-session profile once it is there, or None.
    """

    def __init__(self, memory: MemorySession, guests: Guests, background: Background) -> None:
        """Nothing is loaded yet."""
        self.profile: Recall | None = None
        self._memory = memory
        self._guests = guests
        self._background = background
        self._role = memory.settings.bmo_inject_role
        self._deadline_s = memory.settings.bmo_recall_deadline_ms / 1000 + DEADLINE_GRACE_S
        self._profile_task: asyncio.Task[Recall | None] | None = None
        self._profile_version = 0

    @property
    def stale(self) -> bool:
        """Whether something in the profile that was loaded is no longer true, or was forgotten."""
        return self._memory.profile_version != self._profile_version

    def load_profile(self) -> asyncio.Task[Recall | None]:
        """Starts loading the profile; once loaded it stays until something in it is gone.

        Then what it said is dropped at once: a reply without profile is better than one that
        says what was forgotten, however long the new one takes.
        """
        if self.stale:
            self.profile = None
        if self._profile_task is None or self.stale or _gave_nothing(self._profile_task):
            self._profile_version = self._memory.profile_version
            self._profile_task = self._background.start(self._profile())
        return self._profile_task

    async def ready(self) -> Recall | None:
        """The profile, as soon as it is there; None when it cannot be had within the deadline."""
        task = self.load_profile()
        await asyncio.wait({task}, timeout=self._deadline_s)
        return self.profile

    def start_recall(self, heard: HeardTurn, said: str) -> asyncio.Task[Recall]:
        """Recalls for a turn, once for the same words."""
        if heard.recall is None or not same_words(heard.said, said):
            if said != heard.said:
                heard.said = said
                heard.turn = replace(heard.turn, text=said)
            heard.recall = self._background.start(self._recall(heard))
        return heard.recall

    async def inject(
        self,
        chat_ctx: llm.ChatContext,
        heard: HeardTurn | None,
        message: llm.ChatMessage | None,
        *,
        with_profile: bool,
    ) -> None:
        """Waits for profile and recall, both within the deadline, and puts them in place.

        Before the model and never in the hook: an edit of ``turn_ctx`` costs the preemptive reply.
        ``chat_ctx``, a model's working copy, is changed in place.
        """
        waits: set[asyncio.Task[Any]] = set()
        if with_profile:
            waits.add(self.load_profile())
        if heard is not None and message is not None:
            waits.add(self.start_recall(heard, message.text_content or ""))
        if waits:
            _, late = await asyncio.wait(waits, timeout=self._deadline_s)
            recall = heard.recall if heard is not None else None
            if heard is not None and recall in late and self.may_ask_back(heard):
                await asyncio.wait({recall}, timeout=ASK_BACK_DEADLINE_S)
        if with_profile and self.stale:  # another worker forgot something of it meanwhile
            await asyncio.wait({self.load_profile()}, timeout=self._deadline_s)
        if with_profile:
            place_profile(chat_ctx, self.profile.context if self.profile else "", self._role)
        if heard is not None and message is not None:
            heard.given = self._outcome(heard)
            text = heard.given.context if heard.given else ""
            place_recall(chat_ctx, text, self._role, before=message)
            if heard.given is not None:
                telemetry.note("bmo_injected_tokens", heard.given.tokens, part="recall")

    def may_ask_back(self, heard: HeardTurn) -> bool:
        """Whether the reply may have to wait for what is to be asked back (forgetting much)."""
        memory = self._guests.memory_of(heard.speaker)
        return memory is not None and memory.may_ask_back(heard.turn)

    async def _recall(self, heard: HeardTurn) -> Recall:
        memory = self._guests.memory_of(heard.speaker)
        if memory is None:
            return Recall(plan=RecallPlan(recall=False, trigger="guest"))
        return await memory.recall(heard.turn)

    async def _profile(self) -> Recall | None:
        version = self._memory.profile_version
        with contained("profile"):
            profile: object = await self._memory.profile()
            if not isinstance(profile, Recall):
                raise TypeError(f"the profile is a {type(profile).__name__}")
            if version == self._memory.profile_version:  # nothing of it was forgotten meanwhile
                self.profile = profile
                telemetry.note("bmo_injected_tokens", profile.tokens, part="profile")
                return profile
        return None

    def _outcome(self, heard: HeardTurn) -> Recall | None:
        """What was recalled for a turn by now; None, and why, when that is nothing."""
        task = heard.recall
        if task is None or not task.done():
            heard.error = "recall deadline"  # whoever recalls logs and counts it
            return None
        elif task.cancelled():
            heard.error = "cancelled"
        elif (error := task.exception()) is not None:
            heard.error = repr(error)
        else:
            recall: object = task.result()
            if isinstance(recall, Recall):
                return recall
            heard.error = f"not a Recall: {type(recall).__name__}"
        logger.warning("recall failed", extra={"error": heard.error})
        telemetry.note_fault("recall")
        return None


def _gave_nothing(task: asyncio.Task[Recall | None]) -> bool:
    return task.done() and (task.cancelled() or task.result() is None)
