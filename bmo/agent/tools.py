"""Tools a model may call on memory; their names are in ``bmo.agent.tool_names``.

What a tool writes goes through the same gate, sensitive filter and firewall as a spoken turn: the
words are gated as a turn of their own.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from livekit.agents import function_tool, llm

from bmo.agent.tool_names import TOOL_NAMES, ToolName
from bmo.gate import may_ask_to_forget
from bmo.quotation import quotation
from bmo.recall.withholding import withheld
from bmo.turn import WITHHOLD_RULE, Decision, Turn

if TYPE_CHECKING:
    from bmo.agent.conversation import ConversationMemory
    from bmo.ledger import Ledger, Recorded

Act = Callable[..., Coroutine[Any, Any, str]]

EXPLAINED = 3
"""Memories explained at a time."""


def memory_tools(
    conversation: ConversationMemory, names: Sequence[ToolName]
) -> list[llm.Tool | llm.Toolset]:
    """Makes the tools that were asked for.

    Raises:
        ValueError: A name is unknown.
    """
    if isinstance(names, str):
        raise ValueError(f"the memory's tools are a list: ({names!r},), not {names!r}")
    for name in names:
        if name not in TOOL_NAMES:
            raise ValueError(f"memory tool {name!r} is unknown: use {', '.join(TOOL_NAMES)}")
    acts = MemoryActs(conversation)
    return [
        function_tool(_for_user_alone(conversation, getattr(acts, name)))
        for name in dict.fromkeys(names)
    ]


def _for_user_alone(conversation: ConversationMemory, act: Act) -> Act:
    """A tool that does nothing while a guest speaks, or memory is not open."""

    @functools.wraps(act)
    async def tool(*args: Any, **kwargs: Any) -> str:
        if not conversation.hears_user:
            return "Memory is its user's, and another person is speaking."
        if not conversation.memory.is_open:
            return "There is no memory now."
        return await act(*args, **kwargs)

    return tool


class MemoryActs:
    """What the tools do; each answers in words for the model."""

    def __init__(self, conversation: ConversationMemory) -> None:
        """Acts on the memory of ``conversation``."""
        self._conversation = conversation

    async def remember(self, text: str) -> str:
        """Store something the user asked you to remember, in the user's own words.

        Args:
            text: What to remember, for example "my brother is called Sam".
        """
        return _told(*await self._through_gate(text, "remember that "))

    async def forget(self, text: str) -> str:
        """Forget something the user asked you to forget. Wide requests ask to confirm first.

        Args:
            text: What to forget, for example "my bank" or "everything about Devon".
        """
        return _told(*await self.ordered_to_forget(text))

    async def ordered_to_forget(self, text: str) -> tuple[Decision | None, Recorded | None]:
        """Gates the order to forget something; what was decided, and what came of it."""
        plain = may_ask_to_forget(f"forget {text}")  # else anything at all may be what is meant
        return await self._through_gate(text, "forget " if plain else "forget about ")

    async def recall(self, question: str) -> str:
        """Look up what is known about the user, before you say that you do not know.

        Args:
            question: The question to answer from memory, in plain words.
        """
        memory = self._conversation.memory
        found = await memory.recall(self._turn(question))
        if not found.plan.recall:
            found = await memory.recall(self._turn(f"what do you remember about {question}"))
        return found.context or "Nothing is stored about that."

    async def explain_memory(self, text: str) -> str:
        """Explain why something is known: when it was said, in which words, what it replaced.

        Args:
            text: What is to be explained, for example "brother Sam".
        """
        memory = self._conversation.memory
        agent_id = memory.settings.bmo_agent_id
        sentences = await asyncio.to_thread(
            _explained, memory.service.ledger, memory.user_id, text, agent_id
        )
        return " ".join(sentences) or "Nothing is stored about that."

    async def was_it_helpful(self, helpful: bool) -> str:
        """Note whether what you remembered helped. Ask "was that helpful?" first, now and then.

        Args:
            helpful: What the user answered.
        """
        noted = self._conversation.memory.judge_last_recall(helpful=helpful)
        return "Noted." if noted else "Nothing was remembered for the last answer."

    async def off_the_record(self, on: bool) -> str:
        """Stop or resume keeping notes when the user asks for it. Say aloud which it is now.

        Args:
            on: True to keep nothing of what is said from now on, False to remember again.
        """
        self._conversation.memory.off_record = on
        if on:
            return "Off the record: nothing of what is said now is kept."
        return "On the record again."

    async def _through_gate(
        self, text: str, prefix: str
    ) -> tuple[Decision | None, Recorded | None]:
        """What the gate decided on words as a turn of their own, and what the ledger changed."""
        memory = self._conversation.memory
        words = text.strip()
        if not words:
            return None, None
        if not words.lower().startswith(prefix.split()[0]):
            words = f"{prefix}{words}"
        turn = self._turn(words)
        decision = await memory.on_turn(turn)
        return decision, await memory.recorded(turn.id)

    def _turn(self, words: str) -> Turn:
        memory = self._conversation.memory
        return Turn(words, memory.user_id, memory.session_id, memory.clock())


def _told(decision: Decision | None, recorded: Recorded | None) -> str:
    """What became of words that a tool was given, for the model."""
    if decision is None:
        return "Nothing was given."
    if recorded is None:
        return f"Not stored: {decision.reason}."
    pending = recorded.pending_erasure
    if pending is not None:
        named = "; ".join(quotation(fact) for fact in pending.facts)
        return (
            f"Nothing is forgotten yet. That would forget {len(pending.facts)} memories ({named}); "
            "they are withdrawn: ask the user to confirm that they are to be erased for good."
        )
    said = [f"Stored: {quotation(fact)}." for fact in recorded.added]
    said += [f"Known already: {quotation(fact)}." for fact in recorded.confirmed]
    said += [f"Forgotten: {quotation(ended.fact)}." for ended in recorded.ended]
    if not said and "forget" in decision.signals:
        return "Nothing that is remembered matches that, so nothing was forgotten."
    return " ".join(said) or f"Nothing changed: {decision.reason}."


def _explained(ledger: Ledger, user_id: str, text: str, agent_id: str) -> list[str]:
    """Where the memories that fit a text come from, a few sentences each."""
    found = [fact for fact, _ in ledger.search_words(user_id, text, EXPLAINED)]
    hidden = withheld(found, ledger.live_facts(user_id, rules=(WITHHOLD_RULE,)), text)
    said: list[str] = []
    kept_back: list[str] = []
    for fact in found:
        why = ledger.why(user_id, fact.id)
        if why is None or not fact.is_for(agent_id):
            continue
        if fact.id in hidden:
            kept_back = ["What is stored about that is never to be brought up, as the user asked."]
            continue
        sentence = f"{quotation(fact)}:"
        for turn in why.said:
            words = "so" if turn.text == fact.text else repr(turn.text)
            sentence += f" you said {words} on {turn.at:%d %B %Y}"
            sentence += f" ({turn.reason}; rule {turn.rule_id})." if turn.rule_id else "."
        if not why.said:
            sentence += f" known since {fact.valid_from:%d %B %Y} from {fact.source_type}."
        if why.replaced:
            sentence += f" It replaced {', '.join(quotation(old) for old in why.replaced)}."
        said.append(sentence)
    return said or kept_back
