"""Records of turns, and which conversation message belongs to which record.

One turn may show up as several messages: each preemptive attempt at it has one, the hook another,
and a reply that is adopted puts its own into the history. One record stands for all of them.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from livekit.agents import llm

from bmo.turn import Decision, Recall, Turn

Way = Literal["hook", "item"]
"""How a turn reached the gate: through the agent's hook, or as a conversation item."""

TURNS_KEPT = 256
"""Turns of a conversation whose records are kept for matching and for display."""

_DRAFTS = 8

# Runs in the hook: a loop over the characters of a long turn took half of the hook's millisecond.
_WORD = re.compile(r"[^\W_]+")
_NO_APOSTROPHES = str.maketrans("", "", "'’")

_THROUGH_HOOK = "on_user_turn_completed_delay"
"""LiveKit's metric on a user message that went through the hook."""


@dataclass(slots=True)
class HeardTurn:
    """What memory did with one turn (with one speaker's part of it, where several spoke).

    Attributes:
        turn: The turn as it is gated.
        said: The message's words: the turn's, and those of others who spoke in it.
        speaker: "" for the user, else the guest's user id.
        kept: False for a guest whose words are ignored.
        way: How it reached the gate, or None while it did not.
        decision: The gate's answer, or None while it was not asked or when asking failed.
        recall: The recall that was started for it, or None.
        given: What was put before the model for it, or None.
        reply: The assistant's words after it.
        error: "" or what failed.
    """

    turn: Turn
    said: str
    speaker: str = ""
    kept: bool = True
    way: Way | None = None
    decision: asyncio.Task[Decision] | None = None
    recall: asyncio.Task[Recall] | None = None
    given: Recall | None = None
    reply: str = ""
    error: str = ""


class HeardTurns:
    """The records of one conversation.

    Attributes:
        gated: Records of the latest turns that were gated, oldest first.
    """

    def __init__(self) -> None:
        """Nothing was heard yet."""
        self.gated: deque[HeardTurn] = deque(maxlen=TURNS_KEPT)
        self._by_message: dict[str, HeardTurn] = {}
        self._passed_by: set[str] = set()
        self._expected: deque[HeardTurn] = deque(maxlen=_DRAFTS)
        self._drafts: deque[HeardTurn] = deque(maxlen=_DRAFTS)

    def of_message(self, message: llm.ChatMessage) -> HeardTurn | None:
        """The record a message is known to belong to."""
        return self._by_message.get(message.id)

    def link(self, message: llm.ChatMessage, heard: HeardTurn) -> None:
        """Says that a message belongs to a record."""
        self._by_message[message.id] = heard

    def pass_by(self, items: Iterable[llm.ChatItem]) -> None:
        """Says that items are no turns of this conversation, unless they are known as such."""
        self._passed_by.update(item.id for item in items if item.id not in self._by_message)

    def passed_by(self, message: llm.ChatMessage) -> bool:
        """Whether a message is history, or was said to an agent without this memory."""
        return message.id in self._passed_by

    def expect(self, heard: HeardTurn) -> None:
        """The words of a turn that was typed will come again, as an item with another id."""
        self._expected.append(heard)

    def draft_for(self, message: llm.ChatMessage) -> HeardTurn | None:
        """The record of an earlier preemptive attempt at the same words."""
        words = message.text_content or ""
        for draft in reversed(self._drafts):
            if draft.way is None and same_words(draft.said, words):
                self.link(message, draft)
                return draft
        return None

    def add_draft(self, message: llm.ChatMessage, heard: HeardTurn) -> None:
        """Keeps a record for words a model answers before their turn is complete."""
        self.link(message, heard)
        self._drafts.append(heard)

    def drop_drafts(self) -> None:
        """A turn is complete: drafts that did not become it were others' or thrown away."""
        self._drafts.clear()

    def adopted(self, item: llm.ChatMessage) -> HeardTurn | None:
        """The record of a turn that went through the hook under another message's id.

        A preemptive reply that was adopted puts its own message into the history, with the words
        and metrics of the message the hook saw; typed words a realtime model is given come as a
        new one, which unlike spoken words has no confidence.
        """
        words = item.text_content or ""
        if _THROUGH_HOOK in item.metrics:
            known = next((k for k in reversed(self.gated) if _went_through_hook(k, words)), None)
        elif item.transcript_confidence is None:
            known = next((k for k in self._expected if _went_through_hook(k, words)), None)
        else:
            known = None
        if known is not None:
            self.link(item, known)
            if known in self._expected:
                self._expected.remove(known)
        return known

    def note_gated(self, heard: HeardTurn) -> None:
        """A record was handed to the gate; the oldest ones are let go."""
        self.gated.append(heard)
        while len(self._by_message) > 2 * TURNS_KEPT:
            del self._by_message[next(iter(self._by_message))]


def _went_through_hook(known: HeardTurn, words: str) -> bool:
    return known.way == "hook" and words in (known.turn.text, known.said)


def same_words(one: str, other: str) -> bool:
    """Equal but for case and punctuation, as LiveKit compares when it adopts a reply."""
    return one == other or bare_words(one) == bare_words(other)


def bare_words(text: str) -> list[str]:
    """The words of a transcript without case and punctuation."""
    return _WORD.findall(text.casefold().translate(_NO_APOSTROPHES))
