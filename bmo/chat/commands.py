"""Slash commands of the terminal conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bmo.agent import ConversationMemory
from bmo.agent.tools import MemoryActs
from bmo.chat.screen import Screen
from bmo.quotation import quotation
from bmo.turn import WITHHOLD_RULE

_BESIDE = {"period": "every other word of these days", "all": "every other word of yours"}
"""What goes with the memories of a request to forget, by its scope."""


@dataclass(frozen=True, slots=True)
class _Command:
    does: str
    run: Callable[[str], Awaitable[bool]]


class Commands:
    """What a line that starts with "/" does."""

    def __init__(self, screen: Screen, conversation: ConversationMemory) -> None:
        """Acts on the memory of one conversation and prints to ``screen``."""
        self._screen = screen
        self._memory = conversation.memory
        self._acts = MemoryActs(conversation)
        self._commands = {
            "/memories": _Command("list what is remembered", self._memories),
            "/why": _Command("/why WORDS: where a memory comes from", self._why),
            "/forget": _Command("/forget WORDS: forget something", self._forget),
            "/quiet": _Command("switch the line under each turn off or on", self._quiet),
            "/help": _Command("this list", self._help),
            "/quit": _Command("leave (also Ctrl-C or Ctrl-D)", self._quit),
        }

    async def run(self, line: str) -> bool:
        """Runs a command; a failure is a sentence.

        Args:
            line: The line, with its slash.

        Returns:
            False when the conversation should end.
        """
        name, _, rest = line.strip().partition(" ")
        command = self._commands.get(name.lower())
        if command is None:
            self._screen.note(f"There is no command {name[:40]!r}: /help lists them.")
            return True
        try:
            return await command.run(rest.strip())
        except Exception as error:  # the conversation goes on whatever a store does
            self._screen.note(f"{name} failed: {error}")
            return True

    async def _memories(self, rest: str) -> bool:
        await self._memory.flush()
        facts = await asyncio.to_thread(
            self._memory.service.ledger.live_facts, self._memory.user_id
        )
        service = self._memory.service
        if not facts and not service.is_gated:
            from bmo.memory.normal import stored_turns

            count = await asyncio.to_thread(service.ledger.raw_turns, self._memory.user_id)
            self._screen.note(stored_turns(count))
            return True
        self._screen.memories(facts)
        return True

    async def _why(self, rest: str) -> bool:
        if not rest:
            self._screen.note("Say of what: /why brother")
            return True
        await self._memory.flush()
        self._screen.note(await self._acts.explain_memory(rest))
        return True

    async def _forget(self, rest: str) -> bool:
        if not rest:
            self._screen.note("Say what: /forget my brother")
            return True
        decision, recorded = await self._acts.ordered_to_forget(rest)
        if recorded is None or not (recorded.ended or recorded.pending_erasure):
            asked = decision is not None and "forget" in decision.signals
            why = "" if asked or decision is None else f" ({decision.reason})"
            self._screen.note(f"Nothing that is remembered matches {rest!r}{why}.")
            return True
        pending = recorded.pending_erasure
        if pending is None:
            for ended in recorded.ended:
                self._screen.note(f"Forgotten: {quotation(ended.fact)}.")
            return True
        self._screen.note(f"That would forget {len(pending.facts) or 'no memory'}:")
        for fact in pending.facts:
            wish = " (your wish: it goes too)" if fact.rule_id == WITHHOLD_RULE else ""
            self._screen.note(f"- {quotation(fact)}{wish}")
        if pending.scope in _BESIDE:
            self._screen.note(f"- {_BESIDE[pending.scope]}")
        self._screen.note(
            "They are out of recall, and not erased yet. Shall I erase them for good? (yes or no; "
            "bmo memories pending shows what nobody answered)"
        )
        return True

    async def _quiet(self, rest: str) -> bool:
        self._screen.quiet = not self._screen.quiet
        self._screen.note(f"The line under each turn is {'off' if self._screen.quiet else 'on'}.")
        return True

    async def _help(self, rest: str) -> bool:
        for name, command in self._commands.items():
            self._screen.note(f"{name}: {command.does.removeprefix(name)}".replace(":  ", " "))
        return True

    async def _quit(self, rest: str) -> bool:
        return False
